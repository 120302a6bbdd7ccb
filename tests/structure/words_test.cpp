// One word for one notion: names that gave way to words of the field stay away.
#include "declarations.hpp"
#include "house.hpp"

#include <regex>

#include <catch2/catch.hpp>

namespace {

// The names in the first column of the table of words that went.
house::names words_that_went() {
  const std::string text = house::text_of(PINION_TEST_SOURCE_DIR "/.github/CONTRIBUTING.md");
  const auto begin = text.find("| no longer |"), end = text.find("\n\n", begin);
  REQUIRE(begin != std::string::npos);
  std::istringstream rows(text.substr(begin, end - begin));
  house::names all;
  for (std::string row; std::getline(rows, row);) {
    const std::string first = row.substr(0, row.find('|', 1));
    static const std::regex name{"`(\\w+)`"};
    for (std::sregex_iterator at(first.begin(), first.end(), name), none; at != none; ++at) all.insert((*at)[1]);
  }
  return all;
}

}  // namespace

TEST_CASE("no name of the headers is a word that went") {
  const house::names went = words_that_went();
  REQUIRE(went.size() > 10);
  std::string offences;
  for (const auto& [path, header] : house::read(PINION_TEST_SOURCE_DIR "/include/pinion")) {
    const std::string code = house::code_of(header);
    static const std::regex identifier{"[A-Za-z]\\w*"};
    for (std::sregex_iterator at(code.begin(), code.end(), identifier), none; at != none; ++at) {
      std::string word = at->str();
      if (word.ends_with('_')) word.pop_back();
      if (went.contains(word)) offences += path + ": " + word + "\n";
    }
  }
  CHECK(offences == "");
}
