// CSV: quoting, line ends, headers, typed columns, and where an error says it is.
#include "folder.hpp"

#include <pinion/files/csv.hpp>

#include <cmath>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace {

namespace pn = pinion;
namespace files = pinion::files;

// The rows as "[a|b][c|d]".
std::string rows(const std::string& text, files::csv_options options = {}) {
  const folder dir;
  files::csv_reader reader(dir.write("f.csv", text), std::move(options));
  std::string result;
  while (reader.next()) {
    result += "[";
    for (std::size_t i = 0; i < reader.row().size(); ++i) result += (i ? "|" : "") + reader.row()[i];
    result += "]";
  }
  return result;
}
std::string reading(const std::string& text, files::csv_options options = {}) {
  const folder dir;
  dir.write("f.csv", text);
  return outcome_in(dir, [&] {
    files::csv_reader reader(dir / "f.csv", std::move(options));
    while (reader.next()) continue;
  });
}
template <class... Ts>
std::string typed(const std::string& text, files::csv_options options = {}) {
  const folder dir;
  dir.write("f.csv", text);
  return outcome_in(dir, [&] { files::read_csv<Ts...>(dir / "f.csv", std::move(options)); });
}

}  // namespace

TEST_CASE("fields are split at commas, rows at line ends of either kind") {
  CHECK(rows("a,b\nc,d\n") == "[a|b][c|d]");
  CHECK(rows("a,b\r\nc,d") == "[a|b][c|d]");
  CHECK(rows(",\n") == "[|]");
  CHECK(rows("a,\n") == "[a|]");
  CHECK(rows("a,") == "[a|]");
  CHECK(rows(" a , b ") == "[ a | b ]");
  CHECK(rows("a;b,c\n", {.separator = ';'}) == "[a|b,c]");
  CHECK(rows("a\tb\n", {.separator = '\t'}) == "[a|b]");
}

TEST_CASE("within quotes separators, line ends and doubled quotes are text") {
  CHECK(rows("\"a,b\",\"c\"\n") == "[a,b|c]");
  CHECK(rows("\"a\nb\",\"c\r\nd\"\n") == "[a\nb|c\r\nd]");
  CHECK(rows("\"\"\"a\"\"\",\"\"\n") == "[\"a\"|]");
  CHECK(rows("\"\"\n") == "[]");
}

TEST_CASE("empty lines, a byte order mark and an empty file are no rows") {
  CHECK(rows("") == "");
  CHECK(rows("\n\r\n\n") == "");
  CHECK(rows("\n\na\n\nb\n\n") == "[a][b]");
  CHECK(rows("\xef\xbb\xbf"
             "a,b\n") == "[a|b]");
  CHECK(rows("\xef\xbb"
             "a\n") ==
        "[\xef\xbb"
        "a]");
}

TEST_CASE("a header names the columns, and chosen ones come in the order asked for") {
  const folder dir;
  dir.write("f.csv", "x,\"the name\",y\n1,n,2\n3,m,4\n");
  files::csv_reader all(dir / "f.csv", {.header = true});
  CHECK(all.names() == std::vector<std::string>{"x", "the name", "y"});
  files::csv_reader two(dir / "f.csv", {.header = true, .columns = {"y", "the name"}});
  REQUIRE(two.next());
  CHECK(two.row() == std::vector<std::string>{"2", "n"});
  CHECK(two.line() == 2);
  CHECK(two.names() == std::vector<std::string>{"y", "the name"});
  CHECK(outcome_in(dir, [&] { files::csv_reader(dir / "f.csv", {.header = true, .columns = {"z"}}); }) ==
        "not_found: f.csv has no column 'z'");
  CHECK(outcome_in(dir, [&] { files::csv_reader(dir / "f.csv", {.columns = {"x"}}); }) ==
        "not_found: f.csv: columns have names only where there is a header");
}

TEST_CASE("a row that breaks the rules is data loss, with line and column") {
  CHECK(reading("a,b\nc\n") == "data_loss: f.csv, line 2: 1 fields, where the first row has 2");
  CHECK(reading("h,i\na,b,c\n", {.header = true}) == "data_loss: f.csv, line 2: 3 fields, where the first row has 2");
  CHECK(reading("a,b\"c\n") ==
        "data_loss: f.csv, line 1, column 2: a quote within a field that does not begin with one");
  CHECK(reading("a,\"b\"c\n") == "data_loss: f.csv, line 1, column 2: text after the quote that closes a field");
  CHECK(reading("a\n\"b\nc\n") == "data_loss: f.csv, line 4, column 1: the quote that opens on line 2 does not close");
  CHECK(reading("a\rb\n") == "data_loss: f.csv, line 1, column 2: a carriage return without a line feed after it");
}

TEST_CASE("columns are tensors of their types") {
  const folder dir;
  dir.write("f.csv", "x,n,s,b\n1.5, -7 ,\"a,b\",true\n+2e3,8,,0\n");
  const auto [x, n, s, b] = files::read_csv<float, std::int64_t, std::string, bool>(dir / "f.csv", {.header = true});
  CHECK(x == pn::tensor<float>::of({1.5f, 2000}));
  CHECK(n == pn::tensor<std::int64_t>::of({-7, 8}));
  CHECK(s == pn::tensor<std::string>::of({"a,b", ""}));
  CHECK(b == pn::tensor<bool>::of({true, false}));
  CHECK(files::read_csv_matrix<int>(dir.write("m.csv", "1,2,3\n4,5,6\n")) ==
        pn::tensor<int>::of({{1, 2, 3}, {4, 5, 6}}));
  CHECK(files::read_csv_matrix<int>(dir.write("m.csv", "")).shape() == pn::shape{0, 0});
  CHECK(files::read_csv_matrix<int>(dir.write("m.csv", "a,b\n"), {.header = true}).shape() == pn::shape{0, 2});
}

TEST_CASE("a field that is no value of its column's type is data loss, with line, column and name") {
  CHECK((typed<int, float>("1,2\n3,x\n")) == "data_loss: f.csv, line 2, column 2: 'x' is no float");
  CHECK((typed<float>("name,price\na,\n", {.header = true, .columns = {"price"}})) ==
        "data_loss: f.csv, line 2, column 2 (price): '' is no float");
  CHECK((typed<int, int>("1\n")) == "data_loss: f.csv, line 1, column 1: rows of 1 columns, read as 2");
  CHECK(typed<std::int8_t>("128\n") == "data_loss: f.csv, line 1, column 1: '128' is no int8");
  CHECK(typed<pn::half>("x\n") == "data_loss: f.csv, line 1, column 1: 'x' is no half");
  CHECK(typed<std::uint8_t>("256\n") == "data_loss: f.csv, line 1, column 1: '256' is no uint8");
  CHECK(typed<int>("1.5\n") == "data_loss: f.csv, line 1, column 1: '1.5' is no int32");
  CHECK(typed<int>("+-1\n") == "data_loss: f.csv, line 1, column 1: '+-1' is no int32");
  CHECK(typed<bool>("yes\n") == "data_loss: f.csv, line 1, column 1: 'yes' is no bool");
  CHECK(typed<float>("1e50\n") == "data_loss: f.csv, line 1, column 1: '1e50' is no float");
  CHECK(typed<float>("1,5\n", {.separator = ';'}) == "data_loss: f.csv, line 1, column 1: '1,5' is no float");
}

TEST_CASE("numbers at the edge of a type are read") {
  CHECK(files::parse_field<float>("1e-60") == 0.0f);
  for (const char* const tiny :
       {"1e-400", "1E-5000", "0.001e-400", "4e-99999999999999999999", "1e-9223372036854775807"}) {
    INFO(tiny);
    CHECK(files::parse_field<double>(tiny) == 0);
    CHECK(files::parse_field<float>(tiny) == 0);
    CHECK(std::signbit(*files::parse_field<double>("-" + std::string(tiny))));
  }
  CHECK(files::parse_field<double>("." + std::string(400, '0') + "1") == 0);
  CHECK(files::parse_field<double>("1e-310") == 1e-310);
  for (const std::string& large :
       std::vector<std::string>{"1e400", "0.1e400", "1e99999999999999999999", "1e9223372036854775807",
                                ".01e9223372036854775807", "1" + std::string(400, '0') + "e-5"}) {
    INFO(large);
    CHECK_FALSE(files::parse_field<double>(large));
  }
  CHECK(files::parse_field<float>("-inf") == -std::numeric_limits<float>::infinity());
  CHECK(std::isnan(*files::parse_field<double>("nan")));
  CHECK(files::parse_field<std::int64_t>("-9223372036854775808") == std::numeric_limits<std::int64_t>::min());
  CHECK_FALSE(files::parse_field<std::int64_t>("9223372036854775808"));
}

TEST_CASE("fields and rows across the pieces in which a file is read are whole") {
  std::string text, expected;
  for (int i = 0; i < 30'000; ++i) {
    text += std::to_string(i) + ",\"x\"\"\r\n" + std::to_string(i * 7) + "\"\r\n";
    expected += "[" + std::to_string(i) + "|x\"\r\n" + std::to_string(i * 7) + "]";
  }
  CHECK(rows(text) == expected);
}

TEST_CASE("any bytes at all are rows or data loss") {
  std::mt19937 dice(1);
  const std::string letters = "a,\"\n\r\xff;";
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (unsigned n = dice() % 12; n > 0; --n) text += letters[dice() % letters.size()];
    const std::string said = reading(text);
    REQUIRE((said.starts_with("data_loss: f.csv, line ") || said == "internal: nothing was thrown"));
  }
}
