// What the headers cost those who include them, in lines of code of the library.
#include "house.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>

namespace {

// Comments and empty lines cost the compiler nothing.
bool is_code(const std::string& line) {
  const auto first = line.find_first_not_of(' ');
  return first != line.npos && line.compare(first, 2, "//") != 0;
}

std::size_t code_of(const house::headers& tree, const std::string& path) {
  const auto own = [&](const std::string& name) {
    const auto found = tree.find(name);
    if (found == tree.end()) return std::ptrdiff_t{0};
    return std::count_if(found->second.lines.begin(), found->second.lines.end(), is_code);
  };
  std::ptrdiff_t lines = own(path);
  for (const std::string& name : house::closure(tree, path)) lines += own(name);
  return static_cast<std::size_t>(lines);
}

}  // namespace

TEST_CASE("a program reads at most 12200 lines of code of the library to build graphs, and 13500 to run them") {
  const house::headers tree = house::read(PINION_TEST_SOURCE_DIR "/include/pinion");
  const std::size_t graph = code_of(tree, "graph.hpp"), session = code_of(tree, "session.hpp");
  std::printf("%zu lines of code behind graph.hpp, %zu behind session.hpp\n", graph, session);
  CHECK(graph <= 12200);
  CHECK(session <= 13500);
}
