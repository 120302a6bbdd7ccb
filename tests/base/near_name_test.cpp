// Which name was meant.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include <pinion/base/near_name.hpp>

namespace {

using namespace pinion;

const std::vector<std::string> jobs{"ps", "worker", "chief", "evaluator"};

}  // namespace

TEST_CASE("the edit distance counts insertions, removals, replacements and swaps of neighbours") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("worker", "worker") == 0);
  CHECK(edit_distance("wroker", "worker") == 1);
  CHECK(edit_distance("worer", "worker") == 1);
  CHECK(edit_distance("workker", "worker") == 1);
  CHECK(edit_distance("warker", "worker") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("Matmul", "MatMul") == 0);
}

TEST_CASE("the edit distance is the same both ways, and no shorter by a third text") {
  const std::vector<std::string> texts{"", "a", "ab", "ba", "abc", "acb", "weights", "wieghts", "w", "W_1", "layer/W"};
  for (const auto& a : texts)
    for (const auto& b : texts) {
      INFO(a << ", " << b);
      CHECK(edit_distance(a, b) == edit_distance(b, a));
      CHECK(edit_distance(a, b) <= std::max(a.size(), b.size()));
    }
}

TEST_CASE("a slip is understood") {
  CHECK(nearest_name("wroker", jobs) == "worker");
  CHECK(nearest_name("workers", jobs) == "worker");
  CHECK(nearest_name("evalautor", jobs) == "evaluator");
  CHECK(nearest_name("p", jobs) == "ps");
  CHECK(nearest_name("WORKER", jobs) == "worker");
  CHECK(did_you_mean("wroker", jobs) == "; did you mean 'worker'?");
}

TEST_CASE("what is another name altogether is not guessed at") {
  for (const char* other : {"", "x", "master", "gpu", "learner"}) {
    INFO(other);
    CHECK(nearest_name(other, jobs) == "");
    CHECK(did_you_mean(other, jobs) == "");
  }
  CHECK(nearest_name("worker", std::vector<std::string>{}) == "");
}

TEST_CASE("of names that are equally near the first is meant") {
  CHECK(nearest_name("W_3", std::vector<std::string>{"W_1", "W_2"}) == "W_1");
}
