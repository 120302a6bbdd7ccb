// A whole step of small values, bound to cells.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/runtime/step/binder.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// An executable of which every item is bound: it reads its feeds from cells of the caller, and leaves its fetches in
// cells. Refers to the executable.
class bound_step final : public bound_body {
 public:
  // Binds all items. Returns null where one cannot be bound to feeds of these types.
  static std::unique_ptr<bound_step> make(const executable& e, std::span<const cell> feeds);

  void run(const step_watch* watch) override { items_.run(watch); }

 private:
  explicit bound_step(const executable& e) : items_(e) {}
  bool add(binder& b, const executable& e, int item, std::span<const cell> feeds);

  bound_items items_;
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/step/bound_step.ipp>
#endif
