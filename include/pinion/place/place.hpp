// Placing an expression on a device that the compiler knows; it refuses an op that has no kernel there.
//
//   place<"/gpu:0">(a * b + c)         a temporary: its node asks for the device, with all that was fused into it
//   place<"/gpu:0">(h)                 a stored expression: an Identity there copies its value
//   place<"/cpu:0">(variable(...))     a variable, its initialiser and its read
//   place<"/cpu:0">(w)                 a stored variable: an Identity there copies its value
//
// A guard, pn::device on{"/gpu:0"}, does the same for all nodes that are made while it lives, with a string that need
// not be known to the compiler, and without its check. The check reads the kernels that the op declares, so it needs no
// device and no nvcc: pn::place<"/gpu:0">(pn::in_top_k(logits, labels)) says "InTopK has no bool kernel on GPU; there
// is one on CPU".
#pragma once

#include <pinion/base/static_text.hpp>
#include <pinion/op/elementwise/map.hpp>
#include <pinion/op/source/functions.hpp>
#include <pinion/op/variable/functions.hpp>
#include <pinion/op/variable/op.hpp>

namespace pinion { inline namespace v0 {

namespace dsl {

// The op of an expression, as far as its type tells; void for a leaf.
template <class P>
struct op_of_program {
  using type = void;
};
template <class Op>
struct op_of_program<made_by<Op>> {
  using type = Op;
};

// The tag that place<...> gave an expression; `anywhere` for all other expressions. A variable has none.
template <class E>
struct place_of_expr {
  using type = anywhere;
};
template <element T, class P, class Tag>
struct place_of_expr<expr<T, P, Tag>> {
  using type = Tag;
};
template <class E>
using place_of = typename place_of_expr<std::remove_cvref_t<E>>::type;

// True for a leaf, of which the type tells no op, and for a tag without a device type. The dtype is that of the result.
template <class Op, element T, class Tag>
constexpr bool has_kernel() {
  if constexpr (std::is_void_v<Op>)
    return true;
  else
    return Tag::spec.type().empty() || Op::kernels.has(Tag::spec.type(), dtype_of<T>);
}
// TensorFlow keeps int32 on the host too: such values are mostly counters and shapes.
template <class Op, element T, class Tag>
inline constexpr bool int32_variable_on_GPU = std::is_same_v<Op, op::variable>&& dtype_of<T> ==
                                              dtype::int32&& Tag::spec.type() == "GPU";

// The sentence for a kernel that is missing: "InTopK has no int32 kernel on GPU; there is one on CPU". g++ prints it;
// clang names check_kernel and its arguments.
template <class Op, element T, class Tag>
struct kernel_sentence {
  constexpr static_text operator()() const {
    constexpr dtype type = dtype_of<T>;
    static_text text;
    text << Op::name << " has no " << to_string(type) << " kernel on " << Tag::spec.type();
    if (Op::kernels.cpu.has(type)) return text << "; there is one on CPU";
    if (Op::kernels.gpu.has(type)) return text << "; there is one on GPU";
    return text << ", nor anywhere";
  }
};

// Stops the compiler where the op has no kernel for the dtype on the tag's device type. The message names all three,
// and a device type that has a kernel. The check is one of the compiler; a device that the session does not have is
// found by the placer, when a step needs it.
template <class Op, element T, class Tag>
constexpr void check_kernel() {
  static_assert(!int32_variable_on_GPU<Op, T, Tag>,
                "int32 variable on GPU: there is no such kernel; there is one on CPU");
  if constexpr (!has_kernel<Op, T, Tag>() && !int32_variable_on_GPU<Op, T, Tag>) {
    constexpr bool on_cpu = Op::kernels.cpu.has(dtype_of<T>), on_gpu = Op::kernels.gpu.has(dtype_of<T>);
    if constexpr (on_cpu)
      static_assert(
          refused<as_fixed_string<kernel_sentence<Op, T, Tag>>()>,
          "this op has no kernel for this dtype on this device type; there is one on CPU (op, dtype and place "
          "are those of check_kernel)");
    else if constexpr (on_gpu)
      static_assert(
          refused<as_fixed_string<kernel_sentence<Op, T, Tag>>()>,
          "this op has no kernel for this dtype on this device type; there is one on GPU (op, dtype and place "
          "are those of check_kernel)");
    else
      static_assert(refused<as_fixed_string<kernel_sentence<Op, T, Tag>>()>,
                    "this op has no kernel for this dtype on any device type (op, dtype and place are those of "
                    "check_kernel)");
  }
}

// Applies a spec to the request of a node as its innermost guard.
inline void pin(graph& g, node_id id, const device_spec& spec, const std::string& where) {
  node& n = g.change(id);
  n.requested = merge(n.requested, spec);
  n.request_reason = "place at " + where + (n.request_reason.empty() ? "" : ", " + n.request_reason);
  n.pinned = true;
}

}  // namespace dsl

// Places an expression on a device that the compiler has checked: place<"/gpu:0">(2 * s). It applies the device spec to
// the request of the node just made, as its innermost guard; a stored expression gets an Identity there instead. An op
// without a kernel for its dtype on that device type does not compile. Tags of nested calls merge in the type. The
// result has the value, dtype and shape of the expression. Fields that S leaves open come from the guards around and
// from the placer. Only the outermost node of a temporary expression is placed, with what was fused into it; name parts
// of an expression to place them apart:
//
//   auto h = pn::place<"/gpu:0">(pn::matmul(x, w));             // the product runs there
//   auto s = pn::place<"/cpu:0">(pn::reduce_mean(h));           // h is copied there
//   auto there = pn::place<"/job:ps/task:1">(h);                // an Identity: the stored h stays where it is
//
// A bad string does not compile, and the message has the sentence of parse_device. allow_soft_placement moves placed
// nodes as it moves others, and plan.fallbacks() lists them.
template <fixed_string S, class E>
requires dsl::expression<E>
auto place(E&& e, source_location where = source_location::current()) {
  using tag = std::remove_cvref_t<decltype(at<S>)>;
  using T = dsl::value_of<E>;
  using program = dsl::program_of<E>;
  if constexpr (std::is_lvalue_reference_v<E>) {
    auto copy = identity(e, {}, where);
    graph& g = copy.owner();
    dsl::pin(g, copy.id(g), tag::spec, to_string(where));
    return expr<T, dsl::made_by<op::identity>, tag>(g, copy.endpoint(g));
  } else {
    using both = merge_t<dsl::place_of<E>, tag>;  // tags nest; the inner one is applied last and wins
    dsl::check_kernel<typename dsl::op_of_program<program>::type, T, both>();
    graph& g = e.owner();
    dsl::pin(g, e.id(g), tag::spec, to_string(where));
    return expr<T, program, both>(g, e.endpoint(g));
  }
}
// A variable is placed with its initialiser and its read where it is made, and the handle is stored afterwards. Its
// initial value keeps its device.
//
//   auto w = pn::place<"/job:ps/task:0">(pn::variable(pn::zeros<float>({784, 10}), {.name = "W"}));
template <fixed_string S, element T>
variable_handle<T> place(variable_handle<T>&& v, source_location where = source_location::current()) {
  using tag = std::remove_cvref_t<decltype(at<S>)>;
  dsl::check_kernel<op::variable, T, tag>();
  graph& g = v.owner();
  for (node_id id : {v.id(g), v.initializer().id(g), v.read_id(g)}) dsl::pin(g, id, tag::spec, to_string(where));
  return v;
}
// A stored variable stays; its value is copied there by an Identity.
template <fixed_string S, element T>
auto place(const variable_handle<T>& v, source_location where = source_location::current()) {
  return place<S>(v.read(where), where);
}

}}  // namespace pinion::v0
