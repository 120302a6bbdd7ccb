// Hooks: what happens around the steps of a monitored session.
//
//   struct my_hook {                                             // any of these members, or all
//     void begin();                                              // the graph may still be built
//     void after_create_session(session&, coordinator&);         // also after each recovery
//     run_request before_run(run_context&);                      // what it wants to see of the step; or void
//     void after_run(run_context&, std::span<const any_tensor>); // the values of what it fetched
//     void end(session&);                                        // unless training failed
//   };
#pragma once

#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <pinion/runtime/session.hpp>
#include <pinion/train/coordinator.hpp>

namespace pinion::inline v0::train {

// A step, as hooks see it. Valid during the call.
class run_context {
 public:
  run_context(pinion::session& on, const run_request& asked) : session_(on), asked_(asked) {}
  // Without hooks around it.
  pinion::session& session() const { return session_; }
  const run_request& original_request() const { return asked_; }
  // The session should_stop() behind this step.
  void request_stop() { stop_ = true; }
  bool stop_requested() const { return stop_; }

 private:
  pinion::session& session_;
  const run_request& asked_;
  bool stop_ = false;
};

namespace detail {

template <class H>
concept hook_type = requires(H& h) {
  h.begin();
}
|| requires(H& h, session& s, coordinator& c) {
  h.after_create_session(s, c);
}
|| requires(H& h, run_context& c) {
  h.before_run(c);
}
|| requires(H& h, run_context& c, std::span<const any_tensor> v) {
  h.after_run(c, v);
}
|| requires(H& h, session& s) {
  h.end(s);
};

}  // namespace detail

// Any hook. A value; copies are the same hook, which it owns.
class any_hook {
 public:
  template <class H>
  requires(detail::hook_type<H> && !std::is_same_v<H, any_hook>) any_hook(H hook)
      : hook_(std::make_shared<held<H>>(std::make_shared<H>(std::move(hook)))) {}
  // One that is also used otherwise.
  template <detail::hook_type H>
  any_hook(std::shared_ptr<H> hook) : hook_(std::make_shared<held<H>>(std::move(hook))) {}

  void begin() const { hook_->begin(); }
  void after_create_session(session& s, coordinator& c) const { hook_->after_create_session(s, c); }
  run_request before_run(run_context& c) const { return hook_->before_run(c); }
  void after_run(run_context& c, std::span<const any_tensor> values) const { hook_->after_run(c, values); }
  void end(session& s) const { hook_->end(s); }

 private:
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
      if constexpr (requires { hook->begin(); }) hook->begin();
    }
    void after_create_session(session& s, coordinator& c) override {
      if constexpr (requires { hook->after_create_session(s, c); }) hook->after_create_session(s, c);
    }
    run_request before_run(run_context& c) override {
      if constexpr (requires {
                      { hook->before_run(c) } -> std::convertible_to<run_request>;
                    })
        return hook->before_run(c);
      else if constexpr (requires { hook->before_run(c); })
        hook->before_run(c);
      return {};
    }
    void after_run(run_context& c, std::span<const any_tensor> values) override {
      if constexpr (requires { hook->after_run(c, values); }) hook->after_run(c, values);
    }
    void end(session& s) override {
      if constexpr (requires { hook->end(s); }) hook->end(s);
    }
    std::shared_ptr<H> hook;
  };
  std::shared_ptr<base> hook_;
};

}  // namespace pinion::inline v0::train
