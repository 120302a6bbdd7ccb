// The scheduler of the simulation: of all threads that the simulation knows one runs, and its clock stands still
// meanwhile.
//
// A thread gives way where it would wait: for a lock, a condition, a time, another thread. Who runs next is
// drawn from the seed. When nobody can run, the clock jumps to the next event of the network or to the next deadline.
// So the threads of a run do the same in each run of its seed, whatever the machine does (system_calls.hpp brings the
// calls of the system here).
#pragma once

#include <pthread.h>
#include <semaphore.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace simulation {

using clock = std::chrono::steady_clock;
using time_point = clock::time_point;
using duration = clock::duration;

// Numbers of a seed, by SplitMix64, equal with every library.
class dice {
 public:
  explicit dice(std::uint64_t seed) : state_(seed) {}
  std::uint64_t operator()() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  std::uint64_t below(std::uint64_t bound) { return (*this)() % bound; }
  bool chance(unsigned percent) { return below(100) < percent; }
  // A span of time between two.
  duration between(duration least, duration most) {
    return least + duration(static_cast<duration::rep>(below(static_cast<std::uint64_t>((most - least).count()) + 1)));
  }
  std::chrono::milliseconds between_ms(std::uint64_t least, std::uint64_t most) {
    return std::chrono::milliseconds(least + below(most - least + 1));
  }

 private:
  std::uint64_t state_;
};

// A simulated process: a life of a host. Its threads stand while it is frozen; one that holds a lock first gives it
// back, since the simulated processes are one in truth and share some.
struct process {
  std::string name;
  bool dead = false, frozen = false;
};

// A thread that the simulation knows.
struct strand {
  enum class state { ready, waits, ended };

  strand(int n, process* p) : number(n), of(p) { sem_init(&may_go, 0, 0); }
  strand(const strand&) = delete;
  ~strand() { sem_destroy(&may_go); }
  bool may_run() const { return is == state::ready && !(of && of->frozen && locks == 0); }

  const int number;
  process* of;
  sem_t may_go;
  state is = state::ready;
  const void* on = nullptr;  // the lock, condition or thread that it waits for
  time_point until = time_point::max();
  bool timed_out = false, detached = false, joined = false;
  int locks = 0;
  pthread_t real{};
};

// The clock of the network, as the director has it.
struct network_clock {
  std::function<void(time_point)> run;   // runs all that happens up to a time
  std::function<time_point()> next;      // the time of its next event, which is past if it can run at once
  std::function<void(time_point)> skip;  // goes on to a time before that
};

// The threads of a simulation. One of them, the director, is the thread of the network.
class scheduler {
 public:
  static scheduler* now_running() { return running_; }
  static strand* me() { return me_; }

  // The calling thread becomes the director. In some spans of time one in `hurry` takes of a lock lets another thread
  // run first; 0: none.
  scheduler(std::uint64_t seed, time_point start, unsigned hurry)
      : dice_(seed), hurry_(hurry), now_(start), director_(add(nullptr)) {
    me_ = director_;
    running_ = this;
  }
  ~scheduler() {
    running_ = nullptr;
    me_ = nullptr;
  }
  scheduler(const scheduler&) = delete;

  time_point now() const { return now_; }
  std::uint64_t switches() const { return switches_; }
  std::uint64_t draw() { return dice_(); }
  // The threads that have not ended, without the director.
  std::size_t alive() const {
    return static_cast<std::size_t>(std::count_if(all_.begin(), all_.end(), [&](const auto& s) {
      return s.get() != director_ && s->is != strand::state::ended;
    }));
  }

  // Lets the others run, and the clock, until `over`. In the director.
  template <class Over>
  void direct(const Over& over, const network_clock& network) {
    network_ = &network;
    while (!over()) {
      network.run(now_);
      if (others_ready())
        let_others();
      else
        jump(std::min(network.next(), earliest()));
    }
    network_ = nullptr;
  }

  // ---- what threads wait for; in a thread that runs

  // Waits until it is woken, or until a time; then returns false.
  bool wait(const void* on, time_point until = time_point::max()) {
    strand& self = *me_;
    self.on = on;
    self.until = until;
    self.timed_out = false;
    self.is = strand::state::waits;
    ++waiters_of(on);
    give_away();
    return !self.timed_out;
  }
  void wake(const void* on, bool all) {
    if (waiters_of(on) == 0) return;  // most locks are released without one
    std::vector<strand*> found;
    for (const auto& s : all_)
      if (s->is == strand::state::waits && s->on == on) found.push_back(s.get());
    if (!all && found.size() > 1) found = {found[dice_.below(found.size())]};
    for (strand* s : found) ready(*s);
  }
  // Before a thread takes a lock: in some spans of time another thread comes first now and then.
  void hurry() {
    if (hurry_ == 0 || me_ == director_) return;
    if (now_ >= span_ends_) {
      span_ends_ = now_ + dice_.between_ms(0, 500);
      hasty_ = dice_.chance(25);
    }
    if (hasty_ && dice_.below(hurry_) == 0) give_away();
  }
  void released() {
    if (me_->locks == 0 && me_->of && me_->of->frozen) give_away();
  }
  void sleep(duration time) { wait(me_, now_ + time); }
  // A thread is about to give the network something to run; another may run before it has.
  void posts() { posted_ = posted_ || me_ != director_; }

  strand* add(process* of) { return all_.emplace_back(std::make_unique<strand>(++numbered_, of)).get(); }
  strand* find(pthread_t real) const {
    for (const auto& s : all_)
      if (!s->joined && s->real != pthread_t{} && pthread_equal(s->real, real)) return s.get();
    return nullptr;
  }
  void forget(strand* ended) {
    std::erase_if(all_, [ended](const auto& s) { return s.get() == ended; });
  }
  // A new thread begins, and waits until it is scheduled; it ends, and gives way for good.
  static void begin(strand* self) {
    me_ = self;
    sem_wait_through(self->may_go);
  }
  void end() {
    strand* const self = std::exchange(me_, nullptr);
    self->is = strand::state::ended;
    wake(self, true);
    strand* const next = pick();
    if (self->detached) forget(self);
    ++switches_;
    sem_post(&next->may_go);
  }

  // Tells on standard error who waits for what.
  void tell() const {
    for (const auto& s : all_)
      std::fprintf(stderr, "  thread %d of %s: %s, %d locks%s\n", s->number, s->of ? s->of->name.c_str() : "nobody",
                   s->is == strand::state::ready   ? "ready"
                   : s->is == strand::state::waits ? "waits"
                                                   : "ended",
                   s->locks, s->until == time_point::max() ? "" : ", until a time");
  }
  std::function<void()> on_stuck;

 private:
  static void sem_wait_through(sem_t& s) {
    while (sem_wait(&s) != 0) {
    }
  }
  // How many threads wait on this, or on another thing of the same place in the table.
  int& waiters_of(const void* on) { return waiters_[reinterpret_cast<std::uintptr_t>(on) / 8 % waiters_.size()]; }
  void ready(strand& s) {
    --waiters_of(s.on);
    s.is = strand::state::ready;
    s.on = nullptr;
    s.until = time_point::max();
  }
  bool others_ready() const {
    return std::any_of(all_.begin(), all_.end(), [&](const auto& s) { return s.get() != director_ && s->may_run(); });
  }
  time_point earliest() const {
    time_point first = time_point::max();
    for (const auto& s : all_)
      if (s->is == strand::state::waits) first = std::min(first, s->until);
    return first;
  }
  void jump(time_point to) {
    if (to == time_point::max()) stuck();
    now_ = std::max(now_, to);
    for (const auto& s : all_)
      if (s->is == strand::state::waits && s->until <= now_) {
        s->timed_out = true;
        ready(*s);
      }
  }
  // The thread that runs next. Where only the network could, and nothing happens there before the next deadline, the
  // clock jumps without the director.
  strand* pick() {
    for (;;) {
      const bool directs = director_->may_run();
      const time_point event = network_ && directs ? network_->next() : time_point::min();
      std::vector<strand*>& may = may_;
      may.clear();
      for (const auto& s : all_)
        if (s->may_run() && (s.get() != director_ || event <= now_)) may.push_back(s.get());
      if (!may.empty()) return may[may.size() == 1 ? 0 : dice_.below(may.size())];
      const time_point first = earliest();
      if (directs && (event <= first || std::exchange(posted_, false))) return director_;
      jump(first);
      if (directs) network_->skip(now_);
    }
  }
  void let_others() {
    std::vector<strand*> may;
    for (const auto& s : all_)
      if (s.get() != director_ && s->may_run()) may.push_back(s.get());
    pass_to(may[dice_.below(may.size())]);
  }
  void give_away() { pass_to(pick()); }
  void pass_to(strand* next) {
    strand* const self = me_;
    if (next == self) return;
    ++switches_;
    sem_post(&next->may_go);
    sem_wait_through(self->may_go);
  }
  [[noreturn]] void stuck() {
    std::fprintf(stderr, "nothing will ever happen; the threads:\n");
    tell();
    if (on_stuck) on_stuck();
    std::abort();
  }

  static inline scheduler* running_ = nullptr;
  static inline thread_local strand* me_ = nullptr;

  dice dice_;
  const unsigned hurry_;
  time_point now_;
  int numbered_ = 0;
  std::uint64_t switches_ = 0;
  std::vector<std::unique_ptr<strand>> all_;
  std::vector<strand*> may_;
  const network_clock* network_ = nullptr;  // while the director directs
  std::array<int, 4099> waiters_{};
  time_point span_ends_{};
  bool hasty_ = false, posted_ = false;
  strand* const director_;
};

}  // namespace simulation
