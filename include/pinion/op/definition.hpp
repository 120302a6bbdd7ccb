// What the library knows of an op before it runs: the contract that every op in op/<family>/op.hpp fulfils.
//
//   struct matmul {
//     static constexpr std::string_view name = "MatMul";          // as in TensorFlow
//     static constexpr kernel_set kernels{.cpu = …, .gpu = …};     // a law checks that each is there
//     static void infer(shape_context&);                           // types and shapes of the outputs, or fail
//     static void gradient(gradient_context&);                     // or: static constexpr std::string_view no_gradient
//     static constexpr bool stateful = true;                       // if running it twice is not the same as once
//     static dtype key(const node&);       // the dtype that selects the kernel, if not output 0's
//     static double work(const work_context&);  // operations it takes, if not one for each element it yields
//   };
#pragma once

#include <string_view>

#include <pinion/graph/node.hpp>
#include <pinion/op/kernel_set.hpp>

namespace pinion::inline v0 {

class shape_context;
class gradient_context;
class work_context;

struct definition {
  std::string_view name;
  kernel_set kernels;
  bool stateful = false;
  void (*infer)(shape_context&) = nullptr;
  void (*gradient)(gradient_context&) = nullptr;
  std::string_view no_gradient;  // why there is none, where gradient is null
  dtype (*key)(const node&) = nullptr;
  double (*work)(const work_context&) = nullptr;
};

namespace detail {
inline dtype key_of_first_output(const node& n) {
  return n.outputs.empty() ? dtype::invalid : n.outputs[0].dtype;
}
}  // namespace detail

template <class Op>
constexpr definition define() {
  definition d;
  d.name = Op::name;
  d.kernels = Op::kernels;
  d.infer = &Op::infer;
  d.key = &detail::key_of_first_output;
  if constexpr (requires { Op::stateful; }) d.stateful = Op::stateful;
  if constexpr (requires(gradient_context & c) { Op::gradient(c); }) d.gradient = &Op::gradient;
  if constexpr (requires { Op::no_gradient; }) d.no_gradient = Op::no_gradient;
  if constexpr (requires(const node& n) { Op::key(n); }) d.key = &Op::key;
  if constexpr (requires(const work_context& c) { Op::work(c); }) d.work = &Op::work;
  return d;
}

}  // namespace pinion::inline v0
