// The other tasks of a cluster: their addresses, and the channels to them.
//
// The tasks are those of the cluster's spec, and others of its jobs that have joined since: an elastic task says in
// each of its connections where it is reached. By that it is found, too, where it came back elsewhere.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>
#include <pinion/distributed/report/task_report.hpp>
#include <pinion/rpc/channel.hpp>
#include <pinion/spec/cluster_spec.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// Where a task says that it is reached, and in which life.
struct claim {
  std::string address;
  std::uint64_t incarnation = 0;
};

// A task that has said where it is.
struct met_task {
  std::string name;
  claim where;
  bool as_in_spec = false;  // is it where this task's spec has it?
};

// The channels from one task to the others, made when they are first needed and kept until close(). Owned by a server.
// Thread-safe.
class peers {
 public:
  peers(rpc::network& net, const cluster_spec& cluster, rpc::channel_options options);

  std::vector<std::string> names() const;  // sorted by job, then by task
  bool knows(std::string_view task) const;
  std::string address(std::string_view task) const;
  std::shared_ptr<rpc::channel> way_to(std::string_view task);
  // Notes that a task is reached at an address, as this life of it says itself on one of its channels. Of several that
  // say so the latest life is believed. A channel to the task that is up stays where it is until it goes down; a task
  // of the spec is looked for there, too, where it is not found at that address. Ignored for a task of a job that the
  // cluster does not have, and for more than `most_joined` new ones. Returns a sentence that says why it is not
  // believed; "": it is.
  std::string learn(const std::string& task, const claim& what, std::uint64_t channel);
  // The tasks that have said where they are, as they are believed.
  std::vector<met_task> met() const;
  // Returns the way to a task which is said to be there by another, and which does not say itself where that life of it
  // is; null: there is nothing to be looked for, or it is looked for already, and at this address from now on if that
  // is of a later life. A task that is not known joins once it says so itself; ways to at most `most_looked_for` of
  // them are there at a time.
  std::shared_ptr<rpc::channel> look_for(const std::string& task, const claim& where);
  // Ends the search for a task: what was heard of it counts no more, and the way to one that has not joined may go.
  void was_looked_for(const std::string& task);
  // Forgets what was said on a channel that is gone: another that says to be the task is believed then.
  void unlearn(const std::string& task, std::uint64_t channel);
  // Forgets a task that has joined and is gone; it says where it is when it comes again. Those of the spec are kept.
  // The channel to it stays for a while, for those who use it.
  void forget(const std::string& task);
  // A task as this one knows it. One that was not needed so far is joining.
  rpc::task_view view_of(std::string_view task) const;
  // Have all of them taken what was to be sent to them? In the network's thread.
  bool have_taken_all() const;
  void close(const error& why);
  // Tells of all tasks but one, which is this task, in the order of names().
  std::vector<peer_report> report(std::string_view but) const;

 private:
  static constexpr std::size_t most_joined = 10'000;
  static constexpr std::size_t most_forgotten = 64;     // channels to tasks that are forgotten
  static constexpr std::size_t most_looked_for = 1000;  // channels to tasks that have not joined
  // Where a task is looked for: at the second address if it is not found at the first.
  struct place {
    std::string address, other = {};
    std::string spec = {};  // its address in the cluster's spec, if it is there
  };
  static bool is_before(const std::string& a, const std::string& b);
  // Requires, for these: the lock is held. Throws not_found.
  const place& find(std::string_view task) const;
  std::shared_ptr<rpc::channel> make_way(const std::string& task, const place& at);
  // The claim of the latest life; null: there is none.
  static const claim* latest(const std::map<std::uint64_t, claim>& of_one);
  // May a task join that is not known?
  bool may_join(const std::string& task) const;
  void join(const std::string& task);
  // Has the task looked for where its latest life says, and where it is in the spec; there first, if nobody says more.
  void move(const std::string& task);
  void close_forgotten();

  rpc::network& net_;
  const rpc::channel_options options_;
  mutable std::mutex mutex_;
  std::vector<std::string> names_;
  std::map<std::string, place, std::less<>> places_;
  std::set<std::string, std::less<>> joined_;                     // those of the names that are not in the spec
  std::map<std::string, std::map<std::uint64_t, claim>> claims_;  // by the task, and the channel that each came by
  std::map<std::string, std::shared_ptr<rpc::channel>, std::less<>> ways_;
  std::map<std::string, std::uint64_t> looked_for_;  // and the life that is looked for
  std::deque<std::string> forgotten_;                // those to which there was a way, the last one at the end
  std::uint64_t made_ = 0;                           // ways so far
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/wire/peers.ipp>
#endif
