// The body of a loop as a reference, so that one function can run every loop.
#pragma once

#include <cstdint>
#include <type_traits>

namespace pinion { inline namespace v0 {

// A reference to a callable of an index. It is valid during the call that it is passed to.
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
