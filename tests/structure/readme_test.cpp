// What the README quotes is what there is: each block under `<!-- FILE -->` equals that file.
#include "house.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

std::string text_of(const std::string& name) {
  return house::text_of(PINION_TEST_SOURCE_DIR "/" + name);
}

struct quotation {
  std::string file, text;
};

// "<!-- examples/01_hello.cpp -->", then a fenced block.
std::vector<quotation> quotations(const std::string& readme) {
  std::vector<quotation> result;
  const std::string opens = "<!-- ", closes = " -->\n```", fence = "```\n";
  for (std::size_t at = 0; (at = readme.find(opens, at)) != std::string::npos; at += opens.size()) {
    const std::size_t end = readme.find(closes, at);
    if (end == std::string::npos || readme.find('\n', at) < end) continue;
    const std::size_t text = readme.find('\n', end + closes.size()) + 1;
    result.push_back({readme.substr(at + opens.size(), end - at - opens.size()),
                      readme.substr(text, readme.find(fence, text) - text)});
  }
  return result;
}

// The names behind pn:: in a text, up to the next "::".
std::set<std::string> names_in(const std::string& text) {
  std::set<std::string> all;
  const std::regex form("\\bpn::([a-z_0-9]+)");
  for (std::sregex_iterator at(text.begin(), text.end(), form), end; at != end; ++at) all.insert((*at)[1]);
  return all;
}

// A program without the comment it begins with.
std::string body(const std::string& source) {
  std::size_t at = 0;
  while (source.compare(at, 2, "//") == 0) at = source.find('\n', at) + 1;
  return source.substr(at);
}

}  // namespace

TEST_CASE("what the README quotes equals the files it names") {
  const auto quoted = quotations(text_of("README.md"));
  CHECK(quoted.size() >= 3);
  for (const auto& [file, text] : quoted) {
    INFO(file);
    const std::string whole = text_of(file);
    CHECK_FALSE(whole.empty());
    CHECK(text == (file.ends_with(".cpp") ? body(whole) : whole));
  }
}

TEST_CASE("the README shows the first program and what it prints") {
  const std::string readme = text_of("README.md");
  const std::size_t program = readme.find("<!-- examples/01_hello.cpp -->");
  const std::size_t printed = readme.find("<!-- examples/expected/01_hello.txt -->");
  CHECK(program < printed);
  CHECK(printed != std::string::npos);
}

TEST_CASE("each public name that README or an example uses is one that its umbrella header is known to bring") {
  std::string lists, used = text_of("README.md");
  for (const char* header : {"graph", "session", "distributed", "train"})
    lists += text_of("tests/structure/names_of_" + std::string(header) + ".cpp");
  for (const auto& program : std::filesystem::directory_iterator(PINION_TEST_SOURCE_DIR "/examples"))
    if (program.path().extension() == ".cpp") used += text_of("examples/" + program.path().filename().string());
  // Namespaces, and what has a header of its own.
  const std::set<std::string> others{"train", "nn", "files", "sim", "attr", "op", "partial_run", "set_log"};
  std::string unknown;
  for (const std::string& name : names_in(used))
    if (!others.contains(name) && lists.find("using pinion::" + name + ";") == lists.npos) unknown += name + "\n";
  CHECK(unknown == "");
}
