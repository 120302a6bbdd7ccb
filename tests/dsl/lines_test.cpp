// Where the nodes of expressions say they were made: at the line of the user's call, whatever the library calls on the
// way. tests/structure asks for a row of every function that takes the line of its caller.
#include <pinion/graph.hpp>
#include <pinion/nn/split_blocks.hpp>
#include <pinion/op/bits/functions.hpp>
#include <pinion/op/ctc/functions.hpp>
#include <pinion/op/distribution/functions.hpp>
#include <pinion/op/dynamic/batch_gather.hpp>
#include <pinion/op/dynamic/functions.hpp>
#include <pinion/op/resize/adaptive_pool.hpp>
#include <pinion/op/rows/functions.hpp>
#include <pinion/op/volume/functions.hpp>
#include <pinion/opkit/build.hpp>

#include <catch2/catch.hpp>

#include <support/node_lines.hpp>
#include <support/own_ops.hpp>

namespace {

using namespace pinion;
namespace pn = pinion;

struct halved {
  static constexpr int arity = 1;
  template <class V>
  static constexpr auto apply(V x) {
    return x * .5;
  }
};
struct geometric_mean {
  static constexpr int arity = 2;
  template <class V, class W>
  static constexpr auto apply(V x, W y) {
    return sqrt(x * y);
  }
};

struct fixture : lined_graph {
  expr<float> x = placeholder<float>({4, 3}, "x"), y = placeholder<float>({4, 3}, "y"),
              image = placeholder<float>({2, 8, 8, 3}, "image"), line = placeholder<float>({2, 9, 3}, "line"),
              three = placeholder<float>({3}, "three");
  expr<int> numbers = placeholder<int>({4}, "numbers"), places = placeholder<int>({2, 2}, "places"),
            index = placeholder<int>({}, "index");
  expr<bool> flag = placeholder<bool>({}, "flag"), truth = placeholder<bool>({4, 3}, "truth");
  expr<std::string> text = placeholder<std::string>({}, "text");
  variable_handle<float> w = variable(tensor<float>({3, 2}), {.name = "w"});
  variable_handle<std::int64_t> step = variable(std::int64_t{0}, {.name = "step", .trainable = false});
  fifo_queue<float, int> q{{.capacity = 10, .shapes = {{}, {}}}};
};

}  // namespace

TEST_CASE_METHOD(fixture, "where values come from stands where it is written") {
  here([&] { (void)constant(1.0f); });
  here([&] { (void)constant<float>({{1, 2}, {3, 4}}); });
  here([&] { (void)constant<float>({1, 2}); });
  here([&] { (void)constant<float>({}); });
  here([&] { (void)constant(tensor<float>({2})); });
  here([&] { (void)constant(std::vector<float>{1, 2}); });
  here([&] { (void)fill({2}, 1.0f); });
  here([&] { (void)zeros<float>({2}); });
  here([&] { (void)ones<float>({2}); });
  here([&] { (void)range(1, 5, 2); });
  here([&] { (void)range(5); });
  here([&] { (void)placeholder<float>(); });
  here([&] { (void)variable(1.0f); });
  here([&] { (void)variable(tensor<float>({2})); });
  here([&] { (void)variable(zeros<float>({2})); });
  here([&] { (void)random_uniform<float>({2}); });
  here([&] { (void)random_normal<float>({2}); });
  here([&] { (void)truncated_normal<float>({2}); });
  here([&] { (void)no_op(); });
  here([&] { (void)global_variables_initializer(); });
  here([&] { (void)local_variables_initializer(); });
}

TEST_CASE_METHOD(fixture, "the values of initialisers stand where they are drawn") {
  for (const auto& first :
       {nn::zeros_initializer(), nn::random_uniform_initializer(), nn::glorot_uniform_initializer(),
        nn::glorot_normal_initializer(), nn::initializer({.distribution = nn::distribution::normal})}) {
    here([&] { (void)first.of<float>({4, 2}); });
    here([&] { (void)first.rows_of<float>({4, 2}, 1, 2); });
  }
}

TEST_CASE_METHOD(fixture, "what is done with a variable stands where it is written") {
  here([&] { (void)assign(w, square(w)); });
  here([&] { (void)assign_add(w, tensor<float>({3, 2})); });
  here([&] { (void)assign_sub(step, 1); });
  here([&] { (void)identity(w); });
  const control_dependencies after{w.initializer()};  // so that each read is a node
  here([&] { (void)w.read(); });
  here([&] { (void)assign(w, w); });
  here([&] { (void)matmul(x, w); });
  here([&] { (void)maximum(w, 0.0f); });
  here([&] { (void)reduce_sum(w); });
  here([&] { (void)gather(w, numbers); });
  here([&] { (void)identity(w); });
  here([&] { (void)place<"/cpu:0">(w); });
  here([&] { (void)q.enqueue(reduce_sum(w), 1); });
}

TEST_CASE_METHOD(fixture, "elementwise functions stand where they are written") {
#define HERE(function, ...) here([&] { (void)pn::function(__VA_ARGS__); })
  HERE(exp, x), HERE(log, x), HERE(log1p, x), HERE(sqrt, x), HERE(rsqrt, x), HERE(tanh, x), HERE(erf, x), HERE(erfc, x);
  HERE(sin, x), HERE(cos, x), HERE(floor, x), HERE(ceil, x), HERE(round, x), HERE(square, x), HERE(abs, x),
      HERE(sign, x);
  HERE(negative, x), HERE(sigmoid, x), HERE(elu, x), HERE(softplus, x), HERE(relu, x), HERE(nn::sigmoid, x),
      HERE(nn::tanh, x);
  HERE(gelu, x), HERE(gelu_by_tanh, x), HERE(silu, x), HERE(mish, x), HERE(selu, x), HERE(relu6, x);
  HERE(hard_sigmoid, x), HERE(hard_swish, x), HERE(leaky_relu, x, .2f), HERE(clip_by_value, x, 0.0f, y);
  HERE(stop_gradient, x), HERE(stop_gradient, w);
  HERE(maximum, x, y), HERE(minimum, x, 0.0f), HERE(pow, x, y), HERE(add, x, y), HERE(subtract, x, y),
      HERE(multiply, x, y);
  HERE(divide, x, y), HERE(equal, x, y), HERE(not_equal, x, y), HERE(bias_add, x, constant<float>({1, 2, 3}, "bias"));
  HERE(tan, x), HERE(asin, x), HERE(acos, x), HERE(atan, x), HERE(sinh, x), HERE(cosh, x), HERE(asinh, x);
  HERE(acosh, x), HERE(atanh, x), HERE(expm1, x), HERE(log2, x), HERE(log10, x), HERE(exp2, x), HERE(reciprocal, x);
  HERE(trunc, x), HERE(logsigmoid, x), HERE(softsign, x), HERE(is_nan, x), HERE(is_inf, x), HERE(is_finite, x);
  HERE(atan2, x, y), HERE(hypot, x, y), HERE(xlogy, x, y), HERE(huber, x, 1.0f), HERE(squared_difference, x, y);
  HERE(mod, x, y), HERE(floordiv, x, 2.0f), HERE(logical_xor, truth, truth), HERE(logical_xor, truth, true);
#undef HERE
  here([&] { (void)linspace(0.0f, 1.0f, 5), eye<float>(3); });
  here([&] { (void)cast<int>(x); });
  here([&] { (void)cast<bool>(x); });
  here([&] { (void)cast<float>(truth); });
  here([&] { (void)cast<float>(x); });
  here([&] { (void)cast<bool>(truth); });
  here([&] { (void)select(x > y, x, y, "chosen"); });
  here([&] { (void)select(truth, truth, truth); });
  here([&] { (void)select(flag, text, text); });
  here([&] { (void)map<halved>(x); });
  here([&] { (void)map<geometric_mean>(x, y); });
  here([&] { (void)map<geometric_mean>(x, 2.0f); });
}

TEST_CASE_METHOD(fixture, "products, reductions and other shapes stand where they are written") {
  here([&] { (void)matmul(x, w); });
  here([&] { (void)reduce_sum(x), reduce_mean(x), reduce_max(x), reduce_min(x), reduce_prod(x); });
  here([&] { (void)reduce_all(truth), reduce_any(truth); });
  here([&] { (void)argmax(x, 1), argmin(x, 1); });
  here([&] { (void)reduce_logsumexp(x), reduce_logsumexp(x, 1), reduce_variance(x), reduce_std(x, 0); });
  here([&] { (void)count_nonzero(x), norm(x), norm(x, {.ord = 1}), l2_loss(x), l2_normalize(x); });
  here([&] { (void)cosine_similarity(x, y); });
  here([&] { (void)zeros_like(x), ones_like(x); });
  here([&] { (void)broadcast_to(x, {2, 4, 3}), repeat(x, 2), repeat(x, 2, {.axis = 1}); });
  here([&] { (void)multinomial(x, 2), bernoulli(.5, {2, 3}); });
  here([&] { (void)random_gamma({2}, x), random_gamma({2}, 1.5f, {.beta = y}); });
  here([&] { (void)random_poisson({2}, x), random_poisson<int>({2}, 3.); });
  here([&] { (void)pinion::shuffle(x); });
  here([&] { (void)tril(x), triu(x, 1), band_part(x, 1, 1); });
  here([&] { (void)reshape(x, {12}); });
  here([&] { (void)expand_dims(x, 0); });
  here([&] { (void)squeeze(expand_dims(x, 0)); });
  here([&] { (void)transpose(x, {1, 0}); });
  here([&] { (void)shape_of(x); });
  here([&] { (void)concat({x, y}, 1); });
  here([&] { (void)stack({x, y}, 1); });
  here([&] { (void)stack(std::vector{x, y}); });
  here([&] { (void)split<3>(x, 1); });
  here([&] { (void)slice(x, {0, 0}, {1, 2}); });
  here([&] { (void)pad(x, {{1, 1}, {0, 0}}); });
  here([&] { (void)pad(x, {{1, 1}, {0, 0}}, {.mode = pad_mode::reflect}); });
  here([&] { (void)tile(x, {2, 1}); });
  here([&] { (void)slice_at(x, 1); });
  here([&] { (void)slice_at(x, ellipsis, range_of(0, 2), new_axis); });
  here([&] { (void)strided_slice(x, {0}, {2}, {-1}); });
  here([&] { (void)pinion::reverse(x, {0}); });
  here([&] { (void)roll(x, {1, 2}, {0, 1}), roll(x, 1, 0); });
  here([&] { (void)gather(x, numbers); });
  here([&] { (void)one_hot<float>(numbers, 3); });
  here([&] { (void)pinion::sort(x), argsort(x); });
  here([&] { (void)scaled_dot_product_attention(x, x, x); });
  const expr<float> steps = expand_dims(x, 0), weights = slice(x, {0, 0}, {3, -1}), bias = reduce_sum(x, {.axes = {0}});
  here([&] { (void)simple_rnn(steps, x, weights, weights, bias); });
  here([&] { (void)layer_norm(x, x, x), rms_norm(x, x); });
  here([&] { (void)einsum("ij,kj->ik", x, x); });
  here([&] { (void)top_k(x, 2); });
  here([&] { (void)cumsum(x), cumprod(x, 1); });
  here([&] { (void)take_along_axis(x, argsort(x)); });
  here([&] { (void)scatter_nd(places, gather_nd(x, places), {4, 3}); });
  here([&] { (void)segment_sum(x, numbers, {.segments = 2}), segment_mean(x, numbers, {.segments = 2}); });
  here([&] { (void)segment_max(x, numbers, {.segments = 2}), segment_min(x, numbers, {.segments = 2}); });
  here([&] { (void)segment_prod(x, numbers, {.segments = 2}); });
  here([&] { (void)pn::where(truth), boolean_mask(x, truth); });
  here([&] { (void)pn::unique(numbers); });
  here([&] { (void)searchsorted(numbers, numbers), searchsorted(numbers, numbers, {.side = side::right}); });
  here([&] { (void)softmax(x), log_softmax(x); });
  here([&] { (void)softmax_cross_entropy_with_logits(y, x); });
  here([&] { (void)sparse_softmax_cross_entropy_with_logits(numbers, x); });
  here([&] { (void)sigmoid_cross_entropy_with_logits(y, x); });
  here([&] { (void)ctc_loss(constant(tensor<int>({4, 3})), steps), ctc_greedy_decoder(steps); });
  here([&] { (void)in_top_k(x, numbers); });
  here([&] { (void)conv2d(image, constant(tensor<float>({3, 3, 3, 4}))); });
  here([&] { (void)conv2d(image, constant(tensor<float>({3, 3, 1, 6})), {.groups = 3}); });
  here([&] { (void)depthwise_conv2d(image, constant(tensor<float>({3, 3, 3, 2}))); });
  here([&] { (void)conv2d_transpose(image, constant(tensor<float>({3, 3, 4, 3}))); });
  here([&] { (void)conv2d_transpose(image, constant(tensor<float>({3, 3, 4, 3})), {2, 10, 10, 4}); });
  here([&] { (void)conv2d_transpose(image, constant(tensor<float>({3, 3, 4, 3})), shape{2, 10, 10, 4}); });
  here([&] { (void)conv1d(line, constant(tensor<float>({3, 3, 4}))); });
  here([&] { (void)max_pool(image), avg_pool(image); });
  const auto scan = placeholder<float>({2, 4, 5, 6, 3}, "scan");
  here([&] { (void)conv3d(scan, constant(tensor<float>({2, 3, 3, 3, 4}))); });
  here([&] { (void)max_pool3d(scan), avg_pool3d(scan); });
  here([&] { (void)max_pool1d(line), avg_pool1d(line); });
  here([&] { (void)global_max_pool(image), global_avg_pool(image); });
  here([&] { (void)adaptive_max_pool(image, {3, 4}), adaptive_avg_pool(image, {4, 3}); });
  here([&] { (void)resize_nearest(image, {4, 4}), resize_bilinear(image, {4, 4}); });
  here([&] { (void)group_norm(image, three, three, {.groups = 1}); });
  here([&] { (void)group_norm(line, three, three, {.groups = 3}); });
  here([&] { (void)instance_norm(image, three, three); });
}

TEST_CASE_METHOD(fixture, "updates of rows stand where they are written") {
  here([&] { (void)scatter_update(w, index, 1.0f), scatter_add(w, index, 1.0f), scatter_sub(w, index, 1.0f); });
  here([&] { (void)scatter_mul(w, index, 1.0f), scatter_div(w, index, 1.0f, {.axis = 1}); });
  here([&] { (void)scatter_min(w, index, 1.0f), scatter_max(w, index, 1.0f); });
  const expr<float> two = placeholder<float>({2}, "two");
  here([&] { (void)scatter_nd_update(w, places, two); });
  here([&] { (void)scatter_nd_add(w, places, two), scatter_nd_sub(w, places, two); });
}

TEST_CASE_METHOD(fixture, "bits stand where they are written") {
  here([&] { (void)bitwise_and(numbers, 1), bitwise_or(numbers, index), bitwise_xor(1, numbers); });
  here([&] { (void)left_shift(numbers, 2), right_shift(numbers, index); });
  here([&] { (void)bitwise_not(numbers), population_count(numbers); });
}

TEST_CASE_METHOD(fixture, "what takes its shape from the run stands where it is written") {
  const expr<int> two = placeholder<int>({2}, "two");
  here([&] { (void)reshape(x, two), broadcast_to(x, two), tile(x, two); });
  here([&] { (void)slice(x, two, two), slice(x, two, {1, 2}), slice(x, {0, 0}, two); });
  here([&] { (void)strided_slice(x, two, two, two), strided_slice(x, two, two); });
  here([&] { (void)split<2>(x, two), split(x, two); });
  here([&] { (void)fill(two, 1.0f), fill(two, index), zeros<float>(two), ones<int>(two); });
  here([&] { (void)range(index), range(1, index), range(index, 9, 2); });
  here([&] { (void)meshgrid(three, numbers), batch_gather(x, places); });
}

TEST_CASE_METHOD(fixture, "queues of each kind stand where they are made") {
  here([&] { (void)fifo_queue<int>({}); });
  here([&] { (void)padding_fifo_queue<int>({.shapes = {{}}}); });
  here([&] { (void)priority_queue<int>({}); });
  here([&] { (void)random_shuffle_queue<int>({}); });
}

TEST_CASE_METHOD(fixture, "groups, ops of a user's own and places stand where they are written") {
  const auto a = no_op(), b = no_op();
  here([&] { (void)group(a, b); });
  here([&] { (void)group({a, b}); });
  here([&] { (void)group(a, assign_add(step, 1), w.initializer()); });
  here([&] { (void)call<own::scaled>(x); });
  here([&] { (void)call<own::scaled>({{"by", 3.0}}, x); });
  here([&] { (void)call<own::scaled, float>(x); });
  here([&] { (void)place<"/cpu:0">(x); });
  here([&] { (void)place<"/cpu:0">(multiply(x, y)); });
  here([&] { (void)place<"/cpu:0">(variable(1.0f)); });
  here([&] { (void)static_cluster<job<"ps", 2>>::place<"/job:ps/task:1">(x); });
}

TEST_CASE_METHOD(fixture, "the nodes of a layer stand where the layer is written") {
  here([&] { (void)nn::dense(x, 5, nn::relu, {.name = "hidden"}); });
  here([&] { (void)nn::dense(x, 5, [](auto h) { return tanh(h) * 2.0f; }); });
  here([&] { (void)nn::dense(x, 5); });
  here([&] { (void)nn::conv2d(image, 4, {3, 3}, nn::elu); });
  here([&] { (void)nn::conv2d(image, 4, {3, 3}); });
  here([&] { (void)nn::depthwise_conv2d(image, {3, 3}, nn::relu); });
  here([&] { (void)nn::depthwise_conv2d(image, {3, 3}); });
  here([&] { (void)nn::conv2d_transpose(image, 4, {3, 3}, nn::elu); });
  here([&] { (void)nn::conv2d_transpose(image, 4, {3, 3}); });
  here([&] { (void)nn::conv1d(line, 4, 3, nn::relu); });
  here([&] { (void)nn::conv1d(line, 4, 3); });
  here([&] { (void)nn::group_norm(image, {.groups = 1}), nn::instance_norm(image); });
  here([&] { (void)nn::split_dense(x, 4, {"/cpu:0", "/cpu:0"}, nn::softplus); });
  here([&] { (void)nn::split_feed_forward(x, 4, {"/cpu:0", "/cpu:0"}, nn::softplus); });
  here([&] { (void)nn::split_multi_head_attention(line, {"/cpu:0"}, {.heads = 3}); });
  here([&] { (void)nn::batch_norm(x, {.training = true}); });
  here([&] { (void)nn::batch_norm(x, {.training = flag}); });
  here([&] { (void)nn::update_ops(); });
  here([&] { (void)nn::dropout(x, {.training = true}); });
  here([&] { (void)nn::dropout(x, {.training = flag}); });
  here([&] { (void)dropout(x, {.rate = .3}); });
  here([&] { (void)nn::embedding(numbers, 10, 4); });
  here([&] { (void)nn::embedding(numbers, 10, 4, {.partition = fixed_size_partitioner{3}}); });
  here([&] { (void)nn::sigmoid(x); });
  here([&] { (void)nn::training_flag(flag).choose([&] { return x; }, [&] { return y; }); });
}

TEST_CASE_METHOD(fixture, "variables in parts stand where they are written") {
  const partitioned_variable_options in_three{.partition = fixed_size_partitioner{3}};
  here([&] { (void)partitioned_variable<float>({7, 2}, nn::glorot_uniform_initializer(), in_three); });
  here([&] { (void)partitioned_variable(zeros<float>({7, 2}), in_three); });
  here([&] { (void)partitioned_variable(tensor<float>({7, 2}), in_three); });
  const partitioned_variable table(tensor<float>({7, 2}), in_three);
  here([&] { (void)gather(table, numbers); });
  here([&] { (void)gather(table, index, {.axis = 1}); });
  const control_dependencies after{table.initializer()};
  here([&] { (void)table.read(); });
}

TEST_CASE_METHOD(fixture, "control flow stands where it is written, and its bodies where theirs are") {
  const auto doubled = [&] { return x * 2.0f; };
  const auto product = [&] { return x * y; };
  here([&] { (void)cond(flag, doubled, product); });
  const auto one = [] { return 1.0f; };
  const auto two = [] { return 2.0f; };
  here([&] { (void)cond(flag, one, two); });
  const auto more = [&] { return assign_add(step, step); };
  const auto as_it_is = [&] { return step.read(); };
  here([&] { (void)cond(flag, more, as_it_is); });
  const auto chosen = cond(flag, doubled, product);
  here([&] { (void)gradients(chosen, x); });
  const auto goes_on = [](auto i, auto) { return i < 10; };
  const auto body = [&](auto i, auto s) { return std::tuple{i + 1, s * y}; };
  here([&] { (void)while_loop(goes_on, body, 0, x); });
  here([&] { (void)while_loop({.maximum_iterations = 3}, goes_on, body, index, x); });
  here([&] { (void)while_loop([](auto i) { return i < 10; }, [](auto i) { return i + 1; }, 0); });
  const auto [i, s] = while_loop(goes_on, body, 0, x);
  const auto last = s;
  here([&] { (void)gradients(last, x); });
}

TEST_CASE_METHOD(fixture, "operators, which cannot say where they stand, stand by their operands") {
  const node_id first = g.size();
  const auto sum = x + y * 2.0f;
  const auto same = truth == true;
  CHECK(to_string(same.node().where) == to_string(truth.node().where));
  CHECK(to_string(sum.node().where) == to_string(y.node().where));
  CHECK(elsewhere(g, first, {__FILE__, 0}) == "");
}
