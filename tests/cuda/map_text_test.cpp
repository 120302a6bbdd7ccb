// The text of elementwise kernels in CUDA C: the things on which it depends.
#include <catch2/catch.hpp>

#include <pinion/op/elementwise/cuda_map.hpp>

#include "cuda/every_program.hpp"
#include "cuda/map_run.hpp"

namespace {

using namespace cuda_tests;

scalar::program scaled(double by) {
  scalar::program p;
  p.arithmetic = dtype::float32;
  const auto x = p.emit_input(false);
  const auto y = p.emit(scalar::opcode::multiply, x, p.emit_literal(by));
  p.results.push_back({y, dtype::float32});
  return p;
}
scalar::program sum() {
  return scalar::executable(*laws::map_program("Add", dtype::float32));
}
std::string text_over(std::vector<shape> inputs) {
  return map_run(sum(), inputs).text("map");
}

}  // namespace

TEST_CASE("literals are arguments: another value has the same text, and other bytes in its launch") {
  const map_run half(scaled(.5), {{8}}), third(scaled(.3), {{8}});
  CHECK(half.text("map") == third.text("map"));
  CHECK(half.launch().argument != third.launch().argument);
}

TEST_CASE("extents are arguments: another batch size has the same text") {
  CHECK(text_over({{64, 32}, {32}}) == text_over({{96, 32}, {32}}));
  CHECK(text_over({{64, 32}, {32}}) == text_over({{96, 160}, {160}}));
  CHECK(text_over({{64, 32}, {64, 32}}) == text_over({{1001}, {1001}}));
}

TEST_CASE("a walk with other repetitions has another text") {
  CHECK(text_over({{64, 32}, {32}}) != text_over({{64, 32}, {64, 1}}));
  CHECK(text_over({{64, 32}, {32}}) != text_over({{64, 32}, {64, 32}}));
}

TEST_CASE("a thread takes 16 bytes of the largest elements, and less where rows or addresses do not fit") {
  const auto width = [](const char* op, dtype type, std::vector<shape> inputs, bool is_aligned = true) {
    return map_run(scalar::executable(*laws::map_program(op, type)), inputs, is_aligned).form().width;
  };
  CHECK(width("Add", dtype::float32, {{64}, {64}}) == 4);
  CHECK(width("Add", dtype::float64, {{64}, {64}}) == 2);
  CHECK(width("Add", dtype::uint8, {{64}, {64}}) == 16);
  CHECK(width("Less", dtype::float32, {{64}, {64}}) == 4);
  CHECK(width("Add", dtype::float32, {{63}, {63}}) == 4);
  CHECK(width("Add", dtype::float32, {{8, 6}, {6}}) == 2);
  CHECK(width("Add", dtype::float32, {{8, 7}, {7}}) == 1);
  CHECK(width("Add", dtype::float32, {{64}, {64}}, false) == 1);
}

TEST_CASE("more than 2^31 elements take indices of 64 bits") {
  const scalar::program p = sum();
  const auto is_wide = [&](const shape& s) {
    const std::vector<const void*> nowhere(3);
    return op::cuda_form_of(p, broadcast_walk(s, {s, s, s}), nowhere).is_wide;
  };
  CHECK(!is_wide({(std::int64_t{1} << 31) - 1}));
  CHECK(is_wide({std::int64_t{1} << 31}));
}

TEST_CASE("constants read back as the same number") {
  const auto text_of = [](double value) {
    scalar::program p;
    p.arithmetic = dtype::float32;
    p.results.push_back({p.emit_constant(value), dtype::float32});
    const std::string text = scalar::cuda_element(p);
    const auto at = text.find("v0 = ") + 5;
    return text.substr(at, text.find(';', at) - at);
  };
  CHECK(text_of(1) == "1.f");
  CHECK(text_of(0.1) == "0.1f");
  CHECK(text_of(-0.0) == "-0.f");
  CHECK(text_of(1e30) == "1e+30f");
  CHECK(text_of(INFINITY) == "__int_as_float(0x7f800000)");
}

TEST_CASE("the text of a kernel is readable") {
  const map_run run(sum(), {{64, 32}, {32}});
  CHECK(run.text("add_rows") == R"(
namespace pinion { namespace add_rows {

typedef unsigned index;

typedef lane<float> number;

PINION_DEVICE void element(const float x0, const float x1, const float* literal, float& y0) {
  const number v0 = x0;
  const number v1 = x1;
  const number v2 = v0 + v1;
  v2.put(y0);
}

struct argument {
  const float* in0;
  const float* in1;
  float* out0;
  index vectors;
  divisor extent1;
};

// Computes the elements from at * Count on.
template <int Count> PINION_DEVICE void compute(const argument& a, const index at) {
  const index rest1 = quotient(at, a.extent1);
  const index i1 = at - rest1 * a.extent1.extent;
  const pack<float, Count> x0 = load<Count>(a.in0 + at * Count);
  const pack<float, Count> x1 = load<Count>(a.in1 + (i1 * Count));
  pack<float, Count> y0;
#pragma unroll
  for (int i = 0; i < Count; ++i) element(x0.at[i], x1.at[i], nullptr, y0.at[i]);
  store<Count>(a.out0 + at * Count, y0);
}

extern "C" __global__ void __launch_bounds__(256) add_rows(const __grid_constant__ argument a) {
  const index first = blockIdx.x * index(256) + threadIdx.x, step = gridDim.x * index(256);
  for (index at = first; at < a.vectors; at += step) compute<4>(a, at);
}

}}  // namespace
)");
}
