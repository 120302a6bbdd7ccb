// Stages that choose among elements by their place: take, skip, shard, repeat.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include <pinion/data/cursor.hpp>
#include <pinion/data/random.hpp>

namespace pinion::inline v0::data {

// Of every `of` elements from number `first` on the first one, up to `most`: take is (0, 1, n), skip (n, 1, all), a
// shard (i, n, all).
template <element... Ts>
class stride_cursor final : public numbered_cursor<Ts...> {
 public:
  static constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();

  stride_cursor(cursor_ptr<Ts...> from, std::int64_t first, std::int64_t of, std::int64_t most, std::stop_token stop)
      : numbered_cursor<Ts...>(from->table()),
        from_(std::move(from)),
        pass_over_(first),
        of_(of),
        left_(most),
        stop_(std::move(stop)) {}

  std::size_t next_numbers(std::span<std::int64_t> numbers) override {
    std::size_t got = 0;
    if (of_ == 1 && pass_over_ == 0) {
      const auto n =
          static_cast<std::size_t>(std::min<std::uint64_t>(numbers.size(), static_cast<std::uint64_t>(left_)));
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

 private:
  bool pass_over_numbers() {
    std::int64_t ignored[256];
    for (; pass_over_ > 0 && !stop_.stop_requested();) {
      const auto n = static_cast<std::size_t>(std::min<std::int64_t>(256, pass_over_));
      if (from_->next_numbers(std::span(ignored).first(n)) != n) return false;
      pass_over_ -= static_cast<std::int64_t>(n);
    }
    return pass_over_ == 0;
  }
  std::optional<element_of<Ts...>> next_element() override {
    if (left_ == 0) return std::nullopt;
    for (; pass_over_ > 0; --pass_over_)
      if (stop_.stop_requested() || !from_->next()) return std::nullopt;
    --left_;
    pass_over_ = of_ - 1;
    return from_->next();
  }

  cursor_ptr<Ts...> from_;
  std::int64_t pass_over_, of_, left_;
  std::stop_token stop_;
};

// Pass after pass. A pass of no elements ends it, or it would go on for ever.
template <element... Ts>
class repeat_cursor final : public numbered_cursor<Ts...> {
 public:
  repeat_cursor(stage_ptr<Ts...> of, std::int64_t times, const pass_options& pass)
      : repeat_cursor(of->open(pass), of, times, pass) {}

  std::size_t next_numbers(std::span<std::int64_t> numbers) override {
    std::size_t got = 0;
    while (now_ && got < numbers.size()) {
      const std::size_t n = now_->next_numbers(numbers.subspan(got));
      some_ = some_ || n > 0;
      if (n < numbers.size() - got) go_on();
      got += n;
    }
    return got;
  }

 private:
  repeat_cursor(cursor_ptr<Ts...> first, stage_ptr<Ts...> of, std::int64_t times, const pass_options& pass)
      : numbered_cursor<Ts...>(first->table()),
        of_(std::move(of)),
        now_(times == 0 ? nullptr : std::move(first)),
        times_(times),
        pass_(pass) {}

  std::optional<element_of<Ts...>> next_element() override {
    while (now_) {
      if (auto element = now_->next()) {
        some_ = true;
        return element;
      }
      go_on();
    }
    return std::nullopt;
  }
  void go_on() {
    const bool more = some_ && (times_ < 0 || done_ + 1 < times_) && !pass_.stop.stop_requested();
    now_.reset();
    if (!more) return;
    ++done_;
    some_ = false;
    now_ = of_->open({mix(pass_.number ^ mix(static_cast<std::uint64_t>(done_))), pass_.stop});
  }

  stage_ptr<Ts...> of_;
  cursor_ptr<Ts...> now_;
  std::int64_t times_, done_ = 0;  // times_ < 0: for ever
  pass_options pass_;
  bool some_ = false;  // has this pass had an element?
};

}  // namespace pinion::inline v0::data
