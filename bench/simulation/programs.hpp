// The programs of the hosts: a ps serves, workers train, and a guest runs steps of its own over the wire.
#pragma once

#include "cluster.hpp"

namespace simulation {

namespace tr = pinion::train;

// A step that succeeds or fails takes this long at most, where nothing in it waits for something else than a peer:
// two heartbeats, some of silence before that is noticed, and some of the network's own.
inline constexpr std::chrono::seconds longest_step{15};

// A step of workers who wait for each other ends with their operation_timeout, if not sooner: the chief may be gone.
inline constexpr std::chrono::seconds operation_timeout{60};
inline duration longest_step_of(training kind) {
  return kind == training::async ? longest_step : longest_step + operation_timeout;
}

// The span of a step, without what its own process stood meanwhile.
class stopwatch {
 public:
  explicit stopwatch(const life& of) : of_(of) {}
  duration time() const { return history::now() - began_ - (of_.frozen_for - stood_); }

 private:
  const life& of_;
  time_point began_ = history::now();
  duration stood_ = of_.frozen_for;
};

inline void serve(cluster& c, host& h, life& mine) try {
  serving here(c, h, mine);
  mine.net->wait(mine.asked, {});
  if (mine.dead) return;
  here.server().drain();
  c.accounts.lost_state();
} catch (const pn::error& e) {
  if (!mine.dead) c.tells.broken(fmt::format("{} does not serve: {}", h.full(), e.what()));
}

inline std::string name_of_vector(int worker) {
  return fmt::format("steps_of_{}", worker);
}
inline std::string name_of_twin(int worker) {
  return fmt::format("twin_of_{}", worker);
}

// In ssp no worker is more steps ahead of the slowest.
inline constexpr std::int64_t staleness = 3;

// The graph of a worker: w goes towards 3, and its step adds 1 to its own vector beside it, and to the vector's twin on
// another ps, if there is one.
struct model {
  pn::expr<float> one, result, twin;
  std::vector<tr::any_hook> hooks;              // of the way in which the workers train
  std::optional<pn::expr<std::int64_t>> ahead;  // of the slowest, in ssp

  model(const cluster& c, int worker) {
    std::vector<pn::variable_handle<float>> vectors, twins;
    const pn::device on{
        pn::replica_device_setter{{.worker_device = fmt::format("/job:worker/task:{}", worker), .cluster = c.spec}}};
    const auto step = tr::get_or_create_global_step();
    const auto w = pn::variable(pn::tensor<float>({16}), {.name = "w"});
    for (int i = 0; i < c.drawn.workers; ++i) {
      vectors.push_back(count_on(c, i, c.drawn.elements, name_of_vector(i)));
      twins.push_back(count_on(c, i + 1, 1, name_of_twin(i)));
    }
    one = pn::placeholder<float>({c.drawn.elements}, "one");
    const pn::control_dependencies after{minimize(c, worker, pn::reduce_mean(pn::square(w - 3.0f)), step)};
    const auto own = static_cast<std::size_t>(worker);
    result = pn::assign_add(vectors.at(own), one * 1.0f) + 0.0f;
    pn::tensor<float> single({1});
    single.span()[0] = 1;
    twin = pn::assign_add(twins.at(own), single) + 0.0f;
  }

 private:
  template <class Loss, class Step>
  pn::operation minimize(const cluster& c, int worker, const Loss& loss, const Step& step) {
    const tr::gradient_descent descent{{.learning_rate = .01f}};
    const auto with = [&](auto&& all) {
      const pn::operation train = all.minimize(loss, {.global_step = step});
      hooks.push_back(all.make_session_run_hook(worker == 0));
      return train;
    };
    switch (c.drawn.training) {
      case training::sync:
        return with(tr::sync_replicas{descent, {.replicas_to_aggregate = c.drawn.workers, .replica = worker}});
      case training::ssp: {
        tr::ssp all{descent, {.staleness = staleness, .total_num_replicas = c.drawn.workers, .replica = worker}};
        const pn::operation train = with(all);
        ahead = all.steps_ahead();
        return train;
      }
      default: return descent.minimize(loss, {.global_step = step});
    }
  }
  static pn::variable_handle<float> count_on(const cluster& c, int ps, std::int64_t elements, const std::string& name) {
    const pn::device there{fmt::format("/job:ps/task:{}", ps % c.drawn.pss)};
    return pn::variable(pn::tensor<float>({elements}), {.name = name, .trainable = false});
  }
};

// Compares all elements of a vector, and returns what they are.
inline std::int64_t count_of(cluster& c, std::string_view whose, const pn::tensor<float>& vector) {
  for (const float x : vector.span())
    if (x != vector.span()[0])
      c.tells.broken(fmt::format("a vector of {} has {} beside {}", whose, vector.span()[0], x)), notice_death();
  return static_cast<std::int64_t>(vector.span()[0]);
}

// Follows the steps of a worker: when each begins, how long it takes, and what it was told.
struct watch {
  cluster& c;
  life& mine;
  int worker;
  pn::expr<float> vector, twin;
  std::optional<pn::expr<std::int64_t>> ahead;
  std::optional<stopwatch> under_way = {};
  time_point began = {};
  int told = 0;  // how many steps have succeeded

  pn::run_request before_run(tr::run_context&) {
    notice_death();
    c.accounts.begins(worker);
    under_way.emplace(mine);
    began = history::now();
    c.from = &c.at("worker", worker);
    c.to = &c.at("ps", worker % c.drawn.pss);
    c.begins.notify_all();
    pn::run_request asks{.fetches = {vector, twin}};
    if (ahead) asks.fetches.push_back(*ahead);
    return asks;
  }
  void after_run(tr::run_context&, std::span<const pn::any_tensor> values) {
    notice_death();
    ends();
    ++told;
    if (const auto steps = ahead ? *values[2].data<std::int64_t>() : 0; steps > staleness)
      c.tells.broken(fmt::format("worker {} is {} steps ahead of the slowest", worker, steps));
    c.accounts.enter(worker, count_of(c, mine.name, pn::tensor<float>(values[0])),
                     count_of(c, mine.name, pn::tensor<float>(values[1])));
  }
  void ends() {
    if (!under_way) return;
    const duration took = under_way->time();
    under_way.reset();
    if (took > longest_step_of(c.drawn.training) && !mine.dead)
      c.tells.broken(fmt::format("a step of worker {} took {:.1f} s", worker, seconds(took)));
  }
  void fails(std::string_view line) {
    if (under_way) c.expect_noise(began, line);
    ends();
  }
};

// A checkpoint is told to be complete: it can be read.
inline void note_saved(cluster& c, const std::string& prefix) try {
  const tr::checkpoint_reader reader(prefix);
  for (int i = 0; i < c.drawn.workers; ++i)
    c.accounts.saved(i, count_of(c, prefix, pn::tensor<float>(reader.read(name_of_vector(i)))),
                     count_of(c, prefix, pn::tensor<float>(reader.read(name_of_twin(i)))));
} catch (const pn::error& e) {
  c.tells.broken(fmt::format("the checkpoint {} was saved, and cannot be read: {}", prefix, e.what()));
}

inline void work(cluster& c, host& h, life& mine) try {
  serving here(c, h, mine);
  dice chance(c.chance());
  pn::graph g;
  const auto use = g.as_default();
  model m(c, h.task);
  const auto follows = std::make_shared<watch>(watch{c, mine, h.task, m.result, m.twin, m.ahead});
  m.hooks.push_back(follows);
  pn::tensor<float> ones({c.drawn.elements});
  for (float& x : ones.span()) x = 1;
  const auto listen = [&](std::string_view line) {
    if (mine.dead) return;
    c.tells.tell(fmt::format("{}: {}", h.full(), line));
    if (line.find("; recovering: ") != line.npos) follows->fails(line);
    const bool lost = line.find(", is lost: ") != line.npos;
    if (lost) c.expect_noise(history::now() - 10s, line);
    if (lost || line.find(", is back after ") != line.npos || line.starts_with("recovered")) mine.misses_chief = lost;
    constexpr std::string_view saved = "saved checkpoint ";
    if (line.starts_with(saved)) note_saved(c, std::string(line.substr(saved.size())));
  };
  {
    tr::monitored_training_session sess{{.master = "pinion://" + h.address(),
                                         .is_chief = h.task == 0,
                                         .checkpoint_dir = h.task == 0 ? c.disk.root() + "/" + h.name + "/saved" : "",
                                         .hooks = m.hooks,
                                         .save_checkpoint_secs = c.drawn.save_secs,
                                         .config = {.operation_timeout = operation_timeout},
                                         .log_step_count_steps = 0,
                                         .max_wait = 3600s,
                                         .log = listen,
                                         .stop_on_signals = false}};
    while (!sess.should_stop() && !mine.asked.done()) {
      std::this_thread::sleep_for(chance.between(10ms, c.brisk ? 500ms : 4s));
      notice_death();
      const int before = follows->told;
      sess.run({{m.one, ones}}, m.result);
      if (follows->told != before + 1)
        c.tells.broken(fmt::format("{} steps of {} succeeded in one run", follows->told - before, h.full()));
    }
    notice_death();
    sess.close();
  }
} catch (const is_dead&) {
} catch (const pn::error& e) {
  // A chief that cannot write when it begins says so and ends.
  const bool no_room = e.code() == pn::errc::resource_exhausted && c.disk.full;
  if (!mine.dead && !no_room) c.tells.broken(fmt::format("{} failed: {}", h.full(), e.what()));
}

// ---- what tasks keep

// What a task keeps all the time, and not only while it works: the most of all tasks.
struct leftover {
  std::size_t early = 0, offered = 0;  // runs that have values and have not begun; values that nobody pulls
  std::string early_at = {}, offered_at = {};
};

// Looks for some seconds.
inline leftover least_left(cluster& c) {
  constexpr auto most = std::numeric_limits<std::size_t>::max();
  std::vector<std::pair<std::size_t, std::size_t>> least(c.hosts.size(), {most, most});
  for (int looks = 0; looks < 30; ++looks) {
    for (std::size_t i = 0; i < c.hosts.size(); ++i) {
      const glance server(c.hosts[i]);
      if (!server) {
        least[i] = {0, 0};
        continue;
      }
      const auto has = server->values().count();
      least[i].first = std::min(least[i].first, has.runs - std::min(has.runs, server->report().runs.size()));
      least[i].second = std::min(least[i].second, has.offered);
    }
    std::this_thread::sleep_for(150ms);
  }
  leftover left;
  for (std::size_t i = 0; i < c.hosts.size(); ++i) {
    if (least[i].first > left.early) left.early = least[i].first, left.early_at = c.hosts[i].full();
    if (least[i].second > left.offered) left.offered = least[i].second, left.offered_at = c.hosts[i].full();
  }
  return left;
}

// ---- the guest

// A graph of a guest: a value that goes to and fro between two tasks, a count, and a queue at which a step waits.
struct visit {
  pn::graph g;
  pn::default_scope use = g.as_default();
  pn::variable_handle<float> count;
  pn::expr<float> up, hops;
  pn::operation init, takes;
  float added = 0;
  host &at_ps, &at_worker;

  visit(cluster& c, dice& chance)
      : at_ps(c.at("ps", static_cast<int>(chance.below(static_cast<std::uint64_t>(c.drawn.pss))))),
        at_worker(c.at("worker", static_cast<int>(chance.below(static_cast<std::uint64_t>(c.drawn.workers))))) {
    const std::string ps = at_ps.full(), worker = at_worker.full();
    const auto elements = std::int64_t{1} << chance.below(10);
    pn::tensor<float> ones({elements});
    for (float& x : ones.span()) x = 1;
    {
      const pn::device on{ps};
      count = pn::variable(pn::tensor<float>({elements}), {.name = fmt::format("guest_{}", elements)});
      up = pn::assign_add(count, ones);
      pn::fifo_queue<float> q{{.capacity = 2, .shapes = {{}}}};
      takes = pn::group(q.dequeue());
    }
    hops = up;
    for (auto i = 1 + chance.below(chance.chance(20) ? 20 : 4); i > 0; --i) {
      const pn::device there{worker};
      hops = pn::identity(hops + 1.0f);
      const pn::device back{ps};
      hops = pn::identity(hops + 1.0f);
      added += 2;
    }
    init = pn::global_variables_initializer();
  }
};

class guest {
 public:
  guest(cluster& c, life& mine) : c_(c), mine_(mine), chance_(c.chance()) {}

  void stay() {
    while (!mine_.asked.done()) {
      notice_death();
      std::this_thread::sleep_for(chance_.between(100ms, 20s));
      come();
    }
  }

 private:
  void come() {
    visit v(c_, chance_);
    came_ = history::now();
    host& master = c_.hosts[chance_.below(c_.hosts.size() - 1)];
    notice_death();
    limit_ = chance_.chance(50) ? 60s : chance_.between_ms(2000, 8000);
    pn::session s({.target = "pinion://" + master.name + std::string(from_outside),
                   .graph = &v.g,
                   .startup_timeout = 10s,
                   .operation_timeout = limit_});
    float told = 0;
    if (!succeeds([&] { s.run(v.init); }, longest_step + 10s)) return;
    for (auto steps = chance_.below(12); steps > 0 && !mine_.asked.done(); --steps) {
      host* const ends[] = {&v.at_worker, &v.at_ps, &master};
      const auto first = chance_.below(3);
      c_.from = ends[first];
      c_.to = ends[(first + 1 + chance_.below(2)) % 3];
      c_.begins.notify_all();
      if (const auto asked = take_errand(v, master); asked == errand::leave)
        return wait_in_vain(s, v, true);
      else if (asked != errand::none)
        return crowd(s, v, master, asked);
      if (chance_.chance(15)) return wait_in_vain(s, v);
      if (chance_.chance(10)) return hurry(s, v);
      if (chance_.chance(25)) return crowd(s, v, master);
      float got = 0;
      if (!succeeds([&] { got = static_cast<float>(count_of(c_, "the guest", pn::tensor<float>(s.run(v.hops)))); },
                    longest_step + 10s))
        return;
      if (got - v.added != told + 1)
        c_.tells.broken(fmt::format("the guest's count is {}, not {}", got - v.added, told + 1));
      told = got - v.added;
      std::this_thread::sleep_for(chance_.between(0ms, 2s));
    }
    c_.tells.tell(fmt::format("the guest made {} steps", told));
  }

  // The errand that the guest is asked for, if this visit can do it: its steps may take long, and their master takes
  // no part in them.
  errand take_errand(const visit& v, const host& master) {
    if (c_.wanted == errand::none || limit_ < longest_step || &master == &v.at_ps || &master == &v.at_worker)
      return errand::none;
    return std::exchange(c_.wanted, errand::none);
  }

  // A step that waits for nothing that comes ends by its deadline, or when it is cancelled. While it waits, the ps may
  // be asked to end: others then meet one that takes no more steps.
  void wait_in_vain(pn::session& s, const visit& v, bool leaves = false) {
    const bool cancels = !leaves && chance_.chance(40), closes = !leaves && !cancels && chance_.chance(50);
    const pn::error why(pn::errc::cancelled, "the guest has no time");
    std::optional<pn::error> met;
    bool ended = false;
    std::thread waits([&] {
      const stopwatch time(mine_);
      try {
        s.run(v.takes);
        if (!mine_.dead) c_.tells.broken("a step took a value out of an empty queue");
      } catch (const pn::error& e) {
        met = e;
      }
      check_time(time, 10s + 60s + 5s);
      ended = true;
    });
    std::this_thread::sleep_for(chance_.between(0ms, 1500ms));
    const stopwatch since(mine_);
    c_.tells.tell(cancels ? "the guest cancels" : closes ? "the guest closes its session" : "the guest waits");
    if (closes) s.close();
    if (leaves) c_.leave(v.at_ps);
    // A step that is still made ready when its session cancels is not under way, and begins afterwards.
    for (int n = 0; cancels && !ended && n < 5; ++n) {
      s.cancel_steps(why);
      std::this_thread::sleep_for(1s);
    }
    waits.join();
    if (cancels || closes) {
      check_time(since, longest_step);
      expect_no_old_run();
    }
    if (!cancels && !closes && limit_ < longest_step) expect_no_old_run();  // what waited is over there, too
    c_.tells.tell("the guest waited in vain: " + std::string(met ? to_string(met->code()) : "nothing"));
  }

  // Steps that are cancelled on their way, one after the other. What they leave at tasks is gone soon.
  void hurry(pn::session& s, const visit& v) {
    c_.tells.tell("the guest hurries");
    const leftover before = least_left(c_);  // early values of those whose streams broke wait for a minute
    for (auto n = 20 + chance_.below(20); n > 0 && !mine_.asked.done(); --n) {
      std::jthread cancels([&] {  // joined also where this host dies meanwhile
        std::this_thread::sleep_for(chance_.between(0ms, 6 * c_.drawn.network.max_latency));
        s.cancel_steps(pn::error(pn::errc::cancelled, "the guest is in a hurry"));
      });
      const bool goes_on = succeeds([&] { s.run(v.hops); }, longest_step + 10s, pn::errc::cancelled);
      cancels.join();
      if (!goes_on) return;
    }
    std::this_thread::sleep_for(3s);
    notice_death();
    if (came_ < c_.quiet_since) return;
    const leftover left = least_left(c_);
    if (left.early > before.early)
      c_.tells.broken(fmt::format("{} has values of {} cancelled runs", left.early_at, left.early));
    if (left.offered > 0)
      c_.tells.broken(fmt::format("{} offers {} values of cancelled runs", left.offered_at, left.offered));
  }

  // Several steps at once, perhaps over streams that break.
  void crowd(pn::session& s, const visit& v, const host& master, errand asked = errand::none) {
    c_.tells.tell("the guest makes steps at once");
    std::vector<std::thread> all;
    for (auto n = 2 + chance_.below(3); n > 0; --n)
      all.emplace_back([&] {
        try {
          for (auto steps = 2 + chance_.below(8); steps > 0 && !mine_.asked.done(); --steps) {
            succeeds([&] { s.run(v.hops); }, longest_step + 10s);  // others come after one that has failed
            std::this_thread::sleep_for(chance_.between(0ms, 300ms));
          }
        } catch (const is_dead&) {
        }
      });
    if (asked != errand::none) {
      std::this_thread::sleep_for(chance_.between(0ms, 10 * c_.drawn.network.max_latency));
      if (asked == errand::orphan)
        c_.lose(master, v.at_worker);
      else
        c_.part(v.at_ps, v.at_worker, 30s, 50s);
    } else if (!c_.calm && chance_.chance(70)) {
      const bool back = chance_.chance(50);
      std::this_thread::sleep_for(chance_.between(0ms, 10 * c_.drawn.network.max_latency));
      const host& other = &master != &v.at_ps && (back || &master == &v.at_worker) ? v.at_ps : v.at_worker;
      switch (chance_.below(5)) {
        case 0: c_.stumble(back ? v.at_worker : v.at_ps, back ? v.at_ps : v.at_worker); break;
        case 1:  // the last value of a step goes to its master
          c_.stumble(v.at_ps, &master == &v.at_ps ? v.at_worker : master, 300ms);
          break;
        case 2: c_.lose(master, other); break;
        case 3: c_.part(master, other); break;
        default: c_.part(v.at_ps, v.at_worker);
      }
    }
    for (std::thread& t : all) t.join();
  }

  // What the guest has cancelled goes on nowhere.
  void expect_no_old_run() {
    std::this_thread::sleep_for(10s);
    notice_death();
    if (came_ < c_.quiet_since) return;
    for (host& h : c_.hosts)
      if (const glance server(h); server)
        for (const pn::run_report& r : server->report().runs)
          if (r.age > 9)
            c_.tells.broken(fmt::format("a run at {} goes on although the guest has cancelled it", h.full()));
  }

  // `harmless`: an error after which the guest goes on.
  template <class Body>
  bool succeeds(const Body& body, duration at_most, std::optional<pn::errc> harmless = {}) {
    const stopwatch time(mine_);
    try {
      body();
      notice_death();
      check_time(time, at_most);
      return true;
    } catch (const pn::error& e) {
      notice_death();
      check_time(time, at_most);
      const auto code = e.code();
      if (code == harmless) return true;
      const bool may_be = code == pn::errc::unavailable || code == pn::errc::aborted ||
                          code == pn::errc::deadline_exceeded || code == pn::errc::failed_precondition;
      if (!may_be) c_.tells.broken(fmt::format("a step of the guest failed: {}", e.what()));
      c_.expect_noise(came_, e.what());
      c_.tells.tell(fmt::format("the guest failed: {}", e.what()));
      return false;
    }
  }
  void check_time(const stopwatch& time, duration at_most) {
    if (time.time() > at_most && !mine_.dead)
      c_.tells.broken(fmt::format("a step of the guest took {:.1f} s", seconds(time.time())));
  }

  cluster& c_;
  life& mine_;
  dice chance_;
  time_point came_{};
  std::chrono::milliseconds limit_{};  // of its steps
};

inline void be_guest(cluster& c, host&, life& mine) try { guest(c, mine).stay(); } catch (const is_dead&) {
} catch (const pn::error& e) {
  if (!mine.dead) c.tells.broken(fmt::format("the guest failed: {}", e.what()));
}

inline void start(cluster& c, host& h) {
  c.start(h, [&c](host& at, life& mine) {
    if (at.job == "ps")
      serve(c, at, mine);
    else if (at.job == "worker")
      work(c, at, mine);
    else
      be_guest(c, at, mine);
  });
}

}  // namespace simulation
