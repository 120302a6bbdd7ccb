// CSV rows as elements.
#include "support.hpp"

#include <support/temporary_file.hpp>

#include <catch2/catch.hpp>

namespace {

namespace data = pinion::data;

}  // namespace

TEST_CASE("rows of a CSV file are elements of scalars, read anew by each pass") {
  const temporary_file file;
  file.write("x,name\n1.5,a\n2,\"b,c\"\n");
  const auto rows = data::csv<float, std::string>(file.path, {.header = true});
  CHECK(text(rows) == R"(1.5/"a" 2/"b,c")");
  CHECK(text(rows.batch(2)) == R"([1.5, 2]/["a", "b,c"])");
  file.write("x,name\n7,z\n");
  CHECK(text(rows) == R"(7/"z")");
}

TEST_CASE("a bad row is an error at its place, a missing file one when the pass is opened") {
  const temporary_file file;
  file.write("1\n2\nx\n4\n");
  auto pass = data::csv<int>(file.path).prefetch(2).iterate();
  CHECK(text(pass, 2) == "1 2");
  CHECK_THROWS_WITH(pass.next(), Catch::EndsWith("line 3, column 1: 'x' is no int32"));
  CHECK(failure([] { data::csv<int>("/no/such/file").prefetch(1).iterate(); }) ==
        "not_found: cannot open /no/such/file: No such file or directory");
  file.write("1,2\n");
  CHECK_THROWS_WITH(data::csv<int>(file.path).iterate().next(), Catch::EndsWith("rows of 2 columns, read as 1"));
}
