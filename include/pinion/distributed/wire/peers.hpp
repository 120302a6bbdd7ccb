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
#include <pinion/distributed/wire/task_searches.hpp>
#include <pinion/rpc/channel.hpp>
#include <pinion/rpc/deliveries.hpp>
#include <pinion/spec/cluster_spec.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

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
  std::shared_ptr<rpc::channel> route_to(std::string_view task);
  // Notes that a task is reached at an address, as this life of it says itself on one of its channels. Of several that
  // say so the latest life is believed. A channel to the task that is up stays where it is until it goes down; a task
  // of the spec is looked for there, too, where it is not found at that address. Ignored for a task of a job that the
  // cluster does not have, and for more than `most_joined` new ones. Returns a sentence that says why it is not
  // believed; "": it is.
  std::string learn(const std::string& task, const claim& what, std::uint64_t channel);
  // Does a task say so already?
  bool has_said(const std::string& task, const claim& what) const;
  // The tasks that have said where they are, as they are believed.
  std::vector<met_task> met() const;
  // A digest of the tasks in the spec.
  std::uint64_t spec() const { return options_.spec; }

  // Looks for a task where another says that it is, until `until`: there, and where it was looked for before. Returns
  // the route to it; null: the task says itself where that life of it is, or it is looked for already. Of two who tell
  // of one task the later life comes first, and the other word, if it is another's, once the first has led nowhere. A
  // task that is not known joins once it says so itself; there are ways to a limited number of them
  // at a time (task_searches).
  std::shared_ptr<rpc::channel> look_for(const std::string& task, const claim& where, const std::string& by,
                                         time_point until);
  // How many tasks are looked for.
  std::size_t sought() const;
  // Ends the searches whose time is up, unless the route leads to an earlier life so far: what was heard counts no
  // more, and the route to one that has not joined is closed. Returns what others have said of them meanwhile.
  std::vector<hearsay> end_searches(time_point now);
  // Forgets what was said on a channel that is gone: another that says to be the task is believed then.
  void unlearn(const std::string& task, std::uint64_t channel);
  // Forgets a task that has joined and is gone; it says where it is when it comes again. Those of the spec are kept.
  // The channel to it stays for a while, for those who use it.
  void forget(const std::string& task);
  // A task as this one knows it. One that was not needed so far is joining.
  rpc::task_view view_of(std::string_view task) const;
  // Adds what is on its way to them. In the network's thread.
  void expect(rpc::deliveries& all) const;
  void close(const error& why);
  // Tells of all tasks but one, which is this task, in the order of names().
  std::vector<peer_report> report(std::string_view but) const;

 private:
  static constexpr std::size_t most_joined = 10'000;
  static constexpr std::size_t most_forgotten = 64;  // channels to tasks that are forgotten
  // Where a task is looked for: at the second address if it is not found at the first.
  struct place {
    std::string address, other = {};
    std::string spec = {};  // its address in the cluster's spec, if it is there
  };
  // Requires, for these: the lock is held. Throws not_found.
  const place& find(std::string_view task) const;
  std::shared_ptr<rpc::channel> make_route(const std::string& task);
  // Has the route to a task lead to where it is said to be, while it is looked for, and to where it is believed to be.
  void set_addresses(rpc::channel& route, const std::string& task) const;
  void update_route(const std::string& task);
  // Is the route to a task up, and leads to an earlier life than one that is looked for?
  bool leads_to_earlier(const std::string& task, const task_search& than) const;
  void close_route(const std::string& task);
  // May a task join that is not known?
  bool may_join(const std::string& task) const;
  void join(const std::string& task);
  // Has the task looked for where its latest life says, and where it is in the spec; there first, if nobody says more.
  void move(const std::string& task);
  void close_forgotten();

  rpc::network& net_;
  rpc::channel_options options_;
  mutable std::mutex mutex_;
  std::set<std::string, std::less<>> jobs_;  // of the spec, those without a task so far among them
  std::vector<std::string> names_;
  std::map<std::string, place, std::less<>> places_;
  std::set<std::string, std::less<>> joined_;                     // those of the names that are not in the spec
  std::map<std::string, std::map<std::uint64_t, claim>> claims_;  // by the task, and the channel that each came by
  std::map<std::string, std::shared_ptr<rpc::channel>, std::less<>> routes_;
  task_searches searches_;
  std::deque<std::string> forgotten_;  // those to which there was a route, the last one at the end
  std::uint64_t made_ = 0;             // routes so far
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/wire/peers.ipp>
#endif
