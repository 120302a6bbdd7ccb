// Each op's name is spelled once: code that means an op says op::matmul::name.
#include "house.hpp"

#include <pinion/op/catalogue.hpp>

#include <catch2/catch.hpp>

namespace {

// The definitions of ops, and the names that rooms below them know.
bool is_home_of_names(const std::string& path) {
  static const std::regex home{R"(op/\w+/op\.hpp|graph/op_names\.hpp)"};
  return std::regex_match(path, home);
}

// The op names that a line quotes. Comments quote what they please.
house::names quoted_ops(const std::string& line) {
  static const std::regex comment{R"(\s*//.*)"}, quoted{R"rx("(\w+)")rx"};
  house::names found;
  if (std::regex_match(line, comment)) return found;
  for (std::sregex_iterator at{line.begin(), line.end(), quoted}, end; at != end; ++at)
    if (pinion::detail::definitions().contains((*at)[1].str())) found.insert((*at)[1]);
  return found;
}

}  // namespace

TEST_CASE("the name of an op is quoted in one file, which defines the op or lies below all that know it") {
  std::map<std::string, house::names> homes;
  std::string strays;
  for (const auto& [path, header] : house::read(PINION_TEST_SOURCE_DIR "/include/pinion")) {
    for (const std::string& line : header.lines)
      for (const std::string& op : quoted_ops(line)) {
        homes[op].insert(path);
        if (!is_home_of_names(path)) strays += path + " quotes " + op + "\n";
      }
  }
  CHECK(strays == "");
  for (const auto& [op, files] : homes) {
    CAPTURE(op);
    CHECK(files.size() == 1);
  }
}
