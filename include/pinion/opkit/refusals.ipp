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
class noted_refusals {
 public:
  bool add(const node& n) {
    std::lock_guard hold(mutex_);
    return nodes_.size() < most && nodes_.insert(key(n)).second;
  }
  bool have(const node& n) {
    std::lock_guard hold(mutex_);
    return !nodes_.empty() && nodes_.contains(key(n));
  }
  // Counts a node of which is told; false: there were enough.
  bool may_tell() {
    std::lock_guard hold(mutex_);
    return told_++ < most_told;
  }

 private:
  static constexpr std::size_t most = 4096, most_told = 64;
  static std::string key(const node& n) { return n.name + "\n" + n.op + "\n" + to_string(n.where); }

  std::mutex mutex_;
  std::set<std::string> nodes_;
  std::size_t told_ = 0;
};

}  // namespace detail

PINION_DECL bool note_refusal(const node& n) {
  return of_this_process<detail::noted_refusals>().add(n);
}

PINION_DECL bool is_refused(const node& n) {
  return of_this_process<detail::noted_refusals>().have(n);
}

PINION_DECL void tell_refusal(const kernel_context& c, std::string_view library, std::string_view without_library) {
  if (!c.node || !note_refusal(*c.node) || !of_this_process<detail::noted_refusals>().may_tell()) return;
  std::string inputs;
  for (const any_tensor& in : c.inputs) inputs.append(inputs.empty() ? "" : ", ").append(to_string(in.shape()));
  write_log(log_level::warning, "",
            fmt::format("the GPU computes node '{}' ({}) {}, since {} refuses inputs of shapes {}", c.node->name,
                        c.node->op, without_library, library, inputs));
}

}}  // namespace pinion::v0
