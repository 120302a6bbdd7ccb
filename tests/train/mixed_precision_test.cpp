// Training whose products round their operands to 16 bits.
#include <pinion/train.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <future>
#include <limits>
#include <string>
#include <vector>

#include <support/caught.hpp>
#include <support/own_graph.hpp>
#include <support/temporary_folder.hpp>
#include <support/tensor_text.hpp>

namespace {

using namespace pinion;
namespace tr = pinion::train;
constexpr float infinity = std::numeric_limits<float>::infinity();

tensor<float> numbers(const shape& extent, int seed) {
  tensor<float> t(extent);
  for (std::int64_t i = 0; i < t.size(); ++i)
    t.data()[i] = static_cast<float>(std::sin(static_cast<double>(i * 7 + seed * 1000 + 1)));
  return t;
}
float rounded_to(dtype type, float x) {
  return type == dtype::half ? float(half(x)) : float(bfloat16(x));
}
tensor<float> rounded_to(dtype type, const tensor<float>& x) {
  tensor<float> t(x.shape());
  for (std::int64_t i = 0; i < t.size(); ++i) t.data()[i] = rounded_to(type, x.data()[i]);
  return t;
}

// The first output of one node of some values.
tensor<float> value_of(const char* op, const std::vector<tensor<float>>& values, const attributes& attrs,
                       const session_options& options = {}) {
  own_graph f;
  node_request one{.op = op, .attrs = attrs};
  for (const auto& x : values) one.inputs.push_back(expr<float>(constant(x)).endpoint(f.g));
  session sess{options};
  return sess.run(expr<float>(f.g, {build(f.g, std::move(one)), 0}));
}

struct product_case {
  const char* op;
  std::vector<shape> shapes;
  attributes attrs = {};
};

const std::vector<product_case>& products() {
  static const attributes valid{{"padding", "VALID"}}, same{{"padding", "SAME"}, {"strides", integers{2, 2}}};
  static const std::vector<product_case> all{
      {"MatMul", {{5, 7}, {7, 3}}},
      {"MatMul", {{7, 5}, {3, 7}}, {{"transpose_a", true}, {"transpose_b", true}}},
      {"MatMul", {{96, 90}, {90, 64}}},
      {"MatMul", {{300, 200}, {200, 260}}},
      {"MatMul", {{90, 96}, {90, 64}}, {{"transpose_a", true}}},
      {"MatMul", {{96, 90}, {64, 90}}, {{"transpose_b", true}}},
      {"MatMul", {{90, 96}, {64, 90}}, {{"transpose_a", true}, {"transpose_b", true}}},
      {"MatMul", {{0, 4}, {4, 3}}},
      {"MatMul", {{2, 0}, {0, 3}}},
      {"BatchMatMulV2", {{3, 5, 4}, {3, 4, 6}}},
      {"BatchMatMulV2", {{2, 96, 90}, {90, 64}}},
      {"Einsum", {{5, 4}, {4}}, {{"equation", "ij,j->i"}}},
      {"Einsum", {{9, 8, 7}, {7, 9, 6}}, {{"equation", "abc,cad->bd"}}},
      {"Einsum", {{64, 70, 9}, {70, 9, 64}}, {{"equation", "abc,bcd->ad"}}},
      {"EinsumLike", {{64, 90}, {90, 96}, {64, 96}}, {{"equation", "ij,jk->ik"}}},
      {"Conv2D", {{2, 9, 8, 3}, {3, 3, 3, 5}}, same},
      {"Conv2D", {{2, 8, 8, 32}, {3, 3, 32, 16}}, valid},
      {"Conv2D", {{2, 9, 8, 8}, {3, 3, 2, 16}}, same},
      {"Conv2D", {{2, 9, 8, 8}, {3, 3, 1, 8}}, same},
      {"Conv2D", {{2, 9, 9, 8}, {3, 3, 8, 4}}, {{"dilations", integers{2, 2}}}},
      {"Conv2DBackpropInput", {{2, 6, 6, 16}, {3, 3, 32, 16}, {2, 8, 8, 32}}, valid},
      {"Conv2DBackpropInput", {{2, 5, 4, 8}, {3, 3, 1, 8}, {2, 9, 8, 8}}, same},
      {"Conv2DBackpropInput", {{2, 5, 4, 6}, {3, 3, 4, 6}}, same},
      {"Conv2DBackpropFilter", {{2, 8, 8, 32}, {2, 6, 6, 16}, {3, 3, 32, 16}}, valid},
      {"Conv2DBackpropFilter", {{2, 9, 8, 8}, {2, 5, 4, 8}, {3, 3, 1, 8}}, same},
      {"Conv2DBackpropFilter", {{2, 9, 8, 6}, {2, 5, 4, 5}, {1, 1, 6, 5}}, same},
      {"Conv2DBackpropFilter", {{2, 9, 8, 32}, {2, 5, 4, 16}, {1, 1, 32, 16}}, same}};
  return all;
}

// An affine layer with relu and another, and their mean square error.
struct perceptron : own_graph {
  variable_handle<std::int64_t> step = tr::get_or_create_global_step();
  variable_handle<float> v = variable(numbers({8, 64}, 3), {.name = "v"});
  variable_handle<float> b = variable(zeros<float>({64}), {.name = "b"});
  variable_handle<float> w = variable(numbers({64, 1}, 4), {.name = "w"});
  expr<float> x = constant(numbers({128, 8}, 5));
  expr<float> wanted = reduce_sum(x * x, {.axes = {1}, .keep_dims = true});
  expr<float> loss = reduce_mean(square(matmul(relu(matmul(x, v) + b), w) - wanted));

  float trained(const operation& train, int steps, const session_options& options = {}) const {
    session sess{options};
    sess.run(global_variables_initializer());
    for (int i = 0; i < steps; ++i) sess.run(train);
    CHECK(std::int64_t(sess.run(step)) == steps);
    return sess.run(loss);
  }
};

// w x, of which the gradient by w is x.
struct line : own_graph {
  variable_handle<std::int64_t> step = tr::get_or_create_global_step();
  variable_handle<float> w = variable(4.f, {.name = "w"});
  expr<float> x = placeholder<float>({}, "x");
  expr<float> loss = w * x;
};

std::string marks_of(const graph& g) {
  std::string all;
  for (node_id id = 0; id < g.size(); ++id)
    if (g.contains(id))
      if (const auto* const a = g.peek(id).attrs.find("compute"))
        all += g.peek(id).op + " " + std::string(to_string(*a->get_if<dtype>())) + ";";
  return all;
}

}  // namespace

TEST_CASE("a product that computes in 16 bits is the product of its rounded operands") {
  for (const dtype compute : {dtype::bfloat16, dtype::half})
    for (const product_case& one : products()) {
      std::vector<tensor<float>> values, rounded;
      for (std::size_t i = 0; i < one.shapes.size(); ++i) {
        values.push_back(numbers(one.shapes[i], static_cast<int>(i)));
        rounded.push_back(rounded_to(compute, values.back()));
      }
      attributes attrs = one.attrs;
      attrs.set("compute", compute);
      const auto y = value_of(one.op, values, attrs), wanted = value_of(one.op, rounded, one.attrs);
      INFO(one.op << " of " << to_string(one.shapes[0]) << " and " << to_string(one.shapes[1]) << " in "
                  << to_string(compute));
      REQUIRE(y.shape() == wanted.shape());
      double farthest = 0;
      for (std::int64_t i = 0; i < y.size(); ++i)
        farthest = std::max(farthest, std::abs(double(y.data()[i]) - double(wanted.data()[i])));
      CHECK(farthest < 5e-5);
      CHECK((y.size() == 0 || one.shapes[0].count() == 0 || !(y == value_of(one.op, values, one.attrs))));
      const auto alone = value_of(one.op, values, attrs, {.inter_op_threads = 1, .intra_op_threads = 1});
      CHECK(value_of(one.op, values, attrs, {.inter_op_threads = 3, .intra_op_threads = 3}) == alone);
    }
}

TEST_CASE("one operand of einsum is no product, and float32 rounds nothing") {
  const auto x = numbers({3, 4}, 1), y = numbers({4, 5}, 2);
  const attributes sums{{"equation", "ij->i"}};
  CHECK(value_of("Einsum", {x}, {{"equation", "ij->i"}, {"compute", dtype::half}}) == value_of("Einsum", {x}, sums));
  CHECK(value_of("MatMul", {x, y}, {{"compute", dtype::float32}}) == value_of("MatMul", {x, y}, {}));
}

TEST_CASE("attention and recurrent cells compute in 16 bits what they compute in float, nearly") {
  const std::vector<product_case> nodes{{"ScaledDotProductAttention", {{2, 70, 64}, {2, 80, 64}, {2, 80, 64}}},
                                        {"Lstm", {{3, 40, 256}, {40, 64}, {40, 64}, {64, 256}}},
                                        {"Gru", {{3, 5, 24}, {5, 8}, {8, 24}}, {{"reverse", true}}},
                                        {"SimpleRnn", {{3, 5, 8}, {5, 8}, {8, 8}}},
                                        {"SimpleRnnGrad", {{8, 8}, {5, 8}, {3, 5, 8}, {3, 5, 8}, {3, 5, 8}, {5, 8}}}};
  for (const product_case& one : nodes) {
    std::vector<tensor<float>> values;
    for (const shape& s : one.shapes) values.push_back(numbers(s, static_cast<int>(values.size())));
    const auto wanted = value_of(one.op, values, one.attrs);
    for (const dtype compute : {dtype::bfloat16, dtype::half}) {
      attributes attrs = one.attrs;
      attrs.set("compute", compute);
      const auto y = value_of(one.op, values, attrs);
      INFO(one.op << " in " << to_string(compute));
      CHECK_FALSE(y == wanted);
      for (std::int64_t i = 0; i < y.size(); ++i)
        CHECK(y.data()[i] == Approx(wanted.data()[i]).margin(.03).epsilon(.02));
    }
  }
}

TEST_CASE("a product of other numbers than floats, or in another dtype, is refused") {
  own_graph f;
  const output x = expr<double>(ones<double>({2, 2})).endpoint(f.g);
  const output y = expr<float>(ones<float>({2, 2})).endpoint(f.g);
  const output images = expr<float>(ones<float>({1, 2, 2, 1})).endpoint(f.g);
  const auto make = [&](const char* op, std::vector<output> inputs, attributes attrs) {
    return failure([&] { build(f.g, {.op = op, .inputs = std::move(inputs), .attrs = std::move(attrs)}); });
  };
  CHECK(make("MatMul", {x, x}, {{"compute", dtype::half}}) ==
        "invalid_argument: MatMul of double with operands rounded to half; only a product of float has attribute "
        "\"compute\"");
  const std::string other = " with operands rounded to int32; attribute \"compute\" is bfloat16, half or float";
  CHECK(make("MatMul", {y, y}, {{"compute", dtype::int32}}) == "invalid_argument: MatMul" + other);
  CHECK(make("BatchMatMulV2", {y, y}, {{"compute", dtype::int32}}) == "invalid_argument: BatchMatMulV2" + other);
  CHECK(make("Einsum", {y, y}, {{"equation", "ij,jk->ik"}, {"compute", dtype::int32}}) ==
        "invalid_argument: Einsum" + other);
  CHECK(make("Conv2D", {images, images}, {{"compute", dtype::int32}}) == "invalid_argument: Conv2D" + other);
  CHECK(make("SimpleRnn", {y, y, y}, {{"compute", dtype::int32}}) == "invalid_argument: SimpleRnn" + other);
  CHECK(make("ScaledDotProductAttention", {y, y, y}, {{"compute", dtype::int32}}) ==
        "invalid_argument: ScaledDotProductAttention" + other);
}

TEST_CASE("a product that an update takes in rounds its operands there") {
  const auto trained = [](bool optimize) {
    own_graph f;
    auto w = variable(tensor<float>({64, 48}), {.name = "w"});
    node_request product{.op = "MatMul",
                         .inputs = {expr<float>(constant(numbers({90, 64}, 1))).endpoint(f.g),
                                    expr<float>(constant(numbers({90, 48}, 2))).endpoint(f.g)},
                         .attrs = {{"transpose_a", true}, {"compute", dtype::bfloat16}}};
    const tr::gradient_of_variable gradient{{{build(f.g, std::move(product)), 0}, {}, {}}, w.id(f.g), f.g};
    const auto train = tr::gradient_descent{{.learning_rate = 1}}.apply_gradients({gradient});
    session sess{{.optimize = optimize}};
    sess.run(global_variables_initializer());
    sess.run(train);
    return tensor<float>(sess.run(w));
  };
  const auto folded = trained(true), apart = trained(false);
  for (std::int64_t i = 0; i < folded.size(); ++i) CHECK(folded.data()[i] == Approx(apart.data()[i]).margin(1e-5));
}

TEST_CASE("minimize marks the products on which the loss depends, and those of its gradients") {
  perceptron m;
  const auto other = matmul(m.x, m.v, {.name = "other"});
  tr::mixed_precision{tr::gradient_descent{{.learning_rate = .1}}, {}}.minimize(m.loss);
  CHECK(marks_of(m.g) ==
        "MatMul bfloat16;MatMul bfloat16;MatMul bfloat16;MatMul bfloat16;MatMul bfloat16;MatMul bfloat16;");
  CHECK_FALSE(m.g.peek(other.id(m.g)).attrs.has("compute"));
}

TEST_CASE("products in bodies of loops and conditionals round their operands too") {
  const auto losses = [](dtype compute) {
    own_graph f;
    auto w = variable(numbers({4, 4}, 1), {.name = "w"});
    const expr<float> x = constant(numbers({3, 4}, 2));
    const auto [i, y] = while_loop([](const expr<int>& n, const expr<float>&) { return n < 3; },
                                   [&](const expr<int>& n, const expr<float>& z) {
                                     const expr<float> one = cond(
                                         n < 1, [&] { return expr<float>(matmul(z, w)); },
                                         [&] { return expr<float>(matmul(z, w) * .5f); });
                                     return std::tuple(expr<int>(n + 1), one);
                                   },
                                   expr<int>(constant(0)), x);
    const expr<float> loss = reduce_sum(square(y));
    const auto train =
        tr::mixed_precision{tr::gradient_descent{{.learning_rate = .01}}, {.compute = compute}}.minimize(loss);
    session sess;
    sess.run(global_variables_initializer());
    std::vector<float> all{float(sess.run(loss))};
    sess.run(train);
    all.push_back(float(sess.run(loss)));
    return all;
  };
  const auto plain = losses(dtype::float32), rounded = losses(dtype::bfloat16);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(plain[i] != rounded[i]);
    CHECK(plain[i] == Approx(rounded[i]).epsilon(.05));
  }
}

TEST_CASE("a training in 16 bits gets as far as one in float, and its variables stay float") {
  const auto after = [](const auto& wrap, const session_options& options = {}) {
    perceptron m;
    const float loss =
        m.trained(wrap(tr::adam{{.learning_rate = .01}}).minimize(m.loss, {.global_step = m.step}), 200, options);
    CHECK(m.w.read().dtype() == dtype::float32);
    return loss;
  };
  const float plain = after([](const tr::adam& o) { return o; });
  CHECK(plain < 1);
  for (const dtype compute : {dtype::bfloat16, dtype::half, dtype::float32}) {
    const auto wrap = [=](const tr::adam& o) { return tr::mixed_precision{o, {.compute = compute}}; };
    INFO(to_string(compute));
    const float loss = after(wrap);
    CHECK(loss < 2 * plain);
    CHECK(loss > .5 * plain);
    CHECK((loss == plain) == (compute == dtype::float32));
    CHECK(after(wrap, {.simulated = {sim::gpu()}}) < 2 * plain);
  }
}

TEST_CASE("small steps add up in variables of float") {
  line f;
  const auto train = tr::mixed_precision{tr::gradient_descent{{.learning_rate = 1}}, {}}.minimize(f.loss);
  session sess;
  sess.run(global_variables_initializer());
  for (int i = 0; i < 4; ++i) sess.run({{f.x, -.001f}}, train);
  CHECK(float(sess.run(f.w)) == Approx(4.004f));
  CHECK(float(bfloat16(4.004f)) == 4);
}

TEST_CASE("a step whose gradients are not finite is left out and counted, and the scale halves") {
  for (const float bad : {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()}) {
    line f;
    const tr::mixed_precision o{tr::adam{{.learning_rate = .5}}, {.compute = dtype::half}};
    const auto train = o.minimize(f.loss, {.global_step = f.step});
    session sess;
    sess.run(global_variables_initializer());
    CHECK(float(sess.run(o.loss_scale())) == 32768);
    sess.run({{f.x, bad}}, train);
    sess.run({{f.x, bad}}, train);
    CHECK(float(sess.run(f.w)) == 4);
    CHECK(float(sess.run(o.wrapped().get_slot(f.w, "m"))) == 0);
    CHECK(std::int64_t(sess.run(f.step)) == 0);
    CHECK(std::int64_t(sess.run(o.skipped_steps())) == 2);
    CHECK(float(sess.run(o.loss_scale())) == 8192);
    sess.run({{f.x, 1.f}}, train);
    CHECK(float(sess.run(f.w)) == Approx(3.5f));
    CHECK(std::int64_t(sess.run(f.step)) == 1);
    CHECK(std::int64_t(sess.run(o.skipped_steps())) == 2);
  }
}

TEST_CASE("a loss of double is scaled and left out like others") {
  own_graph f;
  auto w = variable(4., {.name = "w"});
  const auto x = placeholder<double>({}, "x");
  const tr::mixed_precision o{tr::gradient_descent{{.learning_rate = 1}}, {.initial_scale = 8, .growth_interval = 0}};
  const auto train = o.minimize(w * x);
  session sess;
  sess.run(global_variables_initializer());
  sess.run({{x, 1.}}, train);
  sess.run({{x, double(infinity)}}, train);
  CHECK(double(sess.run(w)) == 3);
  CHECK(float(sess.run(o.loss_scale())) == 8);
  CHECK(std::int64_t(sess.run(o.skipped_steps())) == 1);
}

TEST_CASE("gradients of a scaled loss are those of the loss, and too large a scale finds its way down") {
  line f;
  const tr::mixed_precision o{tr::gradient_descent{{.learning_rate = 1}},
                              {.compute = dtype::bfloat16, .initial_scale = 0x1p126}};
  const auto gradients = o.compute_gradients(f.loss);
  const auto train = o.apply_gradients(gradients);
  session sess;
  sess.run(global_variables_initializer());
  CHECK(float(sess.run({{f.x, 1.5f}}, expr<float>(f.g, gradients[0].gradient.dense))) == 1.5f);
  for (int i = 0; i < 3; ++i) sess.run({{f.x, 8.f}}, train);
  CHECK(std::int64_t(sess.run(o.skipped_steps())) == 2);
  CHECK(float(sess.run(f.w)) == -4);
}

TEST_CASE("the scale doubles after so many good steps in a row, and is never below 1") {
  line f;
  const tr::mixed_precision o{tr::gradient_descent{{.learning_rate = 1}}, {.initial_scale = 2, .growth_interval = 3}};
  const auto train = o.minimize(f.loss);
  session sess;
  sess.run(global_variables_initializer());
  std::string scales;
  for (const float x : {1.f, 1.f, infinity, infinity, infinity, 1.f, 1.f, 1.f, 1.f, 1.f, 1.f}) {
    sess.run({{f.x, x}}, train);
    scales += std::to_string(int(float(sess.run(o.loss_scale())))) + " ";
  }
  CHECK(scales == "2 2 1 1 1 1 1 2 2 2 4 ");
}

TEST_CASE("a training that restarts keeps its scale and its counts") {
  temporary_folder dir;
  line f;
  const tr::mixed_precision o{tr::momentum{{.learning_rate = .1, .momentum = .5}},
                              {.compute = dtype::half, .growth_interval = 2}};
  const auto train = o.minimize(f.loss, {.global_step = f.step});
  tr::saver saver;
  session before, after;
  before.run(global_variables_initializer());
  for (const float x : {infinity, infinity, 1.f}) before.run({{f.x, x}}, train);
  saver.restore(after, saver.save(before, dir.path("model"), f.step));
  CHECK(std::int64_t(after.run(o.skipped_steps())) == 2);
  CHECK(float(after.run(o.loss_scale())) == 8192);
  after.run({{f.x, 1.f}}, train);
  CHECK(float(after.run(o.loss_scale())) == 16384);
  CHECK(f.g.collection("trainable_variables").size() == 1);
}

TEST_CASE("sparse gradients stay sparse, and are left out where a row is not finite") {
  own_graph f;
  auto table = variable(tensor<float>::of({{1, 2}, {3, 4}, {5, 6}}), {.name = "table"});
  const auto named = placeholder<int>({unknown}, "named");
  const auto x = placeholder<float>({}, "x");
  const tr::mixed_precision o{tr::gradient_descent{{.learning_rate = 1}}, {.compute = dtype::half}};
  const auto gradients = o.compute_gradients(reduce_sum(gather(table, named)) * x);
  CHECK(gradients[0].gradient.is_sparse());
  const auto train = o.apply_gradients(gradients);
  session sess;
  sess.run(global_variables_initializer());
  sess.run({{named, {0, 2}}, {x, 1.f}}, train);
  sess.run({{named, {1}}, {x, infinity}}, train);
  CHECK(to_string(sess.run(table)) == "[[0, 1], [3, 4], [4, 5]]");
  CHECK(std::int64_t(sess.run(o.skipped_steps())) == 1);
}

TEST_CASE("clipping between the gradients and their use hides nothing") {
  line f;
  const tr::mixed_precision o{tr::gradient_descent{{.learning_rate = 1}}, {.compute = dtype::half}};
  const auto train = o.apply_gradients(tr::clip_by_value(o.compute_gradients(f.loss), -1, 1));
  session sess;
  sess.run(global_variables_initializer());
  for (const float x : {infinity, 7.f}) sess.run({{f.x, x}}, train);
  CHECK(float(sess.run(f.w)) == 3);
  CHECK(std::int64_t(sess.run(o.skipped_steps())) == 1);
}

TEST_CASE("around accumulate single micro-batches are left out, and inside of it whole updates") {
  const tr::gradient_descent plain{{.learning_rate = 1}};
  line f;
  const tr::mixed_precision around{tr::accumulate{plain, 2}, {.compute = dtype::half}};
  const auto train = around.minimize(f.loss, {.global_step = f.step});
  session sess;
  sess.run(global_variables_initializer());
  std::string seen;
  for (const float x : {1.f, infinity, 2.f, infinity, 1.f, 1.f}) {
    sess.run({{f.x, x}}, train);
    seen += to_string(sess.run(f.w)) + " at " + to_string(sess.run(f.step)) + "; ";
  }
  CHECK(seen == "4 at 0; 4 at 0; 2.5 at 1; 2.5 at 1; 2.5 at 1; 1.5 at 2; ");
  CHECK(std::int64_t(sess.run(around.skipped_steps())) == 2);

  line h;
  const tr::accumulate inside{tr::mixed_precision{plain, {.compute = dtype::half}}, 2};
  const auto steps = inside.minimize(h.loss, {.global_step = h.step});
  session other;
  other.run(global_variables_initializer());
  seen.clear();
  for (const float x : {1.f, infinity, 2.f, 1.f}) {
    other.run({{h.x, x}}, steps);
    seen += to_string(other.run(h.w)) + "; ";
  }
  CHECK(seen == "4; 4; 4; 2.5; ");
  CHECK(std::int64_t(other.run(inside.wrapped().skipped_steps())) == 1);
  CHECK(float(other.run(inside.wrapped().loss_scale())) == 16384);
}

TEST_CASE("inside of sync_replicas a round is left out for all replicas") {
  line f;
  const tr::mixed_precision o{tr::gradient_descent{{.learning_rate = 1}}, {.compute = dtype::half}};
  std::vector<operation> steps;
  std::vector<tr::sync_replicas_hook> hooks;
  for (int replica = 0; replica < 2; ++replica) {
    tr::sync_replicas sync{o, {.replicas_to_aggregate = 2, .replica = replica}};
    steps.push_back(sync.minimize(f.loss, {.global_step = f.step}));
    hooks.push_back(sync.make_session_run_hook(replica == 0));
  }
  const auto init = global_variables_initializer();
  session sess;
  tr::coordinator together;
  sess.run(init);
  for (auto& hook : hooks) hook.after_create_session(sess, together);
  const auto round = [&](float a, float b) {
    auto other = std::async(std::launch::async, [&] { sess.run({{f.x, a}}, steps[0]); });
    sess.run({{f.x, b}}, steps[1]);
    other.get();
    return to_string(sess.run(f.w)) + " at " + to_string(sess.run(f.step));
  };
  CHECK(round(1, 3) == "2 at 1");
  CHECK(round(infinity, 1) == "2 at 2");
  CHECK(round(1, 1) == "1 at 3");
  CHECK(std::int64_t(sess.run(o.skipped_steps())) == 1);
  CHECK(float(sess.run(o.loss_scale())) == 16384);
}

TEST_CASE("options of mixed_precision that make no sense are refused") {
  const auto with = [](const tr::mixed_precision_options& o) {
    return failure([&] { tr::mixed_precision{tr::adam{{}}, o}; });
  };
  CHECK(with({.compute = dtype::float64}) ==
        "invalid_argument: compute of mixed_precision is double; it must be bfloat16 or half, or float for products "
        "as they are");
  CHECK(with({.initial_scale = -1}) ==
        "invalid_argument: initial_scale of mixed_precision is -1; it must be from 2^-126 up to 2^127, or 0");
  CHECK(with({.growth_interval = -1}) ==
        "invalid_argument: growth_interval of mixed_precision is -1; it must be a number of steps, or 0 for a scale "
        "that stays");
}

TEST_CASE("the scale of a loss that has none is not found") {
  line f;
  const tr::mixed_precision o{tr::adam{{}}, {}};
  const std::string none = "' in this graph: it has applied no gradients there, or its loss is not scaled";
  CHECK(failure([&] { o.skipped_steps(); }) == "not_found: mixed_precision has no 'skipped_steps" + none);
  o.minimize(f.loss);
  CHECK(o.skipped_steps().name() == "skipped_steps");
  CHECK(failure([&] { o.loss_scale(); }) == "not_found: mixed_precision has no 'loss_scale" + none);
}
