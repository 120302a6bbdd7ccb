// The scoped device guard: `device on{"/job:ps/task:0"};` has the effect of TensorFlow's `with tf.device`.
//
//
//   pn::device on{"/job:ps/task:0"};          a string, full or partial; read when the guard is made
//   pn::device on{pn::at<"/gpu:0">};          a tag: read by the compiler
//   pn::device on{spec};                      a device_spec
//   pn::device on{policy};                    a function of each node
//   pn::device on{nullptr};                   hides the guards outside
//
// A guard without a name would be gone at once, and compilers warn of it: "give it a name".
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/graph/scope_state.hpp>

namespace pinion { inline namespace v0 {

// A placement policy: a callable of a user's type that chooses a device for each node. Its answer, a spec or a device
// string, replaces the request that the guards inside it gathered, which op.device() returns. A policy may have state.
// It is called once per node, in the order in which nodes are made, in the thread that makes them. A static member
// `name`, a string_view, is the name that plans give it:
//
//   struct big_on_gpu {
//     static constexpr std::string_view name = "big_on_gpu";
//     std::string operator()(const pn::node_view& op) { return op.bytes() > (1 << 20) ? "/gpu:0" : "/cpu:0"; }
//   };
//   pn::device on{big_on_gpu{}};
//
// A lambda is a policy, too, and an answer of "" leaves the node to guards outside and to the placer:
//
//   pn::device on{[](const pn::node_view& op) { return op.is<pn::op::variable>() ? "/job:ps" : ""; }};
//
// An answer that is no device string throws invalid_argument; the error names the policy's line. To add to the gathered
// request and not replace it, return merge(mine, op.device()).
template <class P>
concept placement_policy = requires(P& policy, const node_view& op) {
  requires std::is_convertible_v<decltype(policy(op)), device_spec> ||
      std::is_convertible_v<decltype(policy(op)), std::string_view>;
  requires !std::is_same_v<decltype(policy(op)), std::nullptr_t>;
};

namespace detail {
// The spec in a policy's answer. Throws invalid_argument for text that is no device.
template <class Text>
device_spec parse_answer(const Text& text) {
  if constexpr (std::is_pointer_v<Text>)
    if (!text)
      throw error(errc::invalid_argument, "a placement policy answered with a null pointer; \"\" names nothing");
  return parse_device(text);
}
}  // namespace detail

// While it lives, nodes that this thread makes on its default graph ask for its device. Guards nest: a field set by an
// inner guard replaces that of an outer one. Made and destroyed in one thread, in stack order. A bad device string
// throws invalid_argument here. An exception of a policy reaches the call that makes the node, or the first one that
// reads it.
//
// Strings are full or partial names, as parse_device reads them; fields that no guard sets are left to the placer. A
// guard asks for a device and does not check that there is one: the session that runs the node does, with
// invalid_argument.
//
//   {
//     const pn::device ps{"/job:ps"};
//     const pn::device cpu{"/cpu:0"};
//     auto w = pn::variable(pn::zeros<float>({10}), {.name = "w"});      // /job:ps/device:CPU:0
//   }
class [[nodiscard]] device {
 public:
  PINION_GUARD explicit device(std::string_view text, source_location where = source_location::current())
      : device(parse_device(text, where), where) {}
  PINION_GUARD explicit device(const char* text, source_location where = source_location::current())
      : device(parse_device(text, where), where) {}
  // A guard for a device spec.
  PINION_GUARD explicit device(const device_spec& spec, source_location where = source_location::current());
  // Makes nodes ignore all guards outside this one.
  // Inner guards still apply. The placer then chooses, unless they say more.
  PINION_GUARD explicit device(std::nullptr_t, source_location where = source_location::current());
  // Refers to a policy given as an lvalue, which must outlive it; owns a temporary one.
  template <class P>
  requires(placement_policy<std::remove_cvref_t<P>> && !std::is_convertible_v<P, device_spec>) PINION_GUARD
      explicit device(P&& policy, source_location where = source_location::current()) {
    const auto ask = [](auto& p, const node_view& op) -> device_spec {
      using answer = decltype(p(op));
      if constexpr (std::is_convertible_v<answer, device_spec>)
        return p(op);
      else
        return detail::parse_answer(p(op));
    };
    device_scope entry{.kind = device_scope::policy, .where = where, .use = std::make_shared<guard_use>()};
    entry.use->where = where;
    using named = std::remove_cvref_t<P>;
    if constexpr (requires { typename std::integral_constant<std::size_t, std::string_view(named::name).size()>; })
      entry.use->name = named::name;
    if constexpr (std::is_lvalue_reference_v<P>) {
      entry.choose = [ask, p = &policy](const node_view& op) { return ask(*p, op); };
    } else {
      auto owned = std::make_shared<std::remove_cvref_t<P>>(std::forward<P>(policy));
      entry.choose = [ask, owned](const node_view& op) { return ask(*owned, op); };
    }
    scope_state::current().graph->add_policy(entry.use);
    open(std::move(entry));
  }
  // Refuses every other argument at compile time, and gives the reason.
  template <class P>
  requires(!placement_policy<std::remove_cvref_t<P>> && !std::is_convertible_v<P, device_spec> &&
           !std::is_convertible_v<P, std::string_view> &&
           !std::is_same_v<std::remove_cvref_t<P>, device>) explicit device(P&&, source_location = {}) {
    static_assert(placement_policy<std::remove_cvref_t<P>>,
                  "a guard takes a device string, a spec, nullptr, or a placement policy: a callable that takes a "
                  "const pn::node_view& and returns a device_spec or a device string");
  }
  device(const device&) = delete;
  ~device();

 private:
  static void open(device_scope entry);
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/graph/device_guard.ipp>
#endif
