// Clipping of tensors and of lists of gradients.
#include <pinion/train.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include <support/caught.hpp>
#include <support/own_session.hpp>
#include <support/tensor_text.hpp>

namespace {

using namespace pinion;
namespace tr = pinion::train;
constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();

// Two variables, of which the loss uses one wholly and some rows of the other: gradients (6, 8) and rows (0, 0), (24,
// 0).
struct two_gradients : own_session {
  variable_handle<float> w = variable(tensor<float>::of({3, 4}), {.name = "w"});
  variable_handle<double> table = variable(tensor<double>::of({{7, 7}, {12, 0}, {0, 0}}), {.name = "table"});
  expr<double> loss = cast<double>(reduce_sum(square(w))) + reduce_sum(square(gather(table, constant<int>({2, 1}))));
  tr::gradient_descent o{{.learning_rate = 1}};
  std::vector<tr::gradient_of_variable> gradients = o.compute_gradients(loss);
};

}  // namespace

TEST_CASE_METHOD(own_session, "clip_by_value moves what is outside to the bounds, and leaves NaN") {
  const auto y = sess.run(tr::clip_by_value(constant<float>({-3, -1, 0, 2, infinity, nan}), -1, 1));
  CHECK(to_string(tensor<float>::of({y(0), y(1), y(2), y(3), y(4)})) == "[-1, -1, 0, 1, 1]");
  CHECK(std::isnan(y(5)));
  CHECK(sess.run(tr::clip_by_value(constant<int>({-3, 5}), 0, 4)) == tensor<int>::of({0, 4}));
  CHECK(failure([&] { tr::clip_by_value(constant(1.f, "x"), 2, 1); }) ==
        "invalid_argument: clip_by_value of 'x': the lowest value, 2, is above the highest, 1");
}

TEST_CASE_METHOD(own_session, "clip_by_norm scales a longer tensor down and leaves a shorter one, zeros too") {
  CHECK(sess.run(tr::clip_by_norm(constant<double>({3, 4}), 1)) == tensor<double>::of({.6, .8}));
  CHECK(sess.run(tr::clip_by_norm(constant<double>({3, 4}), 10)) == tensor<double>::of({3, 4}));
  CHECK(sess.run(tr::clip_by_norm(constant<double>({0, 0}), 1)) == tensor<double>::of({0, 0}));
  CHECK(sess.run(tr::clip_by_norm(constant<double>({{3, 4}, {.3, .4}}), 1, {1})) ==
        tensor<double>::of({{.6, .8}, {.3, .4}}));
  const auto y = sess.run(tr::clip_by_norm(constant<float>({1, infinity}), 1));
  CHECK(y(0) == 0);
  CHECK(std::isnan(y(1)));
  CHECK(failure([&] { tr::clip_by_norm(constant(1.f), 0); }) ==
        "invalid_argument: clip_by_norm to 0; a norm to clip to must be positive");
}

TEST_CASE_METHOD(own_session, "the gradient of clip_by_norm at 0, which it leaves as it is, is 1") {
  const auto x = constant<float>({0, 0});
  const auto [slope] = gradients(tr::clip_by_norm(x, 1), x);
  CHECK(sess.run(slope) == tensor<float>::of({1, 1}));
}

TEST_CASE_METHOD(own_session, "clip_by_global_norm scales all tensors alike by the norm of all") {
  const expr<float> a = constant<float>({2, 4}), b = constant(4.f);
  const auto [list, norm] = tr::clip_by_global_norm(std::vector{a, b}, 3);
  CHECK(float(sess.run(norm)) == 6);
  CHECK(sess.run(list[0]) == tensor<float>::of({1, 2}));
  CHECK(float(sess.run(list[1])) == 2);
  const auto wide = tr::clip_by_global_norm(std::vector{a, b}, 100);
  CHECK(sess.run(wide.list[0])(1) == Approx(4));
  const expr<float> zero = constant(0.f);
  CHECK(float(sess.run(tr::clip_by_global_norm(std::vector{zero}, 1).list[0])) == 0);
  CHECK(failure([&] { tr::global_norm(std::vector<expr<float>>{}); }) ==
        "invalid_argument: global_norm was given no tensors");
}

TEST_CASE_METHOD(own_session, "where the global norm is not finite every element becomes NaN") {
  for (float bad : {infinity, -infinity, nan}) {
    const expr<float> a = constant<float>({1, 2}), b = constant(bad);
    const auto clipped = tr::clip_by_global_norm(std::vector{a, b}, 3);
    CHECK(!std::isfinite(float(sess.run(clipped.norm))));
    CHECK(std::isnan(sess.run(clipped.list[0])(0)));
    CHECK(std::isnan(float(sess.run(clipped.list[1]))));
  }
}

TEST_CASE_METHOD(two_gradients, "gradients, dense and sparse, are clipped by their global norm and applied") {
  const auto [clipped, norm] = tr::clip_by_global_norm(gradients, 13);
  CHECK(clipped[1].gradient.is_sparse());
  const auto train = o.apply_gradients(clipped);
  sess.run(global_variables_initializer());
  CHECK(double(sess.run(norm)) == 26);
  sess.run(train);
  CHECK(sess.run(w) == tensor<float>::of({0, 0}));
  CHECK(sess.run(table) == tensor<double>::of({{7, 7}, {0, 0}, {0, 0}}));
}

TEST_CASE_METHOD(two_gradients, "each gradient may be clipped by its own norm, or each element by value") {
  const auto by_norm = o.apply_gradients(tr::clip_by_norm(gradients, 5));
  const auto by_value = o.apply_gradients(tr::clip_by_value(gradients, -7, 7));
  const auto init = global_variables_initializer();
  sess.run(init);
  sess.run(by_norm);
  CHECK(sess.run(w) == tensor<float>::of({0, 0}));
  CHECK(sess.run(table)(1, 0) == 7);
  sess.run(init);
  sess.run(by_value);
  CHECK(sess.run(w) == tensor<float>::of({-3, -3}));
  CHECK(sess.run(table)(1, 0) == 5);
}

TEST_CASE_METHOD(two_gradients, "gradients may be changed by any function before they are applied") {
  const auto train = o.apply_gradients(tr::change_gradients(gradients, [](const auto& g) { return g / 2; }));
  sess.run(global_variables_initializer());
  sess.run(train);
  CHECK(sess.run(w) == tensor<float>::of({0, 0}));
  CHECK(sess.run(table)(1, 0) == 0);
}

TEST_CASE("a gradient is clipped where it is computed") {
  graph g;
  const auto use = g.as_default();
  variable_handle<float> w;
  expr<float> loss;
  {
    const device on{"/cpu:1"};
    w = variable(tensor<float>::of({3, 4}), {.name = "w"});
    loss = reduce_sum(square(w));
  }
  const device elsewhere{"/cpu:0"};
  const tr::gradient_descent o{{}};
  const auto clipped = tr::clip_by_norm(o.compute_gradients(loss), 1);
  CHECK(to_string(g[clipped[0].gradient.dense.node].requested) == "/device:CPU:1");
}
