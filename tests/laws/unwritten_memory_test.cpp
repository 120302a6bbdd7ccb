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

// Calls f(name, sample, key) for every sample of these extents, but for those that cannot be made with empty ones.
template <class F>
void for_each_sample(std::int64_t m, std::int64_t n, const F& f) {
  for_each_type(op::catalogue{}, [&]<class Op>() {
    if (!runs_alone(Op::name)) return;
    std::vector<sample> all;
    try {
      all = samples_of(Op::name, m, n);
    } catch (const error&) {
      if (m * n != 0) throw;
    }
    for (const sample& s : all)
      for (dtype key : types_of(Op::kernels.cpu))
        if (makes_sense(Op::name, key) && (key != dtype::invalid || s.inputs.empty())) f(Op::name, s, key);
  });
}

// A call of a sample; none where it cannot be made of empty extents, or the op refuses them.
std::optional<call> call_with(std::string_view op, const sample& s, dtype key, bool may_refuse) {
  try {
    const call c = call_of(op, s, key);
    run(c);
    return c;
  } catch (const error&) {
    if (!may_refuse) throw;
    return std::nullopt;
  }
}

}  // namespace

TEST_CASE("a kernel writes all that it yields, whatever was in its memory and which extents are empty") {
  for (const auto& [m, n] : std::vector<std::pair<int, int>>{{5, 7}, {0, 4}, {3, 0}, {0, 0}})
    for_each_sample(m, n, [some_empty = m * n == 0](std::string_view op, const sample& s, dtype key) {
      INFO(title(op, s, key));
      const auto c = call_with(op, s, key, some_empty);
      if (!c) return;
      const auto ones = run_in_memory_of(0xff, *c), zeros = run_in_memory_of(0, *c);
      REQUIRE(ones.size() == zeros.size());
      for (std::size_t o = 0; o < ones.size(); ++o) CHECK(same_bits(ones[o], zeros[o]));
      ledger::get().count(
          some_empty ? "(j) all of an output is written, empty extents" : "(j) all of an output is written", op);
    });
}
