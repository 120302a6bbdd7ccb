// by_op, the placement policy that is a table from op types to devices, checked by the compiler.
#pragma once

#include <string_view>

#include <pinion/base/fixed_string.hpp>
#include <pinion/graph/node.hpp>
#include <pinion/spec/place.hpp>

namespace pinion { inline namespace v0 {

// A row of by_op: nodes of an op go to a device. A device type on which the op has no kernel at all does not compile.
// Device is a string, as place<...> takes it, and a mistake in it does not compile. Op is a tag of namespace
// pinion::op, or a user's own op.
template <class Op, fixed_string Device>
struct when {
  using op = Op;
  static constexpr device_spec device = at<Device>.spec;
  static_assert(device.type().empty() || (device.type() == "CPU" && !Op::kernels.cpu.empty()) ||
                    (device.type() == "GPU" && !Op::kernels.gpu.empty()) ||
                    (device.type() != "CPU" && device.type() != "GPU"),
                "this op has no kernel on this device type; op and place are those of when<op, place>");
};

// A placement policy without state: by_op<when<op::variable, "/job:ps">, when<op::matmul, "/gpu:0">>{}. Fields that
// inner guards set win over those of a row; nodes of other ops keep the device that guards gathered. The first row
// whose op is that of the node counts.
//
//   pn::device on{pn::by_op<pn::when<pn::op::variable, "/job:ps">, pn::when<pn::op::matmul, "/gpu:0">>{}};
//
// An elementwise expression is one node, named after its outermost op: a row for op::add does not see the add inside of
// a * b + c where it was absorbed.
template <class... Rows>
struct by_op {
  static constexpr std::string_view name = "by_op";
  static_assert((sizeof(Rows) + ... + 1) > 0);  // instantiates each row, which checks it

  // A guard "/cpu:0" inside by_op therefore wins over a row "/gpu:0".
  device_spec operator()(const node_view& op) const {
    device_spec answer = op.device();
    (void)((op.is<typename Rows::op>() && (answer = merge(Rows::device, answer), true)) || ...);
    return answer;
  }
};

}}  // namespace pinion::v0
