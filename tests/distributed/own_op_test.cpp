// Ops of a program's own on a cluster: a server of the same program runs them, another one says what it lacks.
#include <distributed/real_cluster.hpp>

#include <catch2/catch.hpp>

#include <support/caught.hpp>
#include <support/own_ops.hpp>
#include <support/tensor_text.hpp>

namespace {

using namespace real;

TEST_CASE("a server in the same program runs an op of its own, and its gradient") {
  auto& cluster = two_and_two::of(tasks_in::same_process);
  fresh f;
  auto x = placeholder<float>({2}, "x");
  auto y = place<"/job:worker/task:1">(call<own::scaled>({{"by", 3.0}}, x));
  auto [slope] = gradients(reduce_sum(y * y), x);
  session sess{toward(cluster.target("worker", 0))};
  const auto [a, b] = sess.run({{x, {1, 2}}}, y, slope);
  CHECK(to_string(a) == "[3, 6]");
  CHECK(to_string(b) == "[18, 36]");
}

// Yields how many integers its attribute has.
struct counts_integers {
  static constexpr std::string_view name = "OwnCountsIntegers";
  static constexpr input_count inputs = 1;
  static constexpr kernel_set kernels{.cpu = dtype_set{dtype::float32}};
  static constexpr std::string_view no_gradient = "it is only for tests";
  static void infer(shape_context& c) { c.output(dtype::float32, {}); }
  static void cpu(kernel_context& c) {
    *c.allocate(0, dtype::float32, {}).data<float>() = static_cast<float>(c.node->attrs.get<integers>("list").size());
  }
};

TEST_CASE("an attribute of an op of one's own has as many integers as it likes") {
  auto& cluster = two_and_two::of(tasks_in::same_process);
  fresh f;
  auto x = placeholder<float>({2}, "x");
  for (const std::int64_t n : {1, 9, 1000}) {
    const integers all(static_cast<std::size_t>(n), 7);
    auto y = place<"/job:worker/task:1">(call<counts_integers>({{"list", all}}, x));
    session sess{toward(cluster.target("worker", 0))};
    CHECK(float(sess.run({{x, {1, 2}}}, y)) == static_cast<float>(n));
  }
}

TEST_CASE("a server of another program names the op that it lacks") {
  auto& cluster = two_and_two::of(tasks_in::own_processes);
  fresh f;
  auto x = placeholder<float>({2}, "x");
  auto y = place<"/job:worker/task:1">(call<own::scaled>(x));
  session sess{toward(cluster.target("worker", 0))};
  const auto e = caught([&] { sess.run({{x, {1, 2}}}, y); });
  CHECK(e.code() == errc::not_found);
  CHECK(e.sentence() ==
        "this program knows no op 'OwnScaled'; pn::register_op makes one known, in every program that runs it");
  CHECK(e.node() == "OwnScaled");
  CHECK(!e.task().empty());
}

struct cubed {
  static constexpr int arity = 1;
  static constexpr std::string_view name = "Cubed";
  template <class V>
  static constexpr auto apply(V x) {
    const auto y = x * x;
    return y * x;
  }
};

TEST_CASE("a scalar function of one's own runs on a server that never saw its type") {
  auto& cluster = two_and_two::of(tasks_in::own_processes);
  fresh f;
  auto x = placeholder<float>({2}, "x");
  auto y = place<"/job:worker/task:1">(map<cubed>(x));
  auto [slope] = gradients(y, x);
  session sess{toward(cluster.target("worker", 0))};
  const auto [a, b] = sess.run({{x, {1, 2}}}, y, slope);
  CHECK(to_string(a) == "[1, 8]");
  CHECK(to_string(b) == "[3, 12]");
}

}  // namespace
