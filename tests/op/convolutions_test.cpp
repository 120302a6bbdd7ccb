// Convolutions in groups, along sequences and transposed, pools of sequences and of whole images, as a user writes
// them.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include <pinion/session.hpp>

#include "support/caught.hpp"
#include "support/kernel_bench.hpp"
#include "support/own_session.hpp"
#include "support/tensor_text.hpp"

namespace {

using namespace pinion;
using kernel_bench::numbers;
using kernel_bench::random;

using list_of_convolutions = std::vector<double>;

// The part of a tensor that has `size` neighbours along the last axis, from `first` on.
template <class A>
auto channels_from(const A& x, std::int64_t first, std::int64_t size) {
  return slice(x, {0, 0, 0, first}, {-1, -1, -1, size});
}

template <class T>
std::vector<double> as_list(const tensor<T>& t) {
  return numbers(t.untyped());
}

bool are_close(const std::vector<double>& a, const std::vector<double>& b, double margin) {
  if (a.size() != b.size() || a.empty()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!(std::abs(a[i] - b[i]) <= margin)) return false;
  return true;
}

}  // namespace

TEMPLATE_TEST_CASE("groups are convolutions of parts of the channels", "", float, double) {
  own_session s;
  const expr<TestType> x = constant(tensor<TestType>(random<TestType>({2, 5, 4, 6}))),
                       f = constant(tensor<TestType>(random<TestType>({3, 2, 2, 9}, 1)));
  const auto whole = conv2d(x, f, {.padding = padding::same, .groups = 3});
  std::vector<expr<TestType>> parts;
  for (std::int64_t k = 0; k < 3; ++k)
    parts.push_back(conv2d(channels_from(x, 2 * k, 2), channels_from(f, 3 * k, 3), {.padding = padding::same}));
  const auto joined = concat(parts, 3);
  CHECK(whole.shape() == shape{2, 5, 4, 9});
  CHECK(are_close(as_list(s.sess.run(whole)), as_list(s.sess.run(joined)), 1e-5));
  const auto of_whole = gradients(reduce_sum(square(whole)), x, f);
  const auto of_parts = gradients(reduce_sum(square(joined)), x, f);
  CHECK(are_close(as_list(s.sess.run(std::get<0>(of_whole))), as_list(s.sess.run(std::get<0>(of_parts))), 1e-4));
  CHECK(are_close(as_list(s.sess.run(std::get<1>(of_whole))), as_list(s.sess.run(std::get<1>(of_parts))), 1e-4));
}

TEST_CASE_METHOD(own_session, "channel c * multiplier + m of a depthwise convolution is filter m of channel c") {
  // Two channels of two pixels in a row, and two filters each of one element.
  const auto x = constant(tensor<float>(kernel_bench::of<float>({1, 1, 2, 2}, {1, 10, 2, 20})));
  const auto f = constant(tensor<float>(kernel_bench::of<float>({1, 1, 2, 2}, {1, 2, 3, 4})));
  const auto y = depthwise_conv2d(x, f);
  CHECK(y.shape() == shape{1, 1, 2, 4});
  CHECK(as_list(sess.run(y)) == list_of_convolutions{1, 2, 30, 40, 2, 4, 60, 80});
  CHECK(y.op() == "Conv2D");
  const auto row = constant(tensor<float>(kernel_bench::of<float>({1, 2, 2, 1}, {1, 2, 3, 4})));
  CHECK(as_list(sess.run(depthwise_conv2d(x, row))) == list_of_convolutions{1 * 1 + 2 * 3, 10 * 2 + 20 * 4});
}

TEST_CASE("groups that do not fit are refused with a sentence") {
  own_session s;
  const auto x = placeholder<float>({unknown, 8, 8, 4}, "x"), any = placeholder<float>(shape::any(), "any");
  const auto f = zeros<float>({3, 3, 2, 6});
  CHECK(failure([&] { conv2d(x, f); }) ==
        "invalid_argument: images of shape [?, 8, 8, 4] have 4 channels, but filters of shape [3, 3, 2, 6] take 2");
  CHECK(failure([&] { conv2d(x, f, {.groups = 4}); }) ==
        "invalid_argument: images of shape [?, 8, 8, 4] have 4 channels, but filters of shape [3, 3, 2, 6] take 2 in "
        "each of 4 groups");
  CHECK(failure([&] {
          conv2d(x, zeros<float>({3, 3, 2, 5}), {.groups = 2});
        }).find("make 5 channels") != std::string::npos);
  CHECK(failure([&] { conv2d(x, f, {.groups = 0}); }) ==
        "invalid_argument: a convolution of 0 groups; it has 1 or more");
  CHECK(conv2d(any, f, {.groups = 2}).shape()[3] == 6);
  CHECK(failure([&] { depthwise_conv2d(x, f); }).find("for as many channels as the images have") != std::string::npos);
  CHECK(failure([&] { depthwise_conv2d(x, any); }).find("of known extents") != std::string::npos);
  CHECK(failure([&] {
          s.sess.run({{any, tensor<float>(shape{1, 4, 4, 3})}}, conv2d(any, f, {.groups = 2}));
        }).find("have 3 channels") != std::string::npos);
}

TEST_CASE_METHOD(own_session, "a transposed convolution spreads its elements, in sizes that follow from strides") {
  const auto x = constant(tensor<double>(kernel_bench::of<double>({1, 1, 2, 1}, {1, 10})));
  const auto f = constant(tensor<double>(kernel_bench::of<double>({1, 3, 1, 1}, {1, 2, 3})));
  CHECK(as_list(sess.run(conv2d_transpose(x, f))) == list_of_convolutions{1, 12, 23, 30});
  CHECK(as_list(sess.run(conv2d_transpose(x, f, {.strides = {1, 2}}))) == list_of_convolutions{1, 2, 13, 20, 30});
  CHECK(as_list(sess.run(conv2d_transpose(x, f, {.strides = {1, 2}, .padding = padding::same}))) ==
        list_of_convolutions{1, 2, 13, 20});
  CHECK(as_list(sess.run(conv2d_transpose(x, f, {.strides = {1, 4}}))) ==
        list_of_convolutions{1, 2, 3, 0, 10, 20, 30, 0});
  CHECK(as_list(sess.run(conv2d_transpose(x, f, {.strides = {1, 2}, .sizes = {{1, 6}}}))) ==
        list_of_convolutions{1, 2, 13, 20, 30, 0});
  CHECK(as_list(sess.run(conv2d_transpose(x, f, {1, 1, 6, 1}, {.strides = {1, 2}}))) ==
        list_of_convolutions{1, 2, 13, 20, 30, 0});
}

TEST_CASE_METHOD(own_session, "a transposed convolution takes images of unknown number and size, and none at all") {
  const auto x = placeholder<float>({unknown, unknown, unknown, 3}, "x");
  const auto f = constant(tensor<float>(random<float>({3, 3, 2, 3})));
  const auto y = conv2d_transpose(x, f, {.strides = {2, 2}, .padding = padding::same});
  CHECK(y.shape() == shape{unknown, unknown, unknown, 2});
  const auto [dx, df] = gradients(reduce_sum(y), x, f);
  const auto [value, by_x] = sess.run({{x, tensor<float>(shape{2, 3, 4, 3})}}, y, dx);
  CHECK(value.shape() == shape{2, 6, 8, 2});
  CHECK(by_x.shape() == shape{2, 3, 4, 3});
  const auto [none, by_f] = sess.run({{x, tensor<float>(shape{0, 3, 4, 3})}}, y, df);
  CHECK(none.shape() == shape{0, 6, 8, 2});
  CHECK(as_list(by_f) == list_of_convolutions(54));
  CHECK(conv2d_transpose(x, f, {unknown, 5, 7, 2}, {.strides = {2, 2}, .padding = padding::same}).shape() ==
        shape{unknown, 5, 7, 2});
  const auto known = placeholder<float>({unknown, 3, 4, 3}, "known"), thin = placeholder<float>({1, 3, 4, 2}, "thin");
  CHECK(failure([&] {
          conv2d_transpose(known, f, {.sizes = {{9, 9}}});
        }).find("does not yield images of shape") != std::string::npos);
  CHECK(failure([&] {
          conv2d_transpose(known, f, {unknown, 5, 6, 8});
        }).find("channels of the filters' third axis") != std::string::npos);
  CHECK(failure([&] { conv2d_transpose(thin, f); }).find("does not yield images") != std::string::npos);
}

TEST_CASE_METHOD(own_session, "sequences are convolved and pooled along their length") {
  const auto x = placeholder<float>({unknown, unknown, 1}, "x");
  const auto f = constant(tensor<float>(kernel_bench::of<float>({2, 1, 1}, {1, 10})));
  const auto feed = [&](std::initializer_list<float> values) {
    return tensor<float>(kernel_bench::of<float>({1, static_cast<std::int64_t>(values.size()), 1}, values));
  };
  const auto five = feed({1, 2, 3, 4, 5});
  CHECK(conv1d(x, f).shape() == shape{unknown, unknown, 1});
  CHECK(as_list(sess.run({{x, five}}, conv1d(x, f))) == list_of_convolutions{21, 32, 43, 54});
  CHECK(as_list(sess.run({{x, five}}, conv1d(x, f, {.stride = 2, .padding = padding::same}))) ==
        list_of_convolutions{21, 43, 5});
  CHECK(as_list(sess.run({{x, five}}, conv1d(x, f, {.dilation = 3}))) == list_of_convolutions{41, 52});
  CHECK(as_list(sess.run({{x, five}}, max_pool1d(x))) == list_of_convolutions{2, 4});
  CHECK(as_list(sess.run({{x, five}}, max_pool1d(x, {.ceil_mode = true}))) == list_of_convolutions{2, 4, 5});
  CHECK(as_list(sess.run({{x, five}}, avg_pool1d(x, {.window = 3, .ceil_mode = true}))) == list_of_convolutions{2, 4});
  CHECK(as_list(sess.run({{x, five}}, avg_pool1d(x, {.window = 4, .stride = 3, .ceil_mode = true}))) ==
        list_of_convolutions{2.5, 4.5});
  CHECK(sess.run({{x, tensor<float>(shape{0, 5, 1})}}, conv1d(x, f)).shape() == shape{0, 4, 1});
  const auto wide = placeholder<float>({unknown, 7, 4}, "wide");
  CHECK(conv1d(wide, zeros<float>({3, 2, 6}), {.groups = 2}).shape() == shape{unknown, 5, 6});
  const auto image = placeholder<float>({1, 4, 4, 1}, "image");
  CHECK(failure([&] { conv1d(image, f); }) ==
        "invalid_argument: conv1d of shape [1, 4, 4, 1]; it takes sequences [n, length, channels]");
  CHECK(failure([&] { max_pool1d(image); }).find("it takes sequences") != std::string::npos);
}

TEST_CASE_METHOD(own_session, "ceil_mode gives the last rows and columns a window") {
  const auto x = reshape(range(1.0f, 10.0f), {1, 3, 3, 1});
  const auto most = max_pool(x, {.ceil_mode = true});
  const auto mean = avg_pool(x, {.ceil_mode = true});
  CHECK(most.shape() == shape{1, 2, 2, 1});
  CHECK(as_list(sess.run(most)) == list_of_convolutions{5, 6, 8, 9});
  CHECK(as_list(sess.run(mean)) == list_of_convolutions{3, 4.5, 7.5, 9});
  CHECK(as_list(sess.run(std::get<0>(gradients(reduce_sum(mean), x)))) ==
        list_of_convolutions{.25, .25, .5, .25, .25, .5, .5, .5, 1});
  CHECK(max_pool(x, {.window = {1, 1}, .strides = {3, 3}, .ceil_mode = true}).shape() == shape{1, 1, 1, 1});
  CHECK(max_pool(x, {.window = {4, 4}, .ceil_mode = true}).shape() == shape{1, 1, 1, 1});
  CHECK(failure([&] { max_pool(x, {.padding = padding::same, .ceil_mode = true}); }).find("is for padding VALID") !=
        std::string::npos);
}

TEST_CASE_METHOD(own_session, "global pools reduce all axes but examples and channels") {
  const auto x = placeholder<float>({unknown, unknown, unknown, 2}, "x");
  const auto sequence = placeholder<float>({3, 5, 2}, "sequence"), rows = placeholder<float>({3, 2}, "rows");
  const tensor<float> two(kernel_bench::of<float>({1, 2, 2, 2}, {1, 10, 2, 20, 3, 30, 6, 0}));
  CHECK(global_avg_pool(x).shape() == shape{unknown, 2});
  CHECK(global_max_pool(x, {.keep_dims = true}).shape() == shape{unknown, 1, 1, 2});
  CHECK(as_list(sess.run({{x, two}}, global_avg_pool(x))) == list_of_convolutions{3, 15});
  CHECK(as_list(sess.run({{x, two}}, global_max_pool(x))) == list_of_convolutions{6, 30});
  CHECK(sess.run({{x, tensor<float>(shape{0, 2, 2, 2})}}, global_avg_pool(x)).shape() == shape{0, 2});
  CHECK(global_max_pool(sequence).shape() == shape{3, 2});
  CHECK(failure([&] { global_max_pool(rows); }) ==
        "invalid_argument: global_max_pool of shape [3, 2]; it takes [n, ..., channels] of a known rank, with an axis "
        "between");
}

TEST_CASE_METHOD(own_session, "layers of convolutions make kernels of their shapes") {
  const auto x = placeholder<float>({unknown, unknown, 8, 4}, "x"), line = placeholder<float>({unknown, 9, 4}, "line");
  const auto kernel = [&](const char* name) { return g.type_of({g.id_of(name), 0}).shape; };
  CHECK(nn::conv2d(x, 6, {3, 3}, relu, {.groups = 2, .name = "in_groups"}).shape() == shape{unknown, unknown, 6, 6});
  CHECK(kernel("in_groups/kernel") == shape{3, 3, 2, 6});
  CHECK(nn::depthwise_conv2d(x, {3, 2}, nn::relu, {.multiplier = 2, .name = "deep"}).shape() ==
        shape{unknown, unknown, 7, 8});
  CHECK(kernel("deep/kernel") == shape{3, 2, 4, 2});
  CHECK(kernel("deep/bias") == shape{8});
  CHECK(nn::conv2d_transpose(x, 5, {3, 3}, {.strides = {2, 2}, .padding = padding::same, .name = "up"}).shape() ==
        shape{unknown, unknown, 16, 5});
  CHECK(kernel("up/kernel") == shape{3, 3, 5, 4});
  CHECK(nn::conv2d_transpose(x, 5, {3, 3}, tanh, {.strides = {2, 2}}).shape() == shape{unknown, unknown, 17, 5});
  CHECK(nn::conv1d(line, 6, 3, relu, {.groups = 2, .use_bias = false, .name = "along"}).shape() ==
        shape{unknown, 7, 6});
  CHECK(kernel("along/kernel") == shape{3, 2, 6});
  CHECK(failure([&] { nn::conv1d(x, 6, 3); }) ==
        "invalid_argument: a conv1d layer of (3, 6) on 'x' of shape [?, ?, 8, 4]: it takes positive numbers, and 3 "
        "axes, the last one of a known number of channels");
  CHECK(failure([&] { nn::conv1d(line, 6, 3, {.groups = 3}); }).find("the groups divide the channels") !=
        std::string::npos);
  CHECK(failure([&] { nn::depthwise_conv2d(x, {3, 3}, {.multiplier = 0}); }).find("positive") != std::string::npos);
  CHECK(failure([&] { nn::conv2d(x, 6, {3, 3}, {.groups = 3}); }).find("have 4 channels") != std::string::npos);
}

TEST_CASE_METHOD(own_session, "a network of these layers trains on batches of any number, of none too") {
  const auto x = placeholder<float>({unknown, 6, 6, 2}, "x");
  const auto h = nn::depthwise_conv2d(x, {3, 3}, nn::relu, {.padding = padding::same, .multiplier = 2, .seed = 1});
  const auto up = nn::conv2d_transpose(h, 3, {2, 2}, {.strides = {2, 2}, .seed = 2});
  const auto y = global_avg_pool(nn::group_norm(up, {.groups = 1}));
  const auto loss = reduce_sum(square(y - 1.f));
  const auto kernel = h.owner().find("depthwise_conv2d/kernel");
  REQUIRE(kernel);
  const auto [dx] = gradients(loss, x);
  sess.run(global_variables_initializer());
  CHECK(sess.run({{x, tensor<float>(random<float>({3, 6, 6, 2}))}}, dx).shape() == shape{3, 6, 6, 2});
  CHECK(sess.run({{x, tensor<float>(shape{0, 6, 6, 2})}}, dx).shape() == shape{0, 6, 6, 2});
}
