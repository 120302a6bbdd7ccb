// Values in memory that another process has lent, as inputs of kernels.
#include <catch2/catch.hpp>

#include <memory>
#include <new>

#include <pinion/session.hpp>
#include <pinion/tensor/lent.hpp>

#include "support/own_graph.hpp"
#include "support/passing_op.hpp"

namespace {

namespace pn = pinion;

// Tells where its input lies.
struct looking_op : passing_op {
  static constexpr std::string_view name = "OwnLooking";
  static constexpr std::string_view no_gradient = "it is only for tests";
  static inline const void* seen = nullptr;
  static void cpu(pn::kernel_context& c) {
    seen = c.input(0).raw();
    pass_on(c);
  }
};

// A value that somebody has lent, and may change.
struct lent_value {
  static constexpr std::int64_t count = 10'000;
  const std::shared_ptr<std::byte> memory{new (std::align_val_t(64)) std::byte[count * sizeof(float)],
                                          [](std::byte* p) { ::operator delete[](p, std::align_val_t(64)); }};
  float* const elements = reinterpret_cast<float*>(memory.get());
  lent_value() { std::fill_n(elements, count, 3.0f); }
  pn::any_tensor value() const {
    return {pn::dtype::float32, {count}, pn::make_lent_buffer(memory, count * sizeof(float))};
  }
};

}  // namespace

TEST_CASE("C13: an op of a user's own gets a copy of what another process has lent, and ops that bear it do not") {
  own_graph f;
  const auto x = pn::placeholder<float>({lent_value::count}, "x");
  const auto looked = pn::call<looking_op>({}, x);
  const auto same = pn::identity(x);
  pn::session sess;
  const lent_value lent;
  const auto results = sess.run(pn::run_request{.feeds = {{x, lent.value()}}, .fetches = {looked, same}});
  REQUIRE(looking_op::seen != nullptr);
  CHECK(looking_op::seen != lent.memory.get());
  CHECK(results[1].raw() == lent.memory.get());
  lent.elements[5] = 7;
  CHECK(results[0].data<float>()[5] == 3);
}

TEST_CASE("what is kept of a value that another process has lent is a copy, and of any other the value itself") {
  const lent_value lent;
  const auto kept = pn::kept(lent.value());
  CHECK(pn::is_lent(lent.value()));
  CHECK_FALSE(pn::is_lent(kept));
  CHECK_FALSE(pn::is_lent({}));
  CHECK(kept == lent.value());
  CHECK(kept.raw() != lent.memory.get());
  CHECK(pn::kept(kept).raw() == kept.raw());
  CHECK(lent.memory.use_count() == 1);
}

TEST_CASE("C13: a queue keeps a copy of what another process has lent, also while it has no room") {
  own_graph f;
  const auto x = pn::placeholder<float>({lent_value::count}, "x");
  pn::fifo_queue<float> q({.capacity = 10, .shapes = {{lent_value::count}}, .name = "q"});
  const auto put = q.enqueue(x);
  const auto get = q.dequeue();
  pn::session sess;
  const lent_value lent;
  sess.run(pn::run_request{.feeds = {{x, lent.value()}}, .targets = {put}});
  CHECK(lent.memory.use_count() == 1);
  lent.elements[5] = 7;
  CHECK(sess.run(get) == pn::tensor<float>({lent_value::count}, std::vector<float>(lent_value::count, 3.0f)));
}
