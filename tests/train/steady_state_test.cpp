// What a step of training allocates once it has run: nothing.
#include <catch2/catch.hpp>

#include "support/counted_new.hpp"
#include "train/reference.hpp"

using namespace pinion_tests;

namespace {

const session_options one_thread{.inter_op_threads = 1, .intra_op_threads = 1};

// The calls of operator new in this thread by a step that minimizes a loss by every optimizer, one after the other.
std::string allocations_in_steps(const std::function<expr<float>()>& make_loss) {
  std::string all;
  for (const subject& s : subjects()) {
    own_graph own;
    const auto step = tr::get_or_create_global_step();
    const auto train = s.minimize(make_loss(), .1, step);
    session sess(one_thread);
    sess.run(global_variables_initializer());
    const auto call = sess.make_callable(feeds(), fetches(), targets(train));
    for (int i = 0; i < 3; ++i) call();
    std::size_t fewest = 1000;  // a call may meet a library that has become ready
    for (int i = 0; i < 5; ++i) {
      const std::size_t before = counted_new::calls_here;
      call();
      fewest = std::min(fewest, counted_new::calls_here - before);
    }
    if (fewest != 0) all += s.name + ": " + std::to_string(fewest) + "; ";
  }
  return all;
}

}  // namespace

TEST_CASE("an update by a dense gradient allocates nothing, by any optimizer") {
  CHECK(allocations_in_steps([] {
          const auto w = variable(tensor<float>({8, 16}), {.name = "w"});
          return expr<float>(square(w - 3.0f));
        }) == "");
}

TEST_CASE("an update by a sparse gradient allocates nothing, by any optimizer") {
  CHECK(allocations_in_steps([] {
          auto table = variable(tensor<float>({8, 16}), {.name = "table"});
          return expr<float>(square(gather(table, constant<int>({1, 5, 1, 7})) - 3.0f));
        }) == "");
}

TEST_CASE("updates of the slices of a variable allocate nothing, by any optimizer") {
  CHECK(allocations_in_steps([] {
          const auto table =
              partitioned_variable(tensor<float>({6, 16}), {.name = "table", .partition = fixed_size_partitioner{3}});
          const auto rows = constant<float>({{1, 2}});
          return expr<float>(matmul(rows, table.parts()[0]) + matmul(rows, table.parts()[1]) +
                             matmul(rows, table.parts()[2]));
        }) == "");
}

TEST_CASE("an update by the product of two matrices allocates nothing, by any optimizer") {
  CHECK(allocations_in_steps([] {
          const auto w = variable(tensor<float>({80, 16}), {.name = "w"});
          return expr<float>(matmul(constant(tensor<float>({4, 80})), w));
        }) == "");
}
