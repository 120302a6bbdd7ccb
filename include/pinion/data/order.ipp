// Bodies of <pinion/data/order.hpp>.
#pragma once

#include <algorithm>
#include <utility>

#include <pinion/data/order.hpp>
#include <pinion/data/random.hpp>

namespace pinion { inline namespace v0 { namespace data {

PINION_DECL stride_cursor::stride_cursor(cursor_ptr from, std::int64_t first, std::int64_t of, std::int64_t most,
                                         std::stop_token stop)
    : numbered_cursor(from->table()),
      from_(std::move(from)),
      pass_over_(first),
      of_(of),
      left_(most),
      stop_(std::move(stop)) {}

PINION_DECL std::size_t stride_cursor::next_numbers(std::span<std::int64_t> numbers) {
  std::size_t got = 0;
  if (of_ == 1 && pass_over_ == 0) {
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(numbers.size(), static_cast<std::uint64_t>(left_)));
    got = from_->next_numbers(numbers.first(n));
  } else {
    while (got < numbers.size() && left_ > static_cast<std::int64_t>(got) && pass_over_numbers() &&
           from_->next_numbers(numbers.subspan(got, 1)) == 1) {
      ++got;
      pass_over_ = of_ - 1;
    }
  }
  left_ -= static_cast<std::int64_t>(got);
  return got;
}

PINION_DECL bool stride_cursor::pass_over_numbers() {
  std::int64_t ignored[256];
  for (; pass_over_ > 0 && !stop_.stop_requested();) {
    const auto n = static_cast<std::size_t>(std::min<std::int64_t>(256, pass_over_));
    if (from_->next_numbers(std::span(ignored).first(n)) != n) return false;
    pass_over_ -= static_cast<std::int64_t>(n);
  }
  return pass_over_ == 0;
}

PINION_DECL bool stride_cursor::next_element(any_element& to) {
  if (left_ == 0) return false;
  for (; pass_over_ > 0; --pass_over_)
    if (stop_.stop_requested() || !from_->next(to)) return false;
  --left_;
  pass_over_ = of_ - 1;
  return from_->next(to);
}

PINION_DECL repeat_cursor::repeat_cursor(stage_ptr of, std::int64_t times, const pass_options& pass)
    : repeat_cursor(of->open(pass), of, times, pass) {}

PINION_DECL repeat_cursor::repeat_cursor(cursor_ptr first, stage_ptr of, std::int64_t times, const pass_options& pass)
    : numbered_cursor(first->table()),
      of_(std::move(of)),
      now_(times == 0 ? nullptr : std::move(first)),
      times_(times),
      pass_(pass) {}

PINION_DECL std::size_t repeat_cursor::next_numbers(std::span<std::int64_t> numbers) {
  std::size_t got = 0;
  while (now_ && got < numbers.size()) {
    const std::size_t n = now_->next_numbers(numbers.subspan(got));
    some_ = some_ || n > 0;
    if (n < numbers.size() - got) go_on();
    got += n;
  }
  return got;
}

PINION_DECL bool repeat_cursor::next_element(any_element& to) {
  while (now_) {
    if (now_->next(to)) {
      some_ = true;
      return true;
    }
    go_on();
  }
  return false;
}

PINION_DECL void repeat_cursor::go_on() {
  const bool more = some_ && (times_ < 0 || done_ + 1 < times_) && !pass_.stop.stop_requested();
  now_.reset();
  if (!more) return;
  ++done_;
  some_ = false;
  now_ = of_->open({mix(pass_.number ^ mix(static_cast<std::uint64_t>(done_))), pass_.stop});
}

}}}  // namespace pinion::v0::data
