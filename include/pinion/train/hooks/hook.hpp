// Hooks: user code around the steps of a monitored session. A hook is any type with one or more of these members.
//
//   struct my_hook {
//     void begin();                                              // the graph may still be built
//     void after_create_session(session&, coordinator&);         // also after each recovery
//     run_request before_run(run_context&);                      // adds fetches, feeds, targets to the step; or void
//     void after_run(run_context&, std::span<const any_tensor>); // gets the values that it has fetched
//     void end(session&);                                        // is not called if training failed
//   };
//
// For example, a hook that ends training when a loss is small enough:
//
//   struct stop_when_small {
//     pn::any_expr loss;
//     pn::run_request before_run(tr::run_context&) { return {.fetches = {loss}}; }
//     void after_run(tr::run_context& c, std::span<const pn::any_tensor> values) {
//       if (float(pn::tensor<float>(values[0])) < .01f) c.request_stop();
//     }
//   };
//
// The calls of a session are begin (once), after_create_session, then before_run and after_run for each step, and end.
// In a recovery a new session is made and after_create_session is called again. A monitored session owns copies of its
// hooks and calls them in its own thread, in the order of the list. An exception of a hook is an error of the step; a
// step that fails calls no after_run. But where a hook has lost a task (unavailable, aborted) in its after_run, the
// step stands: the other hooks are called, and the session recovers and returns the step's values.
//
// The hooks of the library:
//
//   checkpoint_saver     saves now and then           early_stopping       ends without progress, keeps the best
//   summary_saver        writes summaries             stop_at_step         ends at a step
//   step_counter         measures steps a second      nan_tensor           notices divergence
//   logging_tensor       prints values                progress_bar         shows how far training is
//   profiler             traces a step now and then   global_step_waiter   begins later
//   feed_fn              feeds each step              final_ops            computes something at the end
//   nan_finder           finds the first bad value
#pragma once

#include <concepts>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/runtime/session.hpp>
#include <pinion/train/coordinator.hpp>

namespace pinion { inline namespace v0 { namespace train {

// The step that hooks are called for. It refers to the session and the request, and is valid during the call.
class run_context {
 public:
  // Made by the session for each step.
  run_context(pinion::session& on, const run_request& asked) : session_(on), asked_(asked) {}
  // The session itself: runs in it call no hooks.
  pinion::session& session() const { return session_; }
  // The request of the program, without what hooks have added.
  const run_request& original_request() const { return asked_; }
  // Ends training after this step: should_stop() of the session becomes true.
  void request_stop() { stop_ = true; }
  // True if a hook has asked for the end.
  bool stop_requested() const { return stop_; }

 private:
  pinion::session& session_;
  const run_request& asked_;
  bool stop_ = false;
};

namespace detail {

// clang-format off
// Each concept tells if a type has one of the members of a hook; hook_type tells if it has any.
template <class H> concept begins = requires(H& h) { h.begin(); };
template <class H> concept joins = requires(H& h, session& s, coordinator& c) { h.after_create_session(s, c); };
template <class H> concept asks =
    requires(H& h, run_context& c) { { h.before_run(c) } -> std::convertible_to<run_request>; };
template <class H> concept looks = requires(H& h, run_context& c) { { h.before_run(c) } -> std::same_as<void>; };
template <class H> concept sees = requires(H& h, run_context& c, std::span<const any_tensor> v) { h.after_run(c, v); };
template <class H> concept ends = requires(H& h, session& s) { h.end(s); };
template <class H> concept hook_type = begins<H> || joins<H> || asks<H> || looks<H> || sees<H> || ends<H>;

// A member with one of these names but another signature would never be called; the compiler refuses it with a
// sentence.
template <class H>
constexpr void check_hook() {
  static_assert(!requires { &H::begin; } || begins<H>, "begin of a hook takes nothing");
  static_assert(!requires { &H::after_create_session; } || joins<H>,
                "after_create_session of a hook takes (pinion::session&, train::coordinator&)");
  static_assert(!requires { &H::before_run; } || asks<H> || looks<H>,
                "before_run of a hook takes (train::run_context&) and returns a pinion::run_request, or nothing");
  static_assert(!requires { &H::after_run; } || sees<H>,
                "after_run of a hook takes (train::run_context&, std::span<const pinion::any_tensor>)");
  static_assert(!requires { &H::end; } || ends<H>, "end of a hook takes (pinion::session&)");
}
// clang-format on

}  // namespace detail

// A hook of any type, as a list holds it. A value; copies are the same hook, which they own together. Its members call
// those of the hook that exist.
class any_hook {
 public:
  // Takes a hook of any type by value.
  template <class H>
  requires(detail::hook_type<H> && !std::is_same_v<H, any_hook>) any_hook(H hook);
  // Takes a hook that the program keeps using through its own pointer.
  template <detail::hook_type H>
  any_hook(std::shared_ptr<H> hook) : hook_(std::make_shared<held<H>>(std::move(hook))) {
    detail::check_hook<H>();
  }

  // The members of the hook; one that it does not have does nothing and asks for nothing.
  void begin() const { hook_->begin(); }
  void after_create_session(session& s, coordinator& c) const { hook_->after_create_session(s, c); }
  run_request before_run(run_context& c) const { return hook_->before_run(c); }
  void after_run(run_context& c, std::span<const any_tensor> values) const { hook_->after_run(c, values); }
  void end(session& s) const { hook_->end(s); }

 private:
  // The hook behind its virtual functions.
  struct base {
    virtual ~base() = default;
    virtual void begin() = 0;
    virtual void after_create_session(session&, coordinator&) = 0;
    virtual run_request before_run(run_context&) = 0;
    virtual void after_run(run_context&, std::span<const any_tensor>) = 0;
    virtual void end(session&) = 0;
  };
  template <class H>
  struct held final : base {
    explicit held(std::shared_ptr<H> h) : hook(std::move(h)) {}
    void begin() override {
      if constexpr (detail::begins<H>) hook->begin();
    }
    void after_create_session(session& s, coordinator& c) override {
      if constexpr (detail::joins<H>) hook->after_create_session(s, c);
    }
    run_request before_run(run_context& c) override {
      if constexpr (detail::asks<H>)
        return hook->before_run(c);
      else if constexpr (detail::looks<H>)
        hook->before_run(c);
      return {};
    }
    void after_run(run_context& c, std::span<const any_tensor> values) override {
      if constexpr (detail::sees<H>) hook->after_run(c, values);
    }
    void end(session& s) override {
      if constexpr (detail::ends<H>) hook->end(s);
    }
    std::shared_ptr<H> hook;
  };
  std::shared_ptr<base> hook_;
};

template <class H>
requires(detail::hook_type<H> && !std::is_same_v<H, any_hook>) any_hook::any_hook(H hook)
    : any_hook(std::make_shared<H>(std::move(hook))) {}

// The code that holds the library's own hooks is part of the library in compiled mode, so that a program that uses one
// does not compile it again: PINION_HELD_HOOK(h) stands behind the hook's class, and PINION_HOLD_HOOK(h) in the file of
// its bodies.
#if PINION_HEADER_ONLY
#define PINION_HELD_HOOK(h)
#define PINION_HOLD_HOOK(h)
#else
#define PINION_HELD_HOOK(h) extern template any_hook::any_hook(h);
#define PINION_HOLD_HOOK(h) template any_hook::any_hook(h);
#endif

}}}  // namespace pinion::v0::train
