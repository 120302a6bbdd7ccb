// Bodies of <pinion/opkit/refusals.hpp>.
#pragma once

#include <cstddef>
#include <mutex>
#include <set>
#include <string>

#include <fmt/format.h>

#include <pinion/base/log.hpp>
#include <pinion/base/process.hpp>
#include <pinion/graph/node.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/opkit/refusals.hpp>

namespace pinion { inline namespace v0 {

namespace detail {

// The nodes of which something was refused.
struct noted_refusals {
  static constexpr std::size_t most = 4096, most_told = 64;
  std::mutex mutex;
  std::set<std::string> nodes;
  std::size_t told = 0;

  static std::string key(const node& n) { return n.name + "\n" + n.op + "\n" + to_string(n.where); }
};

// Tells whether there is still something to tell.
inline bool may_tell_refusal() {
  auto& all = of_this_process<noted_refusals>();
  std::lock_guard hold(all.mutex);
  return all.told++ < noted_refusals::most_told;
}

}  // namespace detail

PINION_DECL bool note_refusal(const node& n) {
  auto& all = of_this_process<detail::noted_refusals>();
  std::lock_guard hold(all.mutex);
  return all.nodes.size() < detail::noted_refusals::most && all.nodes.insert(detail::noted_refusals::key(n)).second;
}

PINION_DECL bool is_refused(const node& n) {
  auto& all = of_this_process<detail::noted_refusals>();
  std::lock_guard hold(all.mutex);
  return !all.nodes.empty() && all.nodes.contains(detail::noted_refusals::key(n));
}

PINION_DECL void tell_refusal(const kernel_context& c, std::string_view library, std::string_view without_library) {
  if (!c.node || !note_refusal(*c.node) || !detail::may_tell_refusal()) return;
  std::string inputs;
  for (const any_tensor& in : c.inputs) inputs.append(inputs.empty() ? "" : ", ").append(to_string(in.shape()));
  write_log(log_level::warning, "",
            fmt::format("the GPU computes node '{}' ({}) {}, since {} refuses inputs of shapes {}", c.node->name,
                        c.node->op, without_library, library, inputs));
}

}}  // namespace pinion::v0
