// Bodies of <pinion/opkit/refusals.hpp>.
#pragma once

#include <cstddef>
#include <mutex>
#include <set>
#include <string>

#include <fmt/format.h>

#include <pinion/base/log.hpp>
#include <pinion/base/process.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/opkit/refusals.hpp>

namespace pinion { inline namespace v0 {

namespace detail {

// The names of the nodes of which was told.
struct told_refusals {
  static constexpr std::size_t most = 64;
  std::mutex mutex;
  std::set<std::string> nodes;

  bool add(const std::string& node) {
    std::lock_guard hold(mutex);
    return nodes.size() < most && nodes.insert(node).second;
  }
};

}  // namespace detail

PINION_DECL void tell_refusal(const kernel_context& c, std::string_view library, std::string_view without_library) {
  if (!c.node || !of_this_process<detail::told_refusals>().add(c.node->name)) return;
  std::string inputs;
  for (const any_tensor& in : c.inputs) inputs.append(inputs.empty() ? "" : ", ").append(to_string(in.shape()));
  write_log(log_level::warning, "",
            fmt::format("the GPU computes node '{}' ({}) {}, since {} refuses inputs of shapes {}", c.node->name,
                        c.node->op, without_library, library, inputs));
}

}}  // namespace pinion::v0
