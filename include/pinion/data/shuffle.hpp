// The stage that shuffles: a buffer from which a random element is taken, and the next one put in its place.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <pinion/data/cursor.hpp>
#include <pinion/data/random.hpp>

namespace pinion::inline v0::data {

template <element... Ts>
class shuffle_cursor final : public numbered_cursor<Ts...> {
 public:
  shuffle_cursor(cursor_ptr<Ts...> from, std::int64_t buffer, std::uint64_t seed, const pass_options& pass)
      : numbered_cursor<Ts...>(from->table()),
        from_(std::move(from)),
        size_(static_cast<std::size_t>(buffer)),
        random_(seed, pass.number),
        stop_(pass.stop) {}

  std::size_t next_numbers(std::span<std::int64_t> numbers) override {
    if (!filled_) fill_numbers();
    fresh_.resize(numbers.size());
    const std::size_t got = from_->next_numbers(fresh_);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (numbers_.empty()) return i;
      auto& slot = numbers_[random_.below(numbers_.size())];
      numbers[i] = slot;
      slot = i < got ? fresh_[i] : numbers_.back();
      if (i >= got) numbers_.pop_back();
    }
    return numbers.size();
  }

 private:
  void fill_numbers() {
    constexpr std::size_t piece = 4096;
    filled_ = true;
    for (bool more = true; more && numbers_.size() < size_ && !stop_.stop_requested();) {
      const std::size_t had = numbers_.size(), wanted = std::min(size_ - had, std::max(piece, had));
      numbers_.resize(had + wanted);
      const std::size_t n = from_->next_numbers(std::span(numbers_).subspan(had));
      numbers_.resize(had + n);
      more = n == wanted;
    }
  }
  std::optional<element_of<Ts...>> next_element() override {
    fill_hole();
    while (!ended_ && elements_.size() < size_ && !stop_.stop_requested()) take();
    if (elements_.empty()) return std::nullopt;
    hole_ = random_.below(elements_.size());
    return std::move(elements_[*hole_]);
  }
  // The place of the last element is filled only now, so that an exception does not come an element early.
  void fill_hole() {
    if (!hole_) return;
    std::swap(elements_[*hole_], elements_.back());
    elements_.pop_back();
    if (!ended_) take();
    if (!ended_) std::swap(elements_[*hole_], elements_.back());
    hole_.reset();
  }
  void take() {
    auto element = from_->next();
    ended_ = !element;
    if (element) elements_.push_back(*std::move(element));
  }

  cursor_ptr<Ts...> from_;
  std::size_t size_;
  random_indices random_;
  std::stop_token stop_;
  bool filled_ = false, ended_ = false;
  std::optional<std::size_t> hole_;            // where the last element was
  std::vector<std::int64_t> numbers_, fresh_;  // one of these,
  std::vector<element_of<Ts...>> elements_;    // or these
};

}  // namespace pinion::inline v0::data
