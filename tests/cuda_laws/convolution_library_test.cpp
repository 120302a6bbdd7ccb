// Convolutions on a GPU by cuDNN, for which a stand-in is opened.
#include <catch2/catch.hpp>

#include "cuda_laws/values_on.hpp"

#if __has_include(<cudnn.h>)
#include <pinion/op/conv/cudnn.hpp>

namespace {

namespace pn = pinion;
using cuda_tests::values_on, cuda_tests::world;

// The convolutions that the stand-in for cuDNN has run.
int runs_of_library() {
  const pn::cuda::shared_library library({"libcudnn.so." + std::to_string(CUDNN_MAJOR)});
  const auto count = library.symbol<int()>("fake_cudnn_calls");
  return count ? count() : 0;
}

// Elements so small and few that every sum is exact.
pn::any_tensor some_elements(pn::dtype type, const pn::shape& extent) {
  pn::any_tensor t(type, extent);
  pn::visit_plain(type, [&]<class T>() {
    for (std::int64_t i = 0; i < t.count(); ++i) t.data<T>()[i] = static_cast<T>(i * 7 % 23 - 11);
  });
  return t;
}

struct geometry {
  pn::shape images, filters;
  std::string padding;
  std::int64_t stride, dilation;
};

const geometry geometries[] = {{{1, 1, 1, 1}, {1, 1, 1, 1}, "VALID", 1, 1}, {{2, 5, 6, 3}, {3, 2, 3, 4}, "VALID", 1, 1},
                               {{2, 8, 8, 3}, {2, 2, 3, 5}, "SAME", 1, 1},  {{2, 9, 7, 3}, {4, 3, 3, 5}, "SAME", 2, 1},
                               {{1, 9, 9, 2}, {2, 3, 2, 3}, "SAME", 1, 2},  {{3, 8, 10, 2}, {3, 3, 2, 4}, "SAME", 2, 1},
                               {{1, 5, 5, 2}, {1, 1, 2, 3}, "SAME", 3, 1}};

// The op with operands of a geometry, in the order that it takes them.
laws::call call_of(pn::op::detail::conv_pass pass, pn::dtype type, const geometry& g) {
  using pn::op::detail::conv_pass;
  const pn::attributes attrs{{"padding", g.padding},
                             {"strides", pn::integers{g.stride, g.stride}},
                             {"dilations", pn::integers{g.dilation, g.dilation}}};
  const pn::any_tensor x = some_elements(type, g.images), f = some_elements(type, g.filters),
                       dy = some_elements(type, pn::op::detail::convolved(attrs, g.images, g.filters));
  if (pass == conv_pass::forward) return {"Conv2D", {x, f}, {}, attrs};
  if (pass == conv_pass::by_images) return {"Conv2DBackpropInput", {dy, f, x}, {}, attrs};
  return {"Conv2DBackpropFilter", {x, dy, f}, {}, attrs};
}

// The kind of math of its last one.
cudnnMathType_t last_math_of_library() {
  const pn::cuda::shared_library library({"libcudnn.so." + std::to_string(CUDNN_MAJOR)});
  return library.symbol<cudnnMathType_t()>("fake_cudnn_last_math")();
}

bool agrees_with_host(pn::graph& g, const laws::call& c, const pn::gpu_options& gpu = {}) {
  pn::session sess({.gpu = gpu});
  return laws::same_bits(values_on("/gpu:0", g, c, sess)[0], values_on("/cpu:0", g, c, sess)[0]);
}

}  // namespace

TEST_CASE_METHOD(world, "the library convolves, whose paddings, filters and images of doubles are laid out otherwise",
                 "[stand-in]") {
  using pn::op::detail::conv_pass;
  for (const pn::dtype type : {pn::dtype::float32, pn::dtype::float64})
    for (const geometry& of : geometries)
      for (const conv_pass pass : {conv_pass::forward, conv_pass::by_images, conv_pass::by_filters}) {
        if (type == pn::dtype::float64 && of.dilation > 1) continue;
        INFO("pass " << static_cast<int>(pass) << " of images " << to_string(of.images) << " and filters "
                     << to_string(of.filters) << ", " << of.padding << ", " << to_string(type));
        const laws::call c = call_of(pass, type, of);
        const int before = runs_of_library();
        CHECK(agrees_with_host(g, c));
        CHECK(runs_of_library() == before + 1);
      }
  CHECK(fake_cuda::take_misuses().empty());
}

TEST_CASE_METHOD(world, "the library convolves one group of channels after the other", "[stand-in]") {
  using pn::op::detail::conv_pass;
  const geometry in_groups{{2, 5, 6, 6}, {3, 2, 2, 9}, "SAME", 1, 1};
  for (const pn::dtype type : {pn::dtype::float32, pn::dtype::float64})
    for (const conv_pass pass : {conv_pass::forward, conv_pass::by_images, conv_pass::by_filters}) {
      INFO("pass " << static_cast<int>(pass) << " of " << to_string(type));
      const int before = runs_of_library();
      CHECK(agrees_with_host(g, call_of(pass, type, in_groups)));
      CHECK(runs_of_library() == before + 3);
    }
  CHECK(fake_cuda::take_misuses().empty());
}

TEST_CASE_METHOD(world, "floats are convolved in full precision unless the session's options say otherwise",
                 "[stand-in]") {
  using enum pn::product_precision;
  const laws::call c = call_of(pn::op::detail::conv_pass::by_filters, pn::dtype::float32, geometries[2]);
  const auto math = [&](const pn::gpu_options& o) {
    CHECK(agrees_with_host(g, c, o));
    return last_math_of_library();
  };
  CHECK(math({}) == CUDNN_FMA_MATH);
  CHECK(math({.float_products = tensor_float_32}) == CUDNN_TENSOR_OP_MATH);
  CHECK(math({.float_products = bfloat16}) == CUDNN_TENSOR_OP_MATH);
  CHECK(math({}) == CUDNN_FMA_MATH);
}

TEST_CASE_METHOD(world, "where the library refuses, convolutions go on without it", "[stand-in]") {
  const laws::call c = call_of(pn::op::detail::conv_pass::forward, pn::dtype::float64, geometries[4]);
  const int before = runs_of_library();
  CHECK(agrees_with_host(g, c));
  CHECK(runs_of_library() == before);
}

TEST_CASE_METHOD(world, "the library has an algorithm for each pass of floats and doubles, and says which") {
  using pn::op::detail::conv_pass;
  if (!pn::op::detail::convolutions_library().is_there()) return;
  const pn::cuda::image_axis axis{32, 32, 3, 1, 1, 1};
  for (const pn::dtype type : {pn::dtype::float32, pn::dtype::float64})
    for (const conv_pass pass : {conv_pass::forward, conv_pass::by_images, conv_pass::by_filters}) {
      INFO("pass " << static_cast<int>(pass) << " of " << to_string(type));
      const auto plan = pn::op::detail::convolutions_library().find(
          {pass, type, {8, 16, 32, axis, axis}, pn::product_precision::full});
      REQUIRE(plan);
      WARN("cuDNN takes its algorithm " << plan->algorithm() << " with " << plan->workspace() << " bytes of memory");
    }
}
#endif
