// Ops that a user writes: a struct with a shape function, kernels and, if it has one, a gradient joins the library's.
//
//   call<Op>(x)                            one operand; the result has its dtype
//   call<Op>(a, b, c)                      several; the result has the dtype of the first
//   call<Op, float>(ids)                   a result of another dtype
//   call<Op>({{"bins", std::int64_t{10}}}, x)             with attributes, in front
//   output_of<int>(call<Op>(x), 1)         the second output
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <pinion/dsl/node_call.hpp>
#include <pinion/opkit/build.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/opkit/registry.hpp>

namespace pinion { inline namespace v0 {

namespace dsl {

// An op that makes its kernels itself, by make_kernel(setup). Such an op keeps state from run to run in its kernel
// object, one for each node and session.
template <class Op>
concept has_kernel_maker = requires(const kernel_setup& setup) {
  { Op::make_kernel(setup) } -> std::convertible_to<std::unique_ptr<kernel>>;
};
// An op with a kernel on CPUs: a function cpu(context), or make_kernel. The function may run in several threads at
// once, for several nodes and steps, so it keeps nothing in statics. An exception that it throws fails the step: a
// pn::error as it is, any other as `unknown` with its text.
template <class Op>
concept has_cpu_kernel = has_kernel_maker<Op> || requires(kernel_context& c) {
  Op::cpu(c);
};
// An op with a kernel on GPUs: a function gpu(context), or make_kernel. On a device with a stream the function launches
// its bodies, and the device runs them later.
template <class Op>
concept has_gpu_kernel = has_kernel_maker<Op> || requires(kernel_context& c) {
  Op::gpu(c);
};

// An op with a kernel on GPUs whose kernels are CUDA: a function cuda(context, stream), which launches CUDA kernels on
// the stream and returns. `gpu` stays host code, for simulated GPUs.
template <class Op>
concept has_cuda_kernel = requires(kernel_context& c, devices::cuda_stream on) {
  Op::cuda(c, on);
};

// The compile-time errors for a struct that is no op. The member that is missing is shown as the line of code to add.
template <class Op>
constexpr void check_own_op() {
  static_assert(
      requires { std::string_view(Op::name); }, "an op has a name: static constexpr std::string_view name = \"MyOp\"");
  static_assert(
      requires { input_count(Op::inputs); },
      "an op says how many inputs it takes: static constexpr pn::input_count inputs = 1");
  static_assert(
      requires { kernel_set(Op::kernels); },
      "an op says for which dtypes it has kernels, and where: static constexpr pn::kernel_set kernels{.cpu = ...}");
  static_assert(
      requires(shape_context & c) { Op::infer(c); },
      "an op has a shape function: static void infer(pn::shape_context&)");
  static_assert(Op::kernels.cpu.empty() || has_cpu_kernel<Op>,
                "kernels on CPU are declared, but there is none: static void cpu(pn::kernel_context&)");
  static_assert(Op::kernels.gpu.empty() || has_gpu_kernel<Op>,
                "kernels on GPU are declared, but there is none: static void gpu(pn::kernel_context&)");
}

// Makes the kernel of a user's op for the device of its node. The device decides between cuda, gpu and cpu; make_kernel
// decides by itself between the latter two.
template <class Op>
std::unique_ptr<kernel> make_own_kernel(const kernel_setup& setup) {
  if constexpr (has_cuda_kernel<Op>)
    if (setup.device.kernels() == devices::kernel_code::cuda)
      return make_function_kernel([](kernel_context& c) { Op::cuda(c, c.device->stream()->native()); }, true);
  if constexpr (has_kernel_maker<Op>) {
    return Op::make_kernel(setup);
  } else {
    if constexpr (has_gpu_kernel<Op>)
      if (setup.device.type() != "CPU") return make_function_kernel([](kernel_context& c) { Op::gpu(c); }, true);
    if constexpr (has_cpu_kernel<Op>) return make_function_kernel([](kernel_context& c) { Op::cpu(c); }, true);
  }
}

// It tells two types of one op name apart.
template <class Op>
constexpr std::string_view name_of_type() {
  return __PRETTY_FUNCTION__;
}

}  // namespace dsl

// Makes an op known to this program: to its graphs, its placers and its servers. The client that builds a graph with
// the op registers it, and so does every server that runs it; pn::call does it by itself. Registering twice has no
// effect. Throws already_exists where the library, or another type, has an op of that name. Thread-safe.
//
//   struct running_sum {
//     static constexpr std::string_view name = "RunningSum";
//     static constexpr pn::input_count inputs = 1;
//     static constexpr pn::kernel_set kernels{.cpu = pn::dtypes::floating};
//     static void infer(pn::shape_context& c);       // dtypes and shapes of the outputs, or c.fail("a sentence")
//     static void cpu(pn::kernel_context& c);        // and `gpu`, if declared; or a make_kernel(const kernel_setup&)
//     static void gradient(pn::gradient_context&);   // or: static constexpr std::string_view no_gradient = "why";
//   };
//
// A GPU whose kernels are CUDA runs the op only if it has a function cuda(pn::kernel_context&, cudaStream_t) too.
//
// opkit/definition.hpp lists the other members that an op may have, opkit/kernel.hpp says what a kernel does. Placers
// read `kernels`: an op with none on a GPU stays on a CPU under soft placement. Several dtypes are one set,
// pn::dtypes::floating | pn::dtypes::integers, and the kernel asks the tensor for its dtype, or visit_plain calls it by
// type. A server that is sent a node of an op that it does not know fails that step with not_found: call
// register_op<running_sum>() at the beginning of its main().
//
//   void running_sum::infer(pn::shape_context& c) { c.output(c.dtype(0), c.shape(0)); }
//   void running_sum::cpu(pn::kernel_context& c) {
//     const pn::any_tensor x = c.input(0), y = c.allocate(0, x.dtype(), x.shape());
//     pn::visit_plain(x.dtype(), [&]<class T>() {
//       c.launch([x, y] { std::partial_sum(x.data<T>(), x.data<T>() + x.count(), y.data<T>()); });
//     });
//   }
//
// An op of two outputs declares both, and its callers take the second one by output_of:
//
//   void extremes::infer(pn::shape_context& c) { c.output(c.dtype(0), {}), c.output(c.dtype(0), {}); }
//   auto least = pn::call<extremes>(x);
//   auto greatest = pn::output_of<float>(least, 1);
template <class Op>
void register_op() {
  dsl::check_own_op<Op>();
  static const bool once = [] {
    static registered_op self{define<Op>(), dsl::name_of_type<Op>(), &dsl::make_own_kernel<Op>,
                              dsl::has_cuda_kernel<Op>};
    if (!self.def.gradient && self.def.no_gradient.empty())
      self.def.no_gradient = "its type has neither a gradient function nor a sentence, no_gradient, that says why";
    if (is_library_op(Op::name))
      throw error(errc::already_exists, "op '" + std::string(Op::name) + "' is one of the library's");
    add_registered(self);
    return true;
  }();
  (void)once;
}

namespace dsl {
template <class Op, element T, graph_operand... A>
auto call_own(source_location where, attributes attrs, A&&... operands) {
  register_op<Op>();
  auto made = node_call<Op, T>({}, where, std::move(attrs), std::forward<A>(operands)...);
  if (made.dtype() != dtype_of<T>)
    throw error(errc::invalid_argument, "the first output of " + std::string(Op::name) + " is " +
                                            std::string(to_string(made.dtype())) + ", and was taken for " +
                                            std::string(to_string(dtype_of<T>)) + ": call<Op, T>(...) says which")
        .at_node(made.name(), made.op(), to_string(made.node().where));
  return made;
}
}  // namespace dsl

// Makes a node of a user's op: call<running_sum>(x). The element type of its first output is that of the first operand,
// unless it is given: call<histogram, int>({{"bins", std::int64_t{10}}}, x). Attributes come first. Throws
// invalid_argument where the shape function refuses the operands, or yields another dtype. The number of operands and
// their dtypes are checked by the op's own declarations. The node is named after the op. The values of attributes are
// exactly of the types that the op reads: std::int64_t, not int.
//
//   auto y = pn::call<running_sum>(x);
//   auto [gx] = pn::gradients(pn::reduce_sum(y), x);      // by running_sum::gradient, or unimplemented without one
template <class Op, element T, dsl::graph_operand A, dsl::graph_operand... B>
auto call(attributes attrs, A&& first, B&&... others) {
  return dsl::call_own<Op, T>({}, std::move(attrs), std::forward<A>(first), std::forward<B>(others)...);
}
template <class Op, dsl::graph_operand A, dsl::graph_operand... B>
auto call(attributes attrs, A&& first, B&&... others) {
  return call<Op, dsl::value_of<A>>(std::move(attrs), std::forward<A>(first), std::forward<B>(others)...);
}
template <class Op, element T, dsl::graph_operand A, dsl::graph_operand... B>
auto call(A&& first, B&&... others) {
  return call<Op, T>(attributes{}, std::forward<A>(first), std::forward<B>(others)...);
}
template <class Op, dsl::graph_operand A, dsl::graph_operand... B>
auto call(A&& first, B&&... others) {
  return call<Op, dsl::value_of<A>>(attributes{}, std::forward<A>(first), std::forward<B>(others)...);
}
// A default argument cannot follow a parameter pack, so a call with a pack does not know its source line. The usual
// numbers of operands therefore have overloads of their own.
#define PINION_UNWRAP(...) __VA_ARGS__
#define PINION_CALL(types, parameters, operands)                                                              \
  template <class Op, element T, PINION_UNWRAP types>                                                         \
  auto call(attributes attrs, PINION_UNWRAP parameters, source_location where = source_location::current()) { \
    return dsl::call_own<Op, T>(where, std::move(attrs), PINION_UNWRAP operands);                             \
  }                                                                                                           \
  template <class Op, PINION_UNWRAP types>                                                                    \
  auto call(attributes attrs, PINION_UNWRAP parameters, source_location where = source_location::current()) { \
    return dsl::call_own<Op, dsl::value_of<A>>(where, std::move(attrs), PINION_UNWRAP operands);              \
  }                                                                                                           \
  template <class Op, element T, PINION_UNWRAP types>                                                         \
  auto call(PINION_UNWRAP parameters, source_location where = source_location::current()) {                   \
    return dsl::call_own<Op, T>(where, {}, PINION_UNWRAP operands);                                           \
  }                                                                                                           \
  template <class Op, PINION_UNWRAP types>                                                                    \
  auto call(PINION_UNWRAP parameters, source_location where = source_location::current()) {                   \
    return dsl::call_own<Op, dsl::value_of<A>>(where, {}, PINION_UNWRAP operands);                            \
  }
PINION_CALL((dsl::graph_operand A), (A && a), (std::forward<A>(a)))
PINION_CALL((dsl::graph_operand A, dsl::graph_operand B), (A && a, B&& b), (std::forward<A>(a), std::forward<B>(b)))
PINION_CALL((dsl::graph_operand A, dsl::graph_operand B, dsl::graph_operand C), (A && a, B&& b, C&& c),
            (std::forward<A>(a), std::forward<B>(b), std::forward<C>(c)))
#undef PINION_CALL
#undef PINION_UNWRAP

// Another output of the node that made an expression. Throws invalid_argument unless the node has an output of that
// index and dtype. Outputs are numbered from 0, in the order in which `infer` declared them.
template <element T>
expr<T> output_of(const any_expr& made, int index) {
  const node& n = made.node();
  if (index < 0 || index >= static_cast<int>(n.outputs.size()) ||
      n.outputs[static_cast<std::size_t>(index)].dtype != dtype_of<T>)
    throw error(errc::invalid_argument, "'" + n.name + "' has no output " + std::to_string(index) + " of " +
                                            std::string(to_string(dtype_of<T>)))
        .at_node(n.name, n.op, to_string(n.where));
  graph& g = made.owner();
  return {g, {made.id(g), index}};
}

}}  // namespace pinion::v0
