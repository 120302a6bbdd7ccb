// Bodies of <pinion/runtime/feed_check.hpp>.
#pragma once

#include <string>

#include <pinion/runtime/feed_check.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL void expect_fed(const any_expr& to, const any_tensor& value) {
  if (to.empty()) throw error(errc::invalid_argument, "a feed for an expression that was never assigned");
  const auto refuse = [&](const std::string& sentence) {
    throw error(errc::invalid_argument, sentence).at_node(to.name(), to.op(), to_string(to.node().where));
  };
  if (value.dtype() != to.dtype())
    refuse("a value of " + std::string(to_string(value.dtype())) + " was fed to '" + to.name() + "', which is " +
           std::string(to_string(to.dtype())));
  if (!fits(value.shape(), to.shape()))
    refuse("a value of shape " + to_string(value.shape()) + " was fed to '" + to.name() + "', whose shape is " +
           to_string(to.shape()));
}

}}}  // namespace pinion::v0::runtime
