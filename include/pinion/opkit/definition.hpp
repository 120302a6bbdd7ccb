// What the library knows of an op before it runs: the contract that every op in op/<family>/op.hpp fulfils.
//
//   struct matmul {
//     static constexpr std::string_view name = "MatMul";          // as in TensorFlow
//     static constexpr input_count inputs = 2;                     // or at_least(1), or by_program
//     static constexpr kernel_set kernels{.cpu = …, .gpu = …};     // a law checks that each is there
//     static void infer(shape_context&);                           // types and shapes of the outputs, or fail
//     static void gradient(gradient_context&);                     // or: static constexpr std::string_view no_gradient
//     static constexpr bool stateful = true;                       // if running it twice is not the same as once
//     static constexpr int states = 1;  // how many of the first inputs are states that it works on, if any
//     static constexpr int reads = 1;   // how many of the first inputs it reads the elements of, if not all: of the
//                                       // others it takes the shape
//     static constexpr bool on_host = true;  // if it computes on the CPU of whatever task a request names
//     static constexpr bool heeds_guards = true;  // if guards around it count, although it works on a resource
//     static constexpr bool metadata = true;  // if it tells of its first input without reading it: stays near it
//     static dtype key(const node&);       // the dtype that selects the kernel, if not output 0's
//     static double work(const work_context&);  // operations it takes, if not one for each element it yields
//   };
#pragma once

#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/graph/node.hpp>
#include <pinion/opkit/kernel_set.hpp>

namespace pinion { inline namespace v0 {

class shape_context;
class gradient_context;
class work_context;

// How many inputs an op takes.
struct input_count {
  int least = 0, most = 0;

  constexpr input_count() = default;
  constexpr input_count(int exactly) : least(exactly), most(exactly) {}
  constexpr input_count(int from, int to) : least(from), most(to) {}
  constexpr bool says_program() const { return most < 0; }
};
constexpr input_count at_least(int least) {
  return {least, 1 << 20};
}
inline constexpr input_count by_program{0, -1};  // as many as the scalar program in its attribute "program"
inline constexpr int states_of_attribute = -1;   // as its attribute "states" says

struct definition {
  std::string_view name;
  input_count inputs;
  kernel_set kernels;
  bool stateful = false;
  bool on_host = false;
  bool heeds_guards = false;
  bool metadata = false;
  int states = 0;
  int reads = 1 << 20;
  void (*infer)(shape_context&) = nullptr;
  void (*gradient)(gradient_context&) = nullptr;
  std::string_view no_gradient;  // why there is none, where gradient is null
  dtype (*key)(const node&) = nullptr;
  double (*work)(const work_context&) = nullptr;
};

// Has a node of an op that many inputs? Throws invalid_argument: "MatMul takes 2 inputs, not 3".
void check_input_count(const definition& def, const node& n);

// How many of the first inputs of a node are states: references that it writes, or resources. Requires: inputs as its
// op takes them.
int states_of(const definition& def, const node& n);

namespace detail {
inline dtype key_of_first_output(const node& n) {
  return n.outputs.empty() || n.outputs[0].resource ? dtype::invalid : n.outputs[0].dtype;
}
}  // namespace detail

template <class Op>
constexpr definition define() {
  definition d;
  d.name = Op::name;
  d.inputs = Op::inputs;
  d.kernels = Op::kernels;
  d.infer = &Op::infer;
  d.key = &detail::key_of_first_output;
  if constexpr (requires { Op::stateful; }) d.stateful = Op::stateful;
  if constexpr (requires { Op::on_host; }) d.on_host = Op::on_host;
  if constexpr (requires { Op::heeds_guards; }) d.heeds_guards = Op::heeds_guards;
  if constexpr (requires { Op::metadata; }) d.metadata = Op::metadata;
  if constexpr (requires { Op::states; }) d.states = Op::states;
  if constexpr (requires { Op::reads; }) d.reads = Op::reads;
  if constexpr (requires(gradient_context & c) { Op::gradient(c); }) d.gradient = &Op::gradient;
  if constexpr (requires { Op::no_gradient; }) d.no_gradient = Op::no_gradient;
  if constexpr (requires(const node& n) { Op::key(n); }) d.key = &Op::key;
  if constexpr (requires(const work_context& c) { Op::work(c); }) d.work = &Op::work;
  return d;
}

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/opkit/definition.ipp>
#endif
