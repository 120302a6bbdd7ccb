// The state behind a queue's name: its elements, and the attempts that wait to put or take some.
//
// Invariants
//   1. Of the attempts to put, and of those to take, only the first may go on: waiting callers are served in order.
//   2. After any change both lists go on, one after the other, until neither can.
//   3. `done` of an attempt is called once, without the lock; until then its cancellation is subscribed to.
//   4. A cancellation may come from a thread that must not compute, such as the network's. Attempts that it lets go on
//      do so in the pool.
//   5. No element is lost where memory runs out: whatever ended before that is told, and the rest goes on with the next
//      change.
#pragma once

#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <pinion/base/cancellation.hpp>
#include <pinion/base/insist.hpp>
#include <pinion/base/outcome.hpp>
#include <pinion/base/thread_pool.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/state/find.hpp>
#include <pinion/state/queue_components.hpp>
#include <pinion/state/queue_store.hpp>
#include <pinion/tensor/lent.hpp>

namespace pinion { inline namespace v0 { namespace state {

// The description of a queue, as its node gives it. A value.
struct queue_description {
  std::string kind;       // such as "FIFOQueue"
  std::int64_t capacity;  // -1: without limit
  std::int64_t least;     // min_after_dequeue of a shuffle queue; 0 for other kinds
  queue_components components;

  bool has_room_beside(std::size_t elements) const {
    return capacity < 0 || elements < static_cast<std::size_t>(capacity);
  }
  friend bool operator==(const queue_description&, const queue_description&) = default;
};

inline queue_description describe_queue(const node& n) {
  return {.kind = n.op.substr(0, n.op.size() - 2),  // "V2" is cut off
          .capacity = n.attrs.get<std::int64_t>("capacity"),
          .least = n.attrs.get_or<std::int64_t>("min_after_dequeue", 0),
          .components = components_of(n.attrs)};
}

// Owned by the task's resource manager and by the kernels that use it. Thread-safe. An attempt that waits holds no
// thread: its `done` is called when it ends.
class queue final : public resource, public std::enable_shared_from_this<queue> {
 public:
  using put_done = completion<>;
  using taken = completion<std::vector<queue_element>>;

  // A queue as its node describes it. Requires: the pool outlives it.
  queue(std::string name, const node& n, thread_pool* pool)
      : pool_(pool),
        name_(std::move(name)),
        about_(describe_queue(n)),
        made_at_(to_string(n.where)),
        store_(make_queue_store(n)) {}

  const std::string& name() const { return name_; }
  const queue_description& about() const { return about_; }
  const std::string& made_at() const { return made_at_; }

  // Puts elements one by one, as room appears, in memory of this process. `done` gets cancelled where the queue is
  // closed, or the step is cancelled.
  void put(std::vector<queue_element> elements, cancellation* stop, put_done done) {
    if (elements.empty()) return done({});
    for (queue_element& e : elements)
      for (any_tensor& component : e) component = kept(std::move(component));
    auto a = std::make_shared<attempt>(attempt::what::put, stop);
    a->elements = std::move(elements);
    a->done = [done = std::move(done)](attempt& self) { done(self.how); };
    enter(puts_, a);
  }
  // Takes n elements; with `up_to`, a closed queue yields those that are left. `done` gets out_of_range where the queue
  // is closed and holds too few. They go back where the step is given up before all of its parts have ended; not where
  // it fails otherwise, since elements that make a step fail would come again and again.
  void take(std::size_t n, bool up_to, cancellation* stop, taken done) {
    if (n == 0) return done(std::vector<queue_element>());
    auto a = std::make_shared<attempt>(attempt::what::take, stop);
    a->wanted = n;
    a->up_to = up_to;
    a->done = [from = shared_from_this(), done = std::move(done)](attempt& self) {
      if (self.how && self.stop) from->keep_for_step(self);
      done(std::move(self.how).then([&] { return std::move(self.elements); }));
    };
    enter(takes_, a);
  }
  // Closes the queue after the puts that wait; with `cancel_pending` at once, and those puts fail.
  void close(bool cancel_pending, cancellation* stop, put_done done) {
    if (cancel_pending) {
      change([&](attempts& ended) { cancel_puts(ended); }, tell);
      return done({});
    }
    auto a = std::make_shared<attempt>(attempt::what::close, stop);
    a->done = [done = std::move(done)](attempt& self) { done(self.how); };
    enter(puts_, a);
  }
  std::size_t size() const {
    std::lock_guard hold(mutex_);
    return store_->size();
  }
  bool closed() const {
    std::lock_guard hold(mutex_);
    return closed_;
  }

 private:
  struct attempt;
  using attempts = std::list<std::shared_ptr<attempt>>;
  // One call that puts, takes or closes, until it is done.
  struct attempt {
    enum class what { put, take, close };
    attempt(what w, cancellation* s) : is(w), stop(s) {}

    const what is;
    cancellation* const stop;
    std::uint64_t subscription = 0;
    attempts::iterator place = {};  // in the list in which it waits
    bool ended = false;
    outcome<> how;
    std::function<void(attempt&)> done;
    std::vector<queue_element> elements;  // to put, from `next` on; or taken so far
    std::size_t next = 0, wanted = 0;
    bool up_to = false;
  };

  // Changes the queue with the lock held, and then tells the attempts that have ended, also where the change breaks
  // off.
  template <class Change, class Tell>
  void change(const Change& what, const Tell& tell_them) {
    attempts ended;
    std::exception_ptr broken;
    {
      std::lock_guard hold(mutex_);
      try {
        what(ended);
      } catch (...) {
        broken = std::current_exception();
      }
    }
    tell_them(ended);
    if (broken) std::rethrow_exception(broken);
  }
  void enter(attempts& list, const std::shared_ptr<attempt>& a) {
    change(
        [&](attempts& ended) {
          a->place = list.insert(list.end(), a);
          try {
            go_on(ended);
            if (!a->ended && a->stop) listen(a, ended);
          } catch (...) {
            if (a->ended) return;  // others go on with the next change
            withdraw(a, list);
            throw;
          }
        },
        tell);
  }
  // Ends an attempt whose step is cancelled.
  void give_up(const std::shared_ptr<attempt>& a) {
    change([&](attempts& ended) { a->ended ? go_on(ended) : abandon(a, ended); },
           [&](const attempts& ended) { tell_in_pool(ended, a.get()); });
  }
  // Tells all of them, and then throws what the first of them threw.
  template <class Tell>
  static void tell_each(const attempts& ended, const Tell& tell_one) {
    std::exception_ptr broken;
    for (const auto& one : ended) try {
        tell_one(one);
      } catch (...) {
        if (!broken) broken = std::current_exception();
      }
    if (broken) std::rethrow_exception(broken);
  }
  static void tell(const attempts& ended) {
    tell_each(ended, [](const auto& one) { one->done(*one); });
  }
  // All but one, which the calling thread tells; so it does where the pool has no memory.
  void tell_in_pool(const attempts& ended, const attempt* here = nullptr) {
    tell_each(ended, [&](const auto& one) {
      const auto later = [&] { pool_->schedule([one] { one->done(*one); }); };
      if (one.get() == here || !pool_ || !outcome_of(later)) one->done(*one);
    });
  }

  // Keeps what an attempt has taken until its step ends, and takes it back where that is given up. Where the step is
  // cancelled already, or there is no memory, it goes back at once, and the attempt fails: nobody has seen it.
  void keep_for_step(attempt& a) {
    const auto kept = outcome_of([&] { return keep_for(*a.stop, a.elements); });
    if (kept && kept.value()) return;
    insist([&] { take_back(a.elements); });
    a.how = kept ? outcome_of([&] { throw cancelled(a); }) : outcome<>(kept.failure());
  }
  // Returns false where the step is cancelled already.
  bool keep_for(cancellation& step, const std::vector<queue_element>& elements) {
    return step.subscribe(
               [self = shared_from_this(), kept = std::make_shared<std::vector<queue_element>>(elements), &step] {
                 if (step.given_up()) self->take_back(*kept);
               }) != 0;
  }
  // Leaves in the list what is not back where there is no memory, and throws.
  void take_back(std::vector<queue_element>& elements) {
    change(
        [&](attempts& ended) {
          store_->give_back(elements);
          go_on(ended);
        },
        [&](const attempts& ended) { tell_in_pool(ended); });
  }

  // ---- with the lock held

  // Moves an attempt from the list in which it waits, of any length, to those that have ended.
  void end(const std::shared_ptr<attempt>& a, attempts& ended) {
    a->ended = true;
    if (a->subscription != 0) a->stop->unsubscribe(a->subscription);
    ended.splice(ended.end(), a->is == attempt::what::take ? takes_ : puts_, a->place);
  }
  void listen(const std::shared_ptr<attempt>& a, attempts& ended) {
    a->subscription = a->stop->subscribe([self = shared_from_this(), a] { self->give_up(a); });
    if (a->subscription == 0) abandon(a, ended);
  }
  // Takes out an attempt that cannot be waited for.
  void withdraw(const std::shared_ptr<attempt>& a, attempts& list) {
    if (a->is == attempt::what::take) insist([&] { store_->give_back(a->elements); });
    a->ended = true;
    list.erase(a->place);
  }
  void fail(const std::shared_ptr<attempt>& a, errc code, const std::string& sentence, attempts& ended) {
    a->how = error(code, sentence);
    end(a, ended);
  }
  error cancelled(const attempt& a) const {
    const std::string whose = a.is == attempt::what::take ? "Dequeue operation" : "Enqueue operation";
    return error(errc::cancelled, whose + " was cancelled, at " + named());
  }
  std::string named() const { return about_.kind + " '" + name_ + "'"; }

  // Ends an attempt: elements that it has put stay, elements that it has taken go back.
  void abandon(const std::shared_ptr<attempt>& a, attempts& ended) {
    if (a->is == attempt::what::take) store_->give_back(a->elements);
    a->how = outcome_of([&] { throw cancelled(*a); });
    end(a, ended);
    go_on(ended);
  }
  void cancel_puts(attempts& ended) {
    closed_ = true;
    while (!puts_.empty()) {
      const auto a = puts_.front();
      if (a->is == attempt::what::close)
        end(a, ended);
      else
        fail(a, errc::cancelled, "Enqueue operation was cancelled: " + named() + " was closed", ended);
    }
    go_on(ended);
  }

  void go_on(attempts& ended) {
    for (bool changed = true; changed;) {
      changed = go_on_putting(ended);
      changed = go_on_taking(ended) || changed;
    }
  }

  // Returns true if anything changed.
  bool go_on_putting(attempts& ended) {
    bool changed = false;
    while (!puts_.empty()) {
      const auto a = puts_.front();
      if (closed_) {
        fail(a, errc::cancelled, named() + (a->is == attempt::what::close ? " is already closed." : " is closed."),
             ended);
      } else if (a->is == attempt::what::close) {
        closed_ = true;
        end(a, ended);
      } else {
        for (; a->next < a->elements.size() && about_.has_room_beside(store_->size()); ++a->next, changed = true)
          store_->put(std::move(a->elements[a->next]));
        if (a->next < a->elements.size()) return changed;
        end(a, ended);
      }
      changed = true;
    }
    return changed;
  }
  bool go_on_taking(attempts& ended) {
    bool changed = false;
    for (; !takes_.empty(); changed = true) {
      const auto a = takes_.front();
      for (; a->elements.size() < a->wanted && store_->ready(closed_); changed = true) {
        a->elements.emplace_back();  // before anything is taken that there might be no room for
        a->elements.back() = store_->take();
      }
      if (a->elements.size() < a->wanted) {
        if (!closed_) return changed;
        if (!a->up_to || a->elements.empty()) {
          refuse(a, ended);
          continue;
        }
      }
      end(a, ended);
    }
    return changed;
  }
  void refuse(const std::shared_ptr<attempt>& a, attempts& ended) {
    store_->give_back(a->elements);
    const std::string requested = std::to_string(a->wanted), left = std::to_string(store_->size());
    fail(a, errc::out_of_range,
         named() + " is closed and has insufficient elements (requested " + requested + ", current size " + left + ")",
         ended);
  }

  thread_pool* const pool_;
  const std::string name_;
  const queue_description about_;
  const std::string made_at_;
  mutable std::mutex mutex_;
  bool closed_ = false;
  const std::unique_ptr<queue_store> store_;
  attempts puts_, takes_;
};

// The queue that a node names, made on first use. Throws invalid_argument where another node of that name disagrees on
// its kind or components.
inline std::shared_ptr<queue> find_queue(task_services& services, const node& n) {
  const auto state = find<queue>(services, n, "a queue", [&](const std::string& name) {
    return std::make_shared<queue>(name, n, services.intra_op);
  });
  const queue_description &first = state->about(), here = describe_queue(n);
  if (first.kind == here.kind && first.least != here.least)
    throw made_otherwise(*state, "queues", "are not the same", "min_after_dequeue is " + std::to_string(here.least),
                         std::to_string(first.least));
  const auto text = [](const queue_description& q) {
    return q.kind + " of " + to_string(q.components) + " and capacity " + std::to_string(q.capacity);
  };
  if (first != here) throw made_otherwise(*state, "queues", "are not the same", text(here), text(first));
  return state;
}

}}}  // namespace pinion::v0::state
