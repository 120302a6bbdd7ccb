// The part of a server that answers sessions: it places their graphs over the tasks, ships the parts, and runs steps.
//
// Invariants (numbers of protocol.md in brackets)
//   1. A run ends once: with its fetches when every task has ended its part, or with the first failure. [R1, R2]
//   2. A failure cancels the run on every task that takes part; its own end waits for this task's part only, since
//      another may be dead. [R3]
//   3. What one session ships or does is seen by others only through the state of the tasks. [S1]
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <pinion/distributed/waiting.hpp>
#include <pinion/distributed/worker.hpp>
#include <pinion/placement/simple_placer.hpp>
#include <pinion/runtime/prune.hpp>

namespace pinion::inline v0::distributed {

// What a master has of its server.
struct master_services {
  rpc::network& net;
  std::string name;  // of its task
  std::uint64_t incarnation;
  distributed::peers& peers;
  distributed::exchange& values;
  distributed::worker& here;
  // Held, shared, by whoever uses the others on behalf of a session: a server that stops waits for them.
  std::shared_ptr<std::shared_mutex> in_use = std::make_shared<std::shared_mutex>();
};

struct session_settings {
  bool soft = false;
  std::vector<std::string> filters;
};

// One session at its master. Shared by whoever speaks for the client and by its runs. prepare, plan and devices block
// the calling thread, which must not be the network's; run does not. Thread-safe.
class master_session : public std::enable_shared_from_this<master_session> {
 public:
  using ran = std::function<void(std::vector<any_tensor>, const error*)>;

  master_session(master_services& services, std::uint64_t handle, session_settings settings)
      : s_(services), in_use_(services.in_use), handle_(handle), settings_(std::move(settings)) {}

  std::uint64_t handle() const { return handle_; }

  // A graph that could not be extended is of no use any more: what it failed with is thrown from then on.
  void extend(graph_delta delta) {
    std::shared_lock using_server(*in_use_);
    std::lock_guard one_at_a_time(building_);
    if (spoiled_) throw *spoiled_;
    try {
      apply(graph_, std::move(delta));
    } catch (const error& e) {
      spoiled_ = e;
      throw;
    }
  }
  prepared_reply prepare(const runtime::step_signature& signature, patience until) {
    std::shared_lock using_server(*in_use_);
    std::lock_guard one_at_a_time(building_);
    check(signature);
    const pinion::plan placed = place(signature, until);
    prepared_reply reply;
    reply.step = next_step_++;
    auto step = compile(placed, signature, reply.step, until);
    for (const auto& n : placed.nodes())
      if (kept_.emplace(n.id, n.device).second) reply.placed.push_back(n.name + ": (" + n.op + "): " + n.device);
    std::lock_guard hold(mutex_);
    steps_[reply.step] = std::move(step);
    return reply;
  }
  pinion::plan plan(const runtime::step_signature& signature, patience until) {
    std::shared_lock using_server(*in_use_);
    std::lock_guard one_at_a_time(building_);
    check(signature);
    return place(signature, until);
  }
  std::vector<device_info> devices(patience until) {
    std::shared_lock using_server(*in_use_);
    std::lock_guard one_at_a_time(building_);
    expect_open();
    learn(all_tasks(), until);
    return known_devices();
  }

  // Do all tasks of a step still hold it? A connection that broke took it along.
  bool is_fresh(std::uint64_t number) const {
    std::shared_lock using_server(*in_use_);
    expect_open();
    const auto step = find(number);
    std::lock_guard hold(mutex_);
    return std::all_of(step->parts.begin(), step->parts.end(), [&](const step_part& p) {
      if (p.task == s_.name) return true;
      const auto way = s_.peers.way_to(p.task);
      return way->up() && way->generation() == p.generation;
    });
  }
  // Ships the parts again that were lost. Blocks as prepare does, but waits for nobody to come up. Throws unavailable
  // for a task that is not there, aborted for one that was restarted.
  void refresh(std::uint64_t number, patience until) {
    std::shared_lock using_server(*in_use_);
    std::lock_guard one_at_a_time(building_);
    expect_open();
    const auto step = find(number);
    for (step_part& p : step->parts) {
      if (p.task == s_.name || s_.peers.way_to(p.task)->generation() == p.generation) continue;
      register_part(p, until);
    }
  }

  // `done` is called once, in any thread.
  void run(std::uint64_t number, std::vector<any_tensor> feeds, patience until, worker::begin_in where, ran done) {
    std::shared_lock using_server(*in_use_);
    std::shared_ptr<under_way> r;
    try {
      r = begin(number, feeds, std::move(done));
    } catch (const error& e) {
      return done({}, &e);
    }
    if (until) s_.net.spawn(watch(r, *until));
    for (const auto& part : r->step->parts)
      if (part.task != s_.name) begin_at(part.task, r);
    if (r->step->home)
      s_.here.run(
          {handle_, number, r->run}, 0, std::move(feeds), r->step->signature.fetches.size(), where,
          [r](std::vector<any_tensor> fetches, const error* failed) { r->ended_here(std::move(fetches), failed); });
    else
      r->ended_here({}, nullptr);
  }

  // Cancels what runs and forgets the session everywhere. State that is shared stays.
  void close(const error& why) {
    std::map<std::uint64_t, std::shared_ptr<under_way>> running;
    {
      std::lock_guard hold(mutex_);
      if (std::exchange(closed_, true)) return;
      running = running_;
    }
    for (const auto& [run, r] : running) r->fail(why);
    s_.here.forget_session(handle_);
    for (const auto& task : met_tasks())
      if (task != s_.name)
        s_.peers.way_to(task)->notify(rpc::lane::data, forget_session::method, rpc::encode(forget_session{handle_}));
  }

 private:
  struct step_part {
    std::string task;
    std::uint64_t incarnation = 0, generation = 0;
    register_step message;  // to register it again after the way was cut
  };
  struct step {
    std::uint64_t number = 0;
    runtime::step_signature signature;
    std::vector<output_type> feed_types;
    std::vector<step_part> parts;
    bool home = false;  // does this task take part?
  };

  // One run, from here.
  struct under_way : std::enable_shared_from_this<under_way> {
    master_session* session = nullptr;
    std::shared_ptr<master_session> keeps;
    std::shared_ptr<master_session::step> step;
    std::uint64_t run = 0;
    ran done;
    std::unique_ptr<rpc::timer> timer;  // of the network's thread

    std::mutex mutex;
    std::set<std::string> left;  // other tasks that have not ended their parts
    bool here_left = true, finished = false;
    std::vector<any_tensor> fetches;
    std::optional<error> failure;

    void ended_here(std::vector<any_tensor> values, const error* failed) {
      if (failed) fail(*failed);
      {
        std::lock_guard hold(mutex);
        fetches = std::move(values);
        here_left = false;
      }
      finish_if_over();
    }
    void ended(const std::string& task, const error* failed) {
      if (failed) fail(*failed);
      {
        std::lock_guard hold(mutex);
        left.erase(task);
      }
      finish_if_over();
    }
    void fail(const error& why) {
      {
        std::lock_guard hold(mutex);
        if (failure || finished) return;
        failure = why;
      }
      session->cancel(*this, why);
      finish_if_over();
    }
    void finish_if_over() {
      {
        std::lock_guard hold(mutex);
        if (finished || here_left || (!failure && !left.empty())) return;
        finished = true;
      }
      session->leave(*this);
      const auto callback = std::move(done);
      callback(std::move(fetches), failure ? &*failure : nullptr);
    }
  };

  // ---- knowing the tasks

  std::vector<std::string> all_tasks() const {
    std::vector<std::string> result;
    for (const auto& name : s_.peers.names())
      if (name == s_.name || passes_filters(name)) result.push_back(name);
    return result;
  }
  bool passes_filters(const std::string& task) const {
    if (settings_.filters.empty()) return true;
    const device_spec spec = parse_device(task);
    return std::any_of(settings_.filters.begin(), settings_.filters.end(), [&](const std::string& f) {
      const device_spec filter = parse_device(f);
      return is_specification(
          device_spec{}.with_job(filter.job()).with_replica(filter.replica()).with_task(filter.task()), spec);
    });
  }
  std::vector<std::string> met_tasks() const {
    std::lock_guard hold(mutex_);
    std::vector<std::string> result;
    for (const auto& [task, info] : known_) result.push_back(task);
    return result;
  }
  std::vector<device_info> known_devices() const {
    std::lock_guard hold(mutex_);
    std::vector<device_info> all;
    for (const auto& name : s_.peers.names())
      if (const auto at = known_.find(name); at != known_.end())
        all.insert(all.end(), at->second.devices.begin(), at->second.devices.end());
    return all;
  }

  // The tasks that the requests of some nodes speak of; this one where a request speaks of none.
  std::vector<std::string> tasks_asked_for(const std::vector<node_id>& nodes) const {
    std::set<std::string> asked{s_.name};
    for (const node_id id : nodes) {
      const device_spec& r = graph_[id].requested;
      if (r.job().empty() && r.task() < 0 && r.replica() < 0) continue;
      const auto place = device_spec{}.with_job(r.job()).with_replica(r.replica()).with_task(r.task());
      for (const auto& name : all_tasks())
        if (is_specification(place, parse_device(name))) asked.insert(name);
    }
    return {asked.begin(), asked.end()};
  }

  // Waits until their devices are known.
  void learn(const std::vector<std::string>& tasks, patience until) {
    for (const auto& task : tasks) {
      {
        std::lock_guard hold(mutex_);
        if (known_.count(task)) continue;
      }
      known_task info;
      if (task == s_.name) {
        info.devices = s_.here.devices();
      } else {
        info.incarnation = meet(task, until);
        info.devices = ask<status_reply>(task, status_request{}, until).devices;
      }
      std::lock_guard hold(mutex_);
      known_.emplace(task, std::move(info));
    }
  }

  std::uint64_t meet(const std::string& task, patience until) {
    const auto way = s_.values.way_to(task);
    connect_and_wait(s_.net, way, waits(until));
    return way->incarnation();
  }
  // The same for one that was there before: when it does not come back at once, it is lost.
  std::uint64_t meet_again(const std::string& task) {
    try {
      return meet(task, s_.net.now() + std::chrono::milliseconds(500));
    } catch (const error& e) {
      if (e.code() != errc::deadline_exceeded) throw;
      throw error(errc::unavailable, e.sentence()).in_task(task);
    }
  }
  template <class Reply, class Request>
  Reply ask(const std::string& task, const Request& request, patience until) {
    return ask_and_wait<Reply>(s_.net, s_.peers.way_to(task), request, waits(until));
  }
  // What a closed session waits for is of no use any more.
  wait_options waits(patience until) const {
    return {.what = "waiting for the peers of the step", .until = until, .check = [this] { expect_open(); }};
  }
  void expect_open() const {
    std::lock_guard hold(mutex_);
    if (closed_) throw error(errc::failed_precondition, "the session is closed");
  }

  // ---- making steps

  void check(const runtime::step_signature& s) const {
    expect_open();
    if (spoiled_) throw *spoiled_;
    const auto expect = [&](node_id id, int index) {
      if (!graph_.contains(id) || index < 0 ||
          index >= static_cast<int>(std::max<std::size_t>(graph_[id].outputs.size(), 1)))
        throw error(errc::invalid_argument, "a step names an output that is not in its graph");
    };
    for (const auto& o : s.feeds) expect(o.node, o.index);
    for (const auto& o : s.fetches) expect(o.node, o.index);
    for (const node_id t : s.targets) expect(t, 0);
    for (const auto* ends : {&s.feeds, &s.fetches})
      for (const auto& o : *ends)
        if (graph_[o.node].outputs.empty())
          throw error(errc::invalid_argument, "'" + graph_[o.node].name + "' has no value to feed or fetch");
  }

  pinion::plan place(const runtime::step_signature& signature, patience until) {
    expect_open();
    const auto nodes = runtime::prune(graph_, signature);
    learn(tasks_asked_for(nodes), until);
    try {
      return place_on_known(nodes);
    } catch (const error& e) {
      const bool more_tasks = met_tasks().size() < all_tasks().size();
      if (e.code() != errc::invalid_argument || !more_tasks) throw;
    }
    learn(all_tasks(), until);  // one of them may have the device that is asked for
    return place_on_known(nodes);
  }
  pinion::plan place_on_known(const std::vector<node_id>& nodes) const {
    return simple_placer{}(
        placement_problem{graph_, nodes, known_devices(), kept_, parse_device(s_.name), settings_.soft});
  }

  std::shared_ptr<step> compile(const pinion::plan& placed, const runtime::step_signature& signature,
                                std::uint64_t number, patience until) {
    const auto& devices = placed.devices();
    const std::string home = s_.name + "/device:CPU:0";
    const auto at = std::find_if(devices.begin(), devices.end(), [&](const auto& d) { return d.name == home; });
    auto parts = runtime::partitioner(graph_, placed, signature, static_cast<int>(at - devices.begin())).run();

    std::map<std::string, std::vector<runtime::partition>> by_task;
    for (auto& part : parts) {
      const std::string task(task_of_device(devices[static_cast<std::size_t>(part.device)].name));
      part.device = index_in_task(devices, part.device);
      by_task[task].push_back(std::move(part));
    }
    auto made = std::make_shared<step>();
    made->number = number;
    made->signature = signature;
    for (const auto& o : signature.feeds) made->feed_types.push_back(graph_.type_of(o));
    for (auto& [task, own] : by_task) {
      register_step message{handle_, number, cut(graph_, std::move(own)), {}};
      for (const auto& [other, unused] : by_task)
        if (other != task) message.peers.emplace_back(other, incarnation_of(other));
      made->home |= task == s_.name;
      made->parts.push_back({task, incarnation_of(task), 0, std::move(message)});
    }
    for (step_part& part : made->parts) register_part(part, until);
    return made;
  }
  static int index_in_task(const std::vector<device_info>& devices, int device) {
    const auto task = task_of_device(devices[static_cast<std::size_t>(device)].name);
    int index = 0;
    for (int d = 0; d < device; ++d) index += task_of_device(devices[static_cast<std::size_t>(d)].name) == task;
    return index;
  }
  std::uint64_t incarnation_of(const std::string& task) const {
    if (task == s_.name) return s_.incarnation;
    std::lock_guard hold(mutex_);
    return known_.at(task).incarnation;
  }
  void register_part(step_part& part, patience until) {
    if (part.task != s_.name) {
      if (meet_again(part.task) != part.incarnation)
        throw error(errc::aborted, part.task + " was restarted: its state is gone; open a new session")
            .in_task(part.task);
      const auto generation = s_.peers.way_to(part.task)->generation();
      ask<nothing>(part.task, part.message, until);
      std::lock_guard hold(mutex_);
      part.generation = generation;
      return;
    }
    wait_for<nothing>(s_.net, waits(until), [&](auto done) {
      s_.here.register_step(0, part.message, [done](const error* failed) { done({}, failed); });
    });
  }

  // ---- running

  std::shared_ptr<under_way> begin(std::uint64_t number, const std::vector<any_tensor>& feeds, ran&& done) {
    auto r = std::make_shared<under_way>();
    std::lock_guard hold(mutex_);
    if (closed_) throw error(errc::failed_precondition, "the session is closed");
    r->step = find_held(number);
    check_feeds(*r->step, feeds);
    r->session = this;
    r->keeps = shared_from_this();
    r->run = (handle_ << 32) + ++last_run_;
    r->done = std::move(done);
    for (const auto& part : r->step->parts)
      if (part.task != s_.name) r->left.insert(part.task);
    running_[r->run] = r;
    return r;
  }
  std::shared_ptr<step> find(std::uint64_t number) const {
    std::lock_guard hold(mutex_);
    return find_held(number);
  }
  std::shared_ptr<step> find_held(std::uint64_t number) const {
    const auto at = steps_.find(number);
    if (at == steps_.end()) throw error(errc::not_found, "the session has no such step");
    return at->second;
  }
  static void check_feeds(const step& s, const std::vector<any_tensor>& feeds) {
    if (feeds.size() != s.feed_types.size())
      throw error(errc::invalid_argument, "the step takes " + std::to_string(s.feed_types.size()) + " feeds, not " +
                                              std::to_string(feeds.size()));
    for (std::size_t i = 0; i < feeds.size(); ++i) {
      const auto& want = s.feed_types[i];
      if (feeds[i].empty() || feeds[i].dtype() != want.dtype || !fits(feeds[i].shape(), want.shape))
        throw error(errc::invalid_argument, "feed " + std::to_string(i) + " is not " +
                                                std::string(to_string(want.dtype)) + " " + to_string(want.shape));
    }
  }
  void begin_at(const std::string& task, const std::shared_ptr<under_way>& r) {
    rpc::call<nothing>(*s_.peers.way_to(task), rpc::lane::data, run_step{handle_, r->step->number, r->run},
                       std::function<void(nothing, const error*)>(
                           [r, task](nothing, const error* failed) { r->ended(task, failed); }));
  }
  // Those that have ended their parts may still hold values that nobody will pull.
  void cancel(const under_way& r, const error& why) {
    s_.here.cancel(r.run, why);
    for (const auto& part : r.step->parts)
      if (part.task != s_.name)
        s_.peers.way_to(part.task)->notify(rpc::lane::control, cancel_run::method, rpc::encode(cancel_run{r.run, why}));
  }
  void leave(under_way& r) {
    {
      std::lock_guard hold(mutex_);
      running_.erase(r.run);
    }
    s_.net.post([self = r.shared_from_this()] {
      if (self->timer) self->timer->cancel();
    });
  }

  rpc::awaitable<void> watch(std::shared_ptr<under_way> r, time_point until) {
    r->timer = s_.net.make_timer();
    bool over = false;
    {
      std::lock_guard hold(r->mutex);
      over = r->finished;
    }
    if (!over) over = !co_await r->timer->wait_until(until);
    if (!over) r->fail(too_late(*r));
  }
  error too_late(under_way& r) const {
    std::string waits;
    if (const auto key = s_.here.waits_for(r.run); !key.empty()) {
      const std::string from(task_of_device(remote_rendezvous::source(key)));
      waits = "waiting for " + std::string(remote_rendezvous::what(key)) + " from " + from;
    }
    std::lock_guard hold(r.mutex);
    for (const auto& task : r.left) waits += (waits.empty() ? "" : "; ") + task + " has not ended its part";
    for (const auto& task : r.left)
      if (const auto way = s_.peers.way_to(task); way->up())
        waits += " (" + task + " was last heard " +
                 std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(way->silence()).count()) +
                 " ms ago)";
    error e(errc::deadline_exceeded,
            "the step did not end within the session's operation_timeout" + (waits.empty() ? "" : ": " + waits));
    if (!r.left.empty()) e.in_task(*r.left.begin());
    return e;
  }

  struct known_task {
    std::uint64_t incarnation = 0;
    std::vector<device_info> devices;
  };

  master_services& s_;
  const std::shared_ptr<std::shared_mutex> in_use_;
  const std::uint64_t handle_;
  const session_settings settings_;

  std::mutex building_;  // held while a step is made; guards the next four
  graph graph_;
  std::optional<error> spoiled_;
  std::unordered_map<node_id, std::string> kept_;
  std::uint64_t next_step_ = 1;

  mutable std::mutex mutex_;
  bool closed_ = false;
  std::uint64_t last_run_ = 0;
  std::map<std::string, known_task> known_;
  std::map<std::uint64_t, std::shared_ptr<step>> steps_;
  std::map<std::uint64_t, std::shared_ptr<under_way>> running_;
};

// The sessions of a server. Thread-safe.
class master {
 public:
  explicit master(master_services services) : services_(std::move(services)) {}
  ~master() { stop(error(errc::unavailable, "the server was stopped")); }

  std::shared_ptr<master_session> open(session_settings settings) {
    std::lock_guard hold(mutex_);
    if (stopped_) throw error(errc::unavailable, services_.name + " is being stopped");
    std::uint64_t handle = 0;
    while (handle == 0 || sessions_.count(handle)) handle = rpc::random_number() & 0xffffffffu;
    auto s = std::make_shared<master_session>(services_, handle, std::move(settings));
    sessions_.emplace(handle, s);
    return s;
  }
  std::shared_ptr<master_session> find(std::uint64_t handle) const {
    std::lock_guard hold(mutex_);
    const auto at = sessions_.find(handle);
    if (at == sessions_.end())
      throw error(errc::aborted,
                  services_.name + " does not know this session: it was restarted, or the session was closed");
    return at->second;
  }
  void close(std::uint64_t handle, const error& why) {
    std::shared_ptr<master_session> s;
    {
      std::lock_guard hold(mutex_);
      const auto at = sessions_.find(handle);
      if (at == sessions_.end()) return;
      s = std::move(at->second);
      sessions_.erase(at);
    }
    s->close(why);
  }
  void close_all(const error& why) {
    std::map<std::uint64_t, std::shared_ptr<master_session>> all;
    {
      std::lock_guard hold(mutex_);
      all.swap(sessions_);
    }
    for (const auto& [handle, s] : all) s->close(why);
  }
  void stop(const error& why) {
    {
      std::lock_guard hold(mutex_);
      stopped_ = true;
    }
    close_all(why);
    std::unique_lock nobody_uses_it(*services_.in_use);
  }
  // Forgets the variables of some containers, or of all, on every task, and closes the sessions of this master. Blocks
  // until every task has done so.
  void reset(const std::vector<std::string>& containers) {
    std::shared_lock using_server(*services_.in_use);
    close_all(error(errc::aborted, "the session was closed: the state of its cluster was reset"));
    services_.here.reset(containers);
    for (const auto& task : services_.peers.names()) {
      if (task == services_.name) continue;
      const auto way = services_.peers.way_to(task);
      connect_and_wait(services_.net, way, {.what = {}, .until = services_.net.now() + std::chrono::seconds(10)});
      ask_and_wait<nothing>(services_.net, way, reset_containers{containers});
    }
  }
  rpc::network& network() { return services_.net; }

 private:
  master_services services_;
  mutable std::mutex mutex_;
  bool stopped_ = false;
  std::map<std::uint64_t, std::shared_ptr<master_session>> sessions_;
};

}  // namespace pinion::inline v0::distributed
