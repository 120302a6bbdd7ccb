// The list of things at which a network's thread looks, besides the system's events, as long as it does not sleep.
#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// Something in memory that may change without a word from the system. Used by the network's thread only.
class polled {
 public:
  virtual ~polled() = default;
  // Sees to what has changed. Returns false if nothing has. It may be destroyed by that, and others of its list.
  virtual bool look() = 0;
  // Has the system tell of the next change. Returns false, and goes on as before, if there has been one already.
  virtual bool rest() = 0;
  // Lets go of those who wait for a change, since the network ends. It is destroyed by that, or leaves its list.
  virtual void abandon() = 0;
};

// Owned by a network, and refers to its members. Used by the network's thread only. One at which nothing changes for
// long rests, so that those who are idle cost nothing.
class poll_list {
 public:
  poll_list() = default;
  poll_list(const poll_list&) = delete;

  // A member is looked at from add() until it rests, or leaves.
  void enter(polled& p) { members_.insert(&p); }
  void add(polled& p);
  void leave(polled& p);
  bool empty() const { return looked_at_.empty(); }
  // Looks at those that were added, and returns how many had changed.
  std::size_t look();
  // Has all rest. Returns false if one of them has changed.
  bool rest();
  // To be called when the network's thread has ended.
  void abandon();

 private:
  struct entry {
    polled* what;          // null: it has left
    unsigned quiet_looks;  // one behind the other
  };
  static constexpr unsigned most_quiet_looks = 4096;  // some milliseconds

  std::set<polled*> members_;
  std::vector<entry> looked_at_;
};

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/transport/poll_list.ipp>
#endif
