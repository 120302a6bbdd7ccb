// The definition of an op: everything that the library knows of it before it runs. Each struct in op/<family>/op.hpp,
// and each op that a user writes, has the first three members and `infer`, and may have the others.
//
//   struct matmul {
//     static constexpr std::string_view name = "MatMul";          // as in TensorFlow
//     static constexpr input_count inputs = 2;                     // or at_least(1), or by_program
//     static constexpr kernel_set kernels{.cpu = …, .gpu = …};     // a law checks that each is there
//     static constexpr attribute_list attrs{attr::flag("transpose_a").optional(), …};  // default: any. A node with
//                                             // another, of another kind or size, is refused before `infer` sees it
//     static void infer(shape_context&);                           // types and shapes of the outputs, or fail
//     static void gradient(gradient_context&);                     // or: static constexpr std::string_view no_gradient
//     static constexpr bool stateful = true;  // running it twice differs from running it once
//     static constexpr int states = 1;        // the first inputs that are states it works on; default: 0
//     static constexpr int reads = 1;         // the first inputs whose elements it reads; default: all. Of the other
//                                             // inputs it takes the shape
//     static constexpr bool bears_changing_inputs = true;  // its kernel reads each element for its value alone, and
//                                             // so may read memory that another process changes (tensor/lent.hpp): how
//                                             // far it reads, and where it writes, follows from shapes, attributes and
//                                             // integers, which are never lent. Other kernels get copies
//     static constexpr bool on_host = true;   // it computes on the CPU of the task that its request names
//     static constexpr bool heeds_guards = true;  // guards apply to it, although it works on a resource
//     static constexpr bool rewrite = true;  // only the optimization of a step makes its nodes: a client has none
//     static constexpr bool metadata = true;  // it tells about its first input without reading it, and stays near it
//     static constexpr bool hands_on = true;  // it yields what is there, and touches no element
//     static constexpr bool yields_infinity = true;  // one that it makes of finite numbers, as of none, is meant
//     static dtype key(const node&);          // the dtype that selects the kernel; default: that of output 0
//     static double work(const work_context&);  // operations it takes; default: one for each element it yields
//     static constexpr std::string_view gpu_library = "cuBLASLt";  // of NVIDIA's, which computes it where it is there,
//     static constexpr std::string_view without_library = "in tiles";  // and how a GPU computes it where it is not
//     static constexpr std::string_view no_replay = "…";  // why its CUDA kernel is not recorded; default: it is
//   };
#pragma once

#include <concepts>
#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/graph/node.hpp>
#include <pinion/opkit/attribute_list.hpp>
#include <pinion/opkit/kernel_set.hpp>

namespace pinion { inline namespace v0 {

class shape_context;
class gradient_context;
class work_context;

// The number of inputs that an op takes: exactly n, a range, at_least(n), or by_program.
//
//   static constexpr pn::input_count inputs = 2;                   // just two
//   static constexpr pn::input_count inputs{1, 2};                 // one or two
//   static constexpr pn::input_count inputs = pn::at_least(1);     // a list
struct input_count {
  int least = 0, most = 0;

  constexpr input_count() = default;
  constexpr input_count(int exactly) : least(exactly), most(exactly) {}
  constexpr input_count(int from, int to) : least(from), most(to) {}
  constexpr bool says_program() const { return most < 0; }
};
// At least so many inputs.
constexpr input_count at_least(int least) {
  return {least, 1 << 20};
}
inline constexpr input_count by_program{0, -1};  // the number that the program in attribute "program" takes
inline constexpr int states_of_attribute = -1;   // the number that attribute "states" gives

// An op's members as data, which define<Op>() collects. A value with static lifetime; see the top of this file. A null
// gradient comes with the sentence no_gradient, a null `work` stands for one operation per element.
//
// The placer reads kernels, states, on_host and metadata; autodiff reads gradient; cost models read work and reads, and
// who lets nothing run that takes long reads hands_on. Steps that check their values read yields_infinity.
struct definition {
  std::string_view name;
  input_count inputs;
  kernel_set kernels;
  const attribute_list* attrs = nullptr;  // null where the op does not say which it takes
  bool rewrite = false;
  bool stateful = false;
  bool on_host = false;
  bool heeds_guards = false;
  bool metadata = false;
  bool hands_on = false;
  bool yields_infinity = false;
  int states = 0;
  int reads = 1 << 20;
  bool bears_changing_inputs = false;
  void (*infer)(shape_context&) = nullptr;
  void (*gradient)(gradient_context&) = nullptr;
  std::string_view no_gradient;  // the reason why gradient is null
  dtype (*key)(const node&) = nullptr;
  double (*work)(const work_context&) = nullptr;
  std::string_view gpu_library, without_library, no_replay;
};

// Checks the number of inputs of a node. Throws invalid_argument: "MatMul takes 2 inputs, not 3".
void check_input_count(const definition& def, const node& n);

// Checks that a node has the attributes that its op lists, and no others: their kinds, numbers and lengths. Throws
// invalid_argument: "attribute 'axis' of ArgMax is a text, not an integer". What depends on the inputs, `infer` checks.
void check_attributes(const definition& def, const node& n);

// Refuses a node that only the optimization of a step makes, by its op or by an attribute. Throws invalid_argument.
void refuse_rewrite(const definition& def, const node& n);

// The number of first inputs of a node that are states: references that it writes, or resources. Throws
// invalid_argument where attribute "states" does not fit the inputs. Requires: check_input_count passed.
int states_of(const definition& def, const node& n);

namespace detail {
inline dtype key_of_first_output(const node& n) {
  return n.outputs.empty() || n.outputs[0].resource ? dtype::invalid : n.outputs[0].dtype;
}
}  // namespace detail

// Collects the definition of an op from its struct. Members that the struct lacks keep their defaults.
template <class Op>
constexpr definition define() {
  definition d;
  d.name = Op::name;
  d.inputs = Op::inputs;
  d.kernels = Op::kernels;
  d.infer = &Op::infer;
  d.key = &detail::key_of_first_output;
  if constexpr (requires {
                  { &Op::attrs } -> std::same_as<const attribute_list*>;
                })
    d.attrs = &Op::attrs;
  if constexpr (requires { Op::rewrite; }) d.rewrite = Op::rewrite;
  if constexpr (requires { Op::stateful; }) d.stateful = Op::stateful;
  if constexpr (requires { Op::on_host; }) d.on_host = Op::on_host;
  if constexpr (requires { Op::heeds_guards; }) d.heeds_guards = Op::heeds_guards;
  if constexpr (requires { Op::metadata; }) d.metadata = Op::metadata;
  if constexpr (requires { Op::hands_on; }) d.hands_on = Op::hands_on;
  if constexpr (requires { Op::yields_infinity; }) d.yields_infinity = Op::yields_infinity;
  if constexpr (requires { Op::states; }) d.states = Op::states;
  if constexpr (requires { Op::reads; }) d.reads = Op::reads;
  if constexpr (requires { Op::bears_changing_inputs; }) d.bears_changing_inputs = Op::bears_changing_inputs;
  if constexpr (requires(gradient_context & c) { Op::gradient(c); }) d.gradient = &Op::gradient;
  if constexpr (requires { Op::no_gradient; }) d.no_gradient = Op::no_gradient;
  if constexpr (requires(const node& n) { Op::key(n); }) d.key = &Op::key;
  if constexpr (requires(const work_context& c) { Op::work(c); }) d.work = &Op::work;
  if constexpr (requires { Op::gpu_library; }) d.gpu_library = Op::gpu_library, d.without_library = Op::without_library;
  if constexpr (requires { Op::no_replay; }) d.no_replay = Op::no_replay;
  return d;
}

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/opkit/definition.ipp>
#endif
