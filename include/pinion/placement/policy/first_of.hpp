// first_of, the placement policy that asks other policies in turn.
#pragma once

#include <string_view>
#include <tuple>
#include <utility>

#include <pinion/graph/device_guard.hpp>

namespace pinion { inline namespace v0 {

// A placement policy made of others: first_of{variables_on{"/job:ps"}, my_policy{}}. The first policy whose answer
// differs from the device that inner guards gathered decides, and the later ones are not asked. Owns the policies; for
// one thread at a time if one of them is. Put the narrow policies in front. A policy that answers with the device that
// was gathered leaves the node to the next one, and where all do so the node keeps that device.
//
//   pn::device on{pn::first_of{pn::by_op<pn::when<pn::op::matmul, "/gpu:0">>{}, pn::variables_on{"/job:ps"}}};
//
// An exception of a policy, or an answer that is no device string (invalid_argument), reaches the call that makes the
// node.
template <placement_policy... Policies>
class first_of {
 public:
  static constexpr std::string_view name = "first_of";

  // Policies are moved in; to go on using one outside, give a lambda that refers to it.
  explicit first_of(Policies... policies) : policies_(std::move(policies)...) {}

  device_spec operator()(const node_view& op) {
    device_spec answer = op.device();
    std::apply([&](auto&... each) { (void)((answer = ask(each, op), answer != op.device()) || ...); }, policies_);
    return answer;
  }

 private:
  template <class P>
  static device_spec ask(P& policy, const node_view& op) {
    if constexpr (std::is_convertible_v<decltype(policy(op)), device_spec>)
      return policy(op);
    else
      return detail::parse_answer(policy(op));
  }
  std::tuple<Policies...> policies_;
};

}}  // namespace pinion::v0
