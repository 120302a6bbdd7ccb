// The weather of a simulation: faults that come and go at random, and calm in between, in which all that was broken
// must go on.
#pragma once

#include "programs.hpp"

namespace simulation {

class weather {
 public:
  explicit weather(cluster& c) : c_(c), chance_(c.chance()) {}

  // Starts the cluster, lets it train for some hours, and ends it. In a thread of its own.
  void blow(double hours) {
    c_.disk.on_read = [this] { c_.restores.notify_all(); };
    for (host& h : c_.hosts) start(c_, h);
    expect_steps("at the beginning");
    const auto until =
        history::now() + std::chrono::duration_cast<duration>(std::chrono::duration<double>(hours * 3600));
    while (history::now() < until && c_.tells.broken().empty()) {
      for (auto n = 1 + chance_.below(3); n > 0; --n) {
        if (chance_.chance(60)) await_step();
        fault();
        if (chance_.chance(70)) std::this_thread::sleep_for(chance_.between(0s, 12s));
      }
      std::this_thread::sleep_for(chance_.between(0s, 10s));
      calm();
      expect_steps("after the faults");
      std::this_thread::sleep_for(12s);
      look();
      if (chance_.chance(40)) startle();
      if (chance_.chance(80)) send_guest();
      c_.quiet_since = history::now();
      std::this_thread::sleep_for(chance_.between(0s, 60s));
      if (chance_.chance(70)) rest();
      c_.quiet_since = time_point::max();
      c_.calm = false;
    }
    if (c_.tells.broken().empty())
      end();
    else
      stop_anyhow();
  }
  int faults() const { return faults_; }

 private:
  host& any() { return c_.hosts[chance_.below(c_.hosts.size())]; }
  host& another(const host& than) {
    for (;;)
      if (host& h = any(); &h != &than) return h;
  }

  // Many faults come while a step is under way.
  void await_step() {
    std::unique_lock hold(c_.beginning);
    c_.begins.wait_for(hold, 5s);
    hold.unlock();
    std::this_thread::sleep_for(chance_.between(0ms, 20 * c_.drawn.network.max_latency));
  }

  void fault() {
    const bool aimed = c_.from && chance_.chance(50);  // at a link that is in use
    host& a = aimed ? *c_.from : any();
    host& b = aimed ? *c_.to : another(a);
    ++faults_;
    switch (chance_.below(14)) {
      case 0: return die(chance_.chance(50) ? c_.at("worker", 0) : a, true);  // the chief's disk has the checkpoints
      case 1: return die(a, false);
      case 2:
        if (a.lives() && !a.now->frozen) c_.freeze(a);
        return;
      case 3:
        if (a.lives() && !a.now->frozen) {
          c_.freeze(a);
          std::this_thread::sleep_for(chance_.between(1ms, 5s));
          c_.thaw(a);
        }
        return;
      case 4: tell("cut", a, b); return c_.world.cut(a.name, b.name);
      case 5: tell("cut the way", a, b); return c_.world.cut_way(a.name, b.name);
      case 6: tell("reset", a, b); return c_.world.reset(a.name, b.name);
      case 7:
        c_.tells.tell("isolate " + a.full());
        for (host& h : c_.hosts)
          if (&h != &a) c_.world.cut(a.name, h.name);
        return;
      case 8: return flicker(a, b);
      case 9:
        c_.tells.tell("the disks are full");
        c_.disk.full = true;
        return;
      case 10: return c_.stumble(a, b);
      case 11: return lose(a, b);
      case 12: return tear_restore();
      default: return c_.leave(a);
    }
  }
  void tell(std::string_view what, const host& a, const host& b) {
    c_.tells.tell(fmt::format("{} {} {}", what, a.full(), b.full()));
  }
  void die(host& h, bool power) {
    if (!h.lives()) return;
    c_.kill(h, power);
    if (!chance_.chance(50)) return;
    std::this_thread::sleep_for(chance_.between(10ms, 10s));
    start_again(h);
    if (h.job != "ps" || !chance_.chance(50)) return;
    std::this_thread::sleep_for(chance_.between(0ms, 3s));  // the chief restores what was lost
    die(c_.at("worker", 0), false);
  }
  // A link that is slow: all that it carries stands for a while, again and again.
  void flicker(host& a, host& b) {
    tell("slow", a, b);
    for (auto n = 3 + chance_.below(30); n > 0; --n) {
      c_.world.cut(a.name, b.name);
      std::this_thread::sleep_for(chance_.between(1ms, 800ms));
      c_.world.heal(a.name, b.name);
      std::this_thread::sleep_for(chance_.between(0ms, 100ms));
    }
  }
  // Something between two hosts forgets their streams, perhaps again and again while they make others.
  void lose(host& a, host& b) {
    if (!chance_.chance(70)) return c_.lose(a, b);
    tell("reset", a, b);
    c_.world.reset(a.name, b.name);
    for (auto times = 1 + chance_.below(4); times > 0; --times) {
      await_connect(a, b);
      std::this_thread::sleep_for(chance_.between(0ms, 10 * c_.drawn.network.max_latency));
      c_.lose(a, b);
    }
  }
  // Two hosts shake hands, if they do it soon.
  void await_connect(const host& a, const host& b) {
    const auto until = history::now() + 8s;
    std::unique_lock hold(c_.beginning);
    const auto begins = [&](const host& from, const host& to) {
      return from.lives() && c_.connecting == std::pair<const void*, std::string>(from.now->net.get(), to.address());
    };
    while (c_.connects.wait_until(hold, until) == std::cv_status::no_timeout)
      if (begins(a, b) || begins(b, a)) return;
  }
  // The chief dies in the middle of a restore: one ps has got its variables, and the other has not.
  void tear_restore() {
    host &lost = c_.at("ps", c_.drawn.pss - 1), &other = c_.at("ps", 0), &chief = c_.at("worker", 0);
    if (&lost == &other || !lost.lives() || lost.now->frozen) return;
    c_.kill(lost, false);
    std::this_thread::sleep_for(chance_.between(10ms, 3s));
    start_again(lost);
    for (int times = 0; times < 3 && chief.lives() && !chief.now->frozen; ++times) {
      bool restores = false;
      {
        std::unique_lock hold(c_.beginning);
        restores = c_.restores.wait_for(hold, 20s) == std::cv_status::no_timeout;
      }
      if (!restores) return;
      std::this_thread::sleep_for(chance_.between(0ms, 12 * c_.drawn.network.max_latency));
      if (!chief.lives()) return;
      tell("cut the way", chief, other);
      c_.world.cut_way(chief.name, other.name);
      std::this_thread::sleep_for(chance_.between(1ms, 500ms));
      if (!chief.lives() || chief.now->frozen) return;
      c_.kill(chief, false);
      c_.world.heal(chief.name, other.name);
      start_again(chief);
    }
  }
  // While nothing else is broken, streams break once. Who is told of that is at work again at once.
  void startle() {
    if (!c_.tells.broken().empty()) return;
    c_.brisk = true;
    std::this_thread::sleep_for(5s);
    host &a = c_.at("worker", static_cast<int>(chance_.below(static_cast<std::uint64_t>(c_.drawn.workers)))),
         &b = c_.at("ps", static_cast<int>(chance_.below(static_cast<std::uint64_t>(c_.drawn.pss))));
    tell("reset", a, b);
    c_.world.reset(a.name, b.name);
    ++faults_;
    const auto began = history::now();
    expect_steps("soon after a reset", 4s);
    c_.tells.tell(fmt::format("all make steps {:.2f} s after a reset", seconds(history::now() - began)));
    c_.brisk = false;
    std::this_thread::sleep_for(12s);
  }
  // While nothing else is broken, the guest brings one fault about, if it comes by in time.
  void send_guest() {
    if (!c_.tells.broken().empty()) return;
    c_.wanted = std::array{errand::orphan, errand::part, errand::leave}[chance_.below(3)];
    for (int waits = 0; waits < 90 && c_.wanted != errand::none; ++waits) std::this_thread::sleep_for(1s);
    if (std::exchange(c_.wanted, errand::none) != errand::none) return;
    ++faults_;
    std::this_thread::sleep_for(60s);
    calm();
    expect_steps("after a fault of the guest");
    std::this_thread::sleep_for(12s);
  }
  // After a long calm nothing is left of the faults before.
  void rest() {
    std::this_thread::sleep_for(75s);
    const leftover left = least_left(c_);
    if (left.early > 0)
      c_.tells.broken(fmt::format("{} has values of {} runs that never began", left.early_at, left.early));
    if (left.offered > 0)
      c_.tells.broken(fmt::format("{} offers {} values that nobody pulls", left.offered_at, left.offered));
  }
  void await_end(host& h) {
    const auto until = history::now() + 300s;
    while (!h.now->ended && history::now() < until) std::this_thread::sleep_for(20ms);
    if (!h.now->ended)
      c_.tells.broken(
          fmt::format("{} {}, and a thread of it still waits", h.full(), h.now->dead ? "is dead" : "was asked to end"));
  }
  void start_again(host& h) {
    if (!h.now->ended) await_end(h);
    if (h.now->ended) start(c_, h);
  }

  void calm() {
    c_.tells.tell("calm");
    c_.calm = true;
    c_.disk.full = false;
    for (host& a : c_.hosts)
      for (host& b : c_.hosts)
        if (&a != &b) c_.world.heal(a.name, b.name);
    for (host& h : c_.hosts)
      if (h.lives()) c_.thaw(h);
    for (host& h : c_.hosts)
      if (!h.lives()) start_again(h);
  }
  // Every worker makes steps again, soon.
  void expect_steps(std::string_view when, duration within = 90s) {
    std::vector<std::int64_t> before;
    for (const account& a : c_.accounts.all()) before.push_back(a.steps);
    if (!c_.tells.broken().empty()) return;
    const auto until = history::now() + within;
    const auto all_go_on = [&] {
      for (std::size_t i = 0; i < before.size(); ++i)
        if (c_.accounts.all()[i].steps < before[i] + 2) return false;
      return true;
    };
    while (!all_go_on() && history::now() < until && c_.tells.broken().empty())
      std::this_thread::sleep_for(within / 180);
    if (!c_.tells.broken().empty()) return;
    for (std::size_t i = 0; i < before.size(); ++i)
      if (c_.accounts.all()[i].steps < before[i] + 2)
        c_.tells.broken(fmt::format("worker {} makes no steps {}", i, when));
  }
  // What tasks keep is bounded.
  void look() {
    for (host& h : c_.hosts) {
      const glance server(h);
      if (!server) continue;
      if (h.now->misses_chief) c_.tells.broken(fmt::format("{} misses a chief that is there", h.full()));
      const pn::task_report r = server->report();
      const auto has = server->values().count();
      expect_at_most(h, "sessions", r.sessions.size(), 6);
      expect_at_most(h, "runs and values", has.runs + has.offered, 40);
      expect_at_most(h, "runs under way", r.runs.size(), 8);
      for (const auto& each : r.runs) expect_at_most(h, "s of age in a run", static_cast<std::size_t>(each.age), 75);
      for (const auto& each : r.sessions) expect_at_most(h, "steps of a session", each.steps.running, 4);
      expect_at_most(h, "clients", static_cast<std::size_t>(r.backlog.clients), 16);
      expect_at_most(h, "bytes that wait", r.backlog.bytes_waiting + r.backlog.bytes_received, 1 << 20);
      expect_at_most(h, "queued closures", static_cast<std::size_t>(r.pool.queued), 100);
    }
    expect_at_most(c_.hosts[0], "threads of all", scheduler::now_running()->alive(), 160);
  }
  void expect_at_most(const host& h, std::string_view what, std::size_t is, std::size_t most) {
    if (is > most) c_.tells.broken(fmt::format("{} has {} {}", h.full(), is, what));
  }

  // Training ends: the guest goes, the workers, the chief, and nothing is left at the others.
  void end() {
    calm();
    stop(c_.at("guest", 0));
    for (int i = c_.drawn.workers - 1; i >= 0; --i) stop(c_.at("worker", i));
    std::this_thread::sleep_for(100s);  // early values of runs that never began are gone
    for (int i = 0; i < c_.drawn.pss; ++i) expect_nothing_left(c_.at("ps", i));
    for (int i = 0; i < c_.drawn.pss; ++i) stop(c_.at("ps", i));
    for (int i = 0; i < c_.drawn.workers; ++i) {
      const account& a = c_.accounts.of(i);
      if (a.saved < a.told)
        c_.tells.broken(fmt::format("worker {} ended at {}, and the last checkpoint has {}", i, a.told, a.saved));
    }
    if (const auto left = scheduler::now_running()->alive(); left > 1)
      c_.tells.broken(fmt::format("{} threads are left", left - 1));
  }
  void expect_nothing_left(const host& h) {
    const glance server(h);
    if (!server) return;
    const pn::task_report r = server->report();
    expect_at_most(h, "sessions that nobody has", r.sessions.size(), 0);
    const auto has = server->values().count();
    expect_at_most(h, "runs that nobody has", r.runs.size() + has.runs, 0);
    expect_at_most(h, "values that nobody pulls", has.offered, 0);
    expect_at_most(h, "bytes of nobody", r.backlog.bytes_waiting + r.backlog.bytes_received, 0);
  }
  void stop(host& h) {
    c_.tells.tell("end " + h.full());
    h.now->asked.count_down();
    await_end(h);
    c_.tells.tell("ended " + h.full());
    if (h.now->ended) h.now->thread.join();
  }
  // After a broken promise nothing more is compared.
  void stop_anyhow() {
    std::fflush(stdout);
    abandoned_ = true;
  }

 public:
  bool abandoned() const { return abandoned_; }

 private:
  cluster& c_;
  dice chance_;
  int faults_ = 0;
  bool abandoned_ = false;
};

}  // namespace simulation
