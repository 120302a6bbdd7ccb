// Stages that call a user's function for each element: map and filter.
#pragma once

#include <stop_token>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/data/apply.hpp>
#include <pinion/data/cursor.hpp>

namespace pinion { inline namespace v0 { namespace data {

// Replaces each element by the function's result, in the thread that asks for it. dataset::map without `parallel` makes
// it; threads.hpp has the other one.
class map_cursor final : public cursor {
 public:
  map_cursor(cursor_ptr from, any_function f) : from_(std::move(from)), f_(std::move(f)) {}
  bool next(any_element& to) override { return from_->next(to) && f_(to); }

 private:
  cursor_ptr from_;
  any_function f_;
};

// Passes on the elements that the function accepts. A stop ends its search, as if there were no more elements. Batches
// behind a filter are full, since it is asked until enough elements are there.
class filter_cursor final : public cursor {
 public:
  filter_cursor(cursor_ptr from, any_function keep, std::stop_token stop)
      : from_(std::move(from)), keep_(std::move(keep)), stop_(std::move(stop)) {}
  bool next(any_element& to) override;

 private:
  cursor_ptr from_;
  any_function keep_;
  std::stop_token stop_;
};

}}}  // namespace pinion::v0::data

#if PINION_HEADER_ONLY
#include <pinion/data/map.ipp>
#endif
