// Bodies of <pinion/data/shuffle.hpp>.
#pragma once

#include <algorithm>
#include <utility>

#include <pinion/data/shuffle.hpp>

namespace pinion { inline namespace v0 { namespace data {

PINION_DECL shuffle_cursor::shuffle_cursor(cursor_ptr from, std::int64_t buffer, std::uint64_t seed,
                                           const pass_options& pass)
    : numbered_cursor(from->table()),
      from_(std::move(from)),
      size_(static_cast<std::size_t>(buffer)),
      random_(seed, pass.number),
      stop_(pass.stop) {}

PINION_DECL std::size_t shuffle_cursor::next_numbers(std::span<std::int64_t> numbers) {
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

PINION_DECL void shuffle_cursor::fill_numbers() {
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

PINION_DECL bool shuffle_cursor::next_element(any_element& to) {
  fill_hole();
  while (!ended_ && elements_.size() < size_ && !stop_.stop_requested()) take();
  if (elements_.empty()) return false;
  hole_ = random_.below(elements_.size());
  to = std::move(elements_[*hole_]);
  return true;
}

PINION_DECL void shuffle_cursor::fill_hole() {
  if (!hole_) return;
  std::swap(elements_[*hole_], elements_.back());
  elements_.pop_back();
  if (!ended_) take();
  if (!ended_) std::swap(elements_[*hole_], elements_.back());
  hole_.reset();
}

PINION_DECL void shuffle_cursor::take() {
  any_element element;
  ended_ = !from_->next(element);
  if (!ended_) elements_.push_back(std::move(element));
}

}}}  // namespace pinion::v0::data
