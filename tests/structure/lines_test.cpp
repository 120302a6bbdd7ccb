// Who takes the line of its caller: each such function has a row where tests ask whether its nodes stand there.
#include "house.hpp"

#include <catch2/catch.hpp>

namespace {

const std::filesystem::path root = PINION_TEST_SOURCE_DIR;

// The name before the parenthesis that is open at a place of a text; "" before that of an operator.
std::string name_before(const std::string& text, std::size_t place) {
  for (int depth = 0; place-- > 0;) {
    if (text[place] == ')') ++depth;
    if (text[place] == '(' && depth-- == 0) break;
  }
  std::size_t begin = place;
  while (begin > 0 && (std::isalnum(static_cast<unsigned char>(text[begin - 1])) || text[begin - 1] == '_')) --begin;
  return text.substr(begin, place - begin);
}

// The functions of a header with a last parameter that is the caller's line. A macro that defines some has a parameter
// `function` or `name`, and its uses stand at the beginning of a line.
house::names functions_with_line(const std::string& text) {
  static const std::string taken = "source_location where = source_location::current()";
  static const std::regex use{R"(\nPINION_\w+\((\w+))"};
  house::names all;
  for (auto at = text.find(taken); at != std::string::npos; at = text.find(taken, at + 1))
    all.insert(name_before(text, at));
  if (all.erase("function") + all.erase("name") > 0)
    for (auto m = std::sregex_iterator(text.begin(), text.end(), use); m != std::sregex_iterator(); ++m)
      all.insert((*m)[1]);
  all.erase("");
  return all;
}

// Values that arguments are converted to, and what `summaries` of two rules share.
const house::names tested_through_others{"number_or_expression", "scalar_value", "summaries_of"};

}  // namespace

TEST_CASE("every function that takes the line of its caller has a row in a test of lines") {
  const std::string rows =
      house::text_of(root / "tests/dsl/lines_test.cpp") + house::text_of(root / "tests/train/lines_test.cpp");
  for (const char* room : {"dsl", "train"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator{root / "include/pinion" / room})
      if (entry.is_regular_file())
        for (const std::string& name : functions_with_line(house::text_of(entry.path()))) {
          INFO(name << " of " << entry.path().filename());
          CHECK(
              (tested_through_others.contains(name) || std::regex_search(rows, std::regex("\\b" + name + "[ (<{,]"))));
        }
}

TEST_CASE("functions that take the line of their caller are found, in macros too") {
  CHECK(functions_with_line("void f(int a, g(b), source_location where = source_location::current());") ==
        house::names{"f"});
  CHECK(functions_with_line(
            "#define PINION_F(name) void name(source_location where = source_location::current())\nPINION_F(sin)\n") ==
        house::names{"sin"});
  CHECK(functions_with_line("void operator()(int, source_location where = source_location::current());").empty());
  CHECK(functions_with_line("void f(int);").empty());
}
