// CSV files: rows that are read and written again are read as the same, and columns are typed or refused.
#include <pinion/files/csv.hpp>

#include <fuzz/files.hpp>
#include <fuzz/target.hpp>

namespace fuzz { namespace {

using rows = std::vector<std::vector<std::string>>;

rows rows_of(const std::string& path, const files::csv_options& how) {
  rows all;
  for (files::csv_reader file(path, how); file.next();) all.push_back(file.row());
  return all;
}

std::string quoted(const std::string& field) {
  std::string text = "\"";
  for (const char c : field) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + '"';
}
std::string written(const rows& all) {
  std::string text;
  for (const auto& row : all)
    for (std::size_t i = 0; i < row.size(); ++i) text += quoted(row[i]) + (i + 1 < row.size() ? "," : "\r\n");
  return text;
}

// Calls it; a refusal is no fault, and does not keep the rest from being tried.
template <class Try>
void attempt(const Try& body) {
  try {
    body();
  } catch (const error&) {
  }
}

void read(std::string_view input) {
  static const memory_file file, second;
  const std::string path = file.holding(input);
  const rows all = rows_of(path, {});
  for (const auto& row : all) law(row.size() == all[0].size(), "rows have different numbers of fields");
  law(rows_of(second.holding(written(all)), {}) == all, "rows change as they are written");
  attempt([&] { rows_of(path, {.header = true, .separator = ';'}); });
  attempt([&] { rows_of(path, {.header = true, .columns = {"b", "a"}}); });
  attempt([&] { files::read_csv_matrix<float>(path); });
  attempt([&] { files::read_csv_matrix<double>(path, {.header = true}); });
  attempt([&] { files::read_csv_matrix<std::int32_t>(path, {.separator = '\t'}); });
  attempt([&] { files::read_csv_matrix<std::uint8_t>(path, {.header = true}); });
  attempt([&] { files::read_csv<std::string, std::int64_t>(path, {.header = true}); });
  attempt([&] { files::read_csv<bool, float>(path, {.header = true, .columns = {"b", "a"}}); });
}

std::vector<std::string> seeds() {
  return {"1,2.5\n-3,4e-3\n",
          "a,b\r\n1,true\r\n+2,0\r\n",
          "name,height\n\"Doe, Jane\",1\n\"the \"\"Kid\"\"\",-9223372036854775808\n",
          "\xef\xbb\xbf"
          "1e40;nan\n\n 7 ;inf\n",
          "1\t2\n3\t4",
          "\"two\nlines\",x\n,\n",
          "1e-400,0x10\n255,256\n",
          ""};
}

const enrolled here({.name = "csv", .read = read, .seeds = seeds, .most_memory = [](std::string_view input) {
                       return 400 * input.size() + (std::size_t{1} << 18);
                     }});

}}  // namespace fuzz
