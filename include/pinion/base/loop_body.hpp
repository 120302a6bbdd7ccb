// The body of a loop as a reference: one function walks whatever is looped over.
#pragma once

#include <cstdint>
#include <type_traits>

namespace pinion { inline namespace v0 {

// Refers to a callable of an index, during a call.
class loop_body {
 public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, loop_body>) loop_body(F&& body)
      : body_(const_cast<std::remove_cvref_t<F>*>(&body)),
        call_([](void* f, std::int64_t i) { (*static_cast<std::remove_reference_t<F>*>(f))(i); }) {}
  void operator()(std::int64_t i) const { call_(body_, i); }

 private:
  void* body_;
  void (*call_)(void*, std::int64_t);
};

}}  // namespace pinion::v0
