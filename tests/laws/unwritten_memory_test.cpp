// A law of kernels: what they yield does not depend on what was in their memory before, with empty extents in each axis
// as without.
#include <catch2/catch.hpp>

#include <optional>
#include <utility>
#include <vector>

#include "laws/kernel_laws.hpp"
#include "support/filled_new.hpp"

namespace {

using namespace laws;

// Fills what is allocated in its life.
struct filled_memory {
  explicit filled_memory(int byte) { filled_new::byte = byte; }
  ~filled_memory() { filled_new::byte = -1; }
};

std::vector<any_tensor> run_in_memory_of(int byte, const call& c) {
  const filled_memory all(byte);
  return run(c);
}

// A call of samples with these extents; none where the op refuses them.
std::optional<call> call_with(std::string_view op, const sample& s, dtype key, bool may_refuse) {
  const call c = call_of(op, s, key);
  try {
    run(c);
    return c;
  } catch (const error& e) {
    if (!may_refuse) throw;
    CHECK(!e.sentence().empty());
    return std::nullopt;
  }
}

}  // namespace

TEST_CASE("a kernel writes all that it yields, whatever was in its memory and which extents are empty") {
  for (const auto& [m, n] : std::vector<std::pair<int, int>>{{5, 7}, {0, 4}, {3, 0}, {0, 0}})
    for_each_case(
        [&, some_empty = m * n == 0](std::string_view op, const sample& s, dtype key) {
          if (!runs_alone(op)) return;
          INFO(title(op, s, key));
          const auto c = call_with(op, s, key, some_empty);
          if (!c) return;
          const auto ones = run_in_memory_of(0xff, *c), zeros = run_in_memory_of(0, *c);
          REQUIRE(ones.size() == zeros.size());
          for (std::size_t o = 0; o < ones.size(); ++o) CHECK(same_bits(ones[o], zeros[o]));
          ledger::get().count(
              some_empty ? "(j) all of an output is written, empty extents" : "(j) all of an output is written", op);
        },
        m, n);
}
