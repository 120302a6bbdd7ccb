// The types of expressions: what can be stored, which dtypes mix, what place<> does.
#include <catch2/catch.hpp>

#include <string>

#include <pinion/graph.hpp>

namespace {

using namespace pinion;

template <class A, class B>
concept can_be_stored_in = std::is_convertible_v<A, B>;

using leaf = expr<float>;
using placeholder_type = decltype(placeholder<float>());
using sum_type = decltype(std::declval<leaf&>() + std::declval<leaf&>());

// Every expression of float, and a variable, can be stored in expr<float>; one of another dtype cannot.
static_assert(can_be_stored_in<placeholder_type, leaf>);
static_assert(can_be_stored_in<sum_type, leaf>);
static_assert(can_be_stored_in<variable_handle<float>, leaf>);
static_assert(!can_be_stored_in<sum_type, expr<double>>);
static_assert(!can_be_stored_in<leaf, sum_type>, "what was computed is not known again");
static_assert(std::is_default_constructible_v<leaf> && std::is_copy_assignable_v<leaf>);
static_assert(sizeof(leaf) <= 3 * sizeof(void*));
static_assert(std::is_convertible_v<leaf, operation> && std::is_convertible_v<variable_handle<float>, operation>);

// The same statement has the same type, whatever its literals.
static_assert(std::is_same_v<decltype(std::declval<leaf&>() * 2.0f), decltype(std::declval<leaf&>() * 3)>);

// dtypes: kept by arithmetic, bool from comparisons, what a cast says.
static_assert(std::is_same_v<dsl::value_of<sum_type>, float>);
static_assert(std::is_same_v<dsl::value_of<decltype(std::declval<leaf&>() < 1)>, bool>);
static_assert(std::is_same_v<dsl::value_of<decltype(cast<std::int64_t>(std::declval<leaf&>()))>, std::int64_t>);
static_assert(std::is_same_v<dsl::value_of<decltype(argmax(std::declval<leaf&>()))>, std::int64_t>);

static_assert(std::is_same_v<decltype(constant(1)), decltype(constant<int>(2))>);

}  // namespace

TEST_CASE("layers are made in a loop over storable types") {
  graph g;
  const auto use = g.as_default();
  struct layer {
    variable_handle<float> W, b;
  };
  std::vector<layer> layers;
  for (std::int64_t units : {3, 2})
    layers.push_back({variable(zeros<float>({layers.empty() ? 4 : 3, units}), {.name = "W"}),
                      variable(tensor<float>({units}), {.name = "b"})});
  expr<float> h = placeholder<float>({unknown, 4}, "X");
  for (const auto& [W, b] : layers) h = elu(matmul(h, W) + b);
  CHECK(to_string(h.shape()) == "[?, 2]");
  CHECK(h.op() == "Elu");
  CHECK(g.find("W_1"));
}

TEST_CASE("a variable as an operand is its shared read") {
  graph g;
  const auto use = g.as_default();
  const auto v = variable(3.0f, {.name = "v"}), w = variable(4.0f, {.name = "w"});
  auto c = v * w;
  CHECK(c.name() == "mul");
  CHECK(g[c.node().inputs[0].node].name == "v/read");
  CHECK(g[c.node().inputs[1].node].name == "w/read");
}

TEST_CASE("scalars take on the dtype of the expression beside them") {
  graph g;
  const auto use = g.as_default();
  const expr<std::int64_t> i = constant(std::int64_t{5});
  const expr<double> d = constant(5.0);
  CHECK((i + 1).dtype() == dtype::int64);
  CHECK((1.5f * d).dtype() == dtype::float64);
  CHECK((d > 3).dtype() == dtype::boolean);
}

TEST_CASE("shapes are known as far as they can be") {
  graph g;
  const auto use = g.as_default();
  const expr<float> x = placeholder<float>({unknown, 3}), row = placeholder<float>({3}), any = placeholder<float>();
  CHECK(to_string((x + row).shape()) == "[?, 3]");
  CHECK(to_string((x + any).shape()) == "<any shape>");
  CHECK(to_string(reduce_sum(x, {.axes = {1}}).shape()) == "[?]");
  CHECK(to_string(reshape(x, {-1}).shape()) == "[?]");
  CHECK(to_string(transpose(x, {1, 0}).shape()) == "[3, ?]");
}

TEST_CASE("shapes that do not broadcast are refused, with the node and the line") {
  graph g;
  const auto use = g.as_default();
  const expr<float> x = placeholder<float>({2, 3}, "x"), y = placeholder<float>({2}, "y");
  try {
    (void)add(x, y, "bad");
    FAIL("accepted");
  } catch (const error& e) {
    CHECK(e.code() == errc::invalid_argument);
    CHECK(e.node() == "bad");
    CHECK(e.location().find("expressions_test.cpp:") != std::string::npos);
    CHECK(e.sentence().find("shapes [2, 3] and [2] do not broadcast") == 0);
  }
}

TEST_CASE("place lays its spec over the request of the node just made") {
  graph g;
  const auto use = g.as_default();
  const expr<float> x = placeholder<float>({2}, "x");
  const device on("/job:worker/cpu:3");
  auto p = place<"/gpu:0">(2 * x);
  CHECK(p.name() == "mul");
  CHECK(to_string(p.requested_device()) == "/job:worker/device:GPU:0");
  CHECK(p.node().request_reason.find("place at ") == 0);
}

TEST_CASE("tags nest and merge, in the type as in the request") {
  graph g;
  const auto use = g.as_default();
  const expr<float> x = placeholder<float>({2}, "x");
  auto p = place<"/task:1">(place<"/job:ps/task:0/cpu:0">(2 * x));
  static_assert(std::is_same_v<dsl::place_of<decltype(p)>, std::remove_cvref_t<decltype(at<"/job:ps/task:1/cpu:0">)>>);
  static_assert(std::is_same_v<dsl::place_of<decltype(2 * x)>, anywhere>);
  CHECK(to_string(p.requested_device()) == "/job:ps/task:1/device:CPU:0");
}

TEST_CASE("place of a stored expression is an Identity there") {
  graph g;
  const auto use = g.as_default();
  const expr<float> x = placeholder<float>({2}, "x");
  auto p = place<"/gpu:0">(x);
  CHECK(p.op() == "Identity");
  CHECK(p.name() == "Identity");
  CHECK(to_string(p.requested_device()) == "/device:GPU:0");
  CHECK(to_string(x.requested_device()) == "");
}

TEST_CASE("place of a variable takes its assignment and its read along") {
  graph g;
  const auto use = g.as_default();
  const auto v = place<"/gpu:0">(variable(1.0f, {.name = "v"}));
  CHECK(to_string(v.requested_device()) == "/device:GPU:0");
  CHECK(to_string(v.initializer().requested_device()) == "/device:GPU:0");
  CHECK(to_string(v.read().requested_device()) == "/device:GPU:0");
  CHECK(to_string(g.find("v/initial_value")->device()) == "");
}

TEST_CASE("place asks no policy a second time") {
  graph g;
  const auto use = g.as_default();
  int asked = 0;
  const device on([&](const node_view&) { return "/task:" + std::to_string(++asked); });
  const expr<float> x = constant(1.0f);
  auto p = place<"/gpu:1">(-x);
  CHECK(to_string(p.requested_device()) == "/task:2/device:GPU:1");
  CHECK(asked == 2);
}

TEST_CASE("an expression that was never assigned is refused") {
  expr<float> nothing;
  variable_handle<float> none;
  CHECK_THROWS_WITH(nothing + 1, Catch::Contains("never assigned"));
  CHECK_THROWS_WITH(none + 1, Catch::Contains("never assigned"));
}
