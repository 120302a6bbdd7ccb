// Bodies of <pinion/rpc/transport/poll_list.hpp>.
#pragma once

#include <algorithm>

#include <pinion/rpc/transport/poll_list.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

PINION_DECL void poll_list::add(polled& p) {
  const auto is_it = [&](const entry& e) { return e.what == &p; };
  if (std::none_of(looked_at_.begin(), looked_at_.end(), is_it)) looked_at_.push_back({&p, 0});
}

PINION_DECL void poll_list::leave(polled& p) {
  members_.erase(&p);
  for (entry& e : looked_at_)
    if (e.what == &p) e.what = nullptr;  // look() may be on its way through the list
}

PINION_DECL std::size_t poll_list::look() {
  std::size_t changed = 0;
  for (std::size_t i = 0; i < looked_at_.size(); ++i) {  // others may be added meanwhile
    if (!looked_at_[i].what) continue;
    const bool has = looked_at_[i].what->look();
    changed += has;
    entry& e = looked_at_[i];
    if (has)
      e.quiet_looks = 0;
    else if (++e.quiet_looks > most_quiet_looks && e.what->rest())
      e.what = nullptr;
  }
  std::erase_if(looked_at_, [](const entry& e) { return !e.what; });
  return changed;
}

PINION_DECL bool poll_list::rest() {
  std::erase_if(looked_at_, [](const entry& e) { return !e.what || e.what->rest(); });
  return looked_at_.empty();
}

PINION_DECL void poll_list::abandon() {
  while (!members_.empty()) (*members_.begin())->abandon();
  looked_at_.clear();
}

}}}  // namespace pinion::v0::rpc
