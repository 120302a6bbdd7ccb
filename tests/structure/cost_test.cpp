// What the headers cost those who include them, in lines of the library that the compiler reads.
#include "house.hpp"

#include <catch2/catch.hpp>

#include <cstdio>

namespace {

std::size_t lines_of(const house::headers& tree, const std::string& path) {
  std::size_t lines = tree.at(path).lines.size();
  for (const std::string& name : house::closure(tree, path))
    if (const auto found = tree.find(name); found != tree.end()) lines += found->second.lines.size();
  return lines;
}

}  // namespace

TEST_CASE("a program reads at most 11800 lines of the library to build graphs, and 13200 to run them") {
  const house::headers tree = house::read(PINION_TEST_SOURCE_DIR "/include/pinion");
  const std::size_t graph = lines_of(tree, "graph.hpp"), session = lines_of(tree, "session.hpp");
  std::printf("%zu lines behind graph.hpp, %zu behind session.hpp\n", graph, session);
  CHECK(graph <= 11800);
  CHECK(session <= 13200);
}
