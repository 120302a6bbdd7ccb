// Bodies of <pinion/base/fair_queue.hpp>.
#pragma once

#include <algorithm>
#include <utility>

#include <pinion/base/fair_queue.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL void fair_queue::push(std::uint64_t line, closure what) {
  const auto at = lines_.try_emplace(line).first;
  one_line& of = at->second;
  of.waiting.push_back(std::move(what));
  if (of.waiting.size() > 1) return;
  try {
    order_.push_back(&*at);
  } catch (...) {
    of.waiting.pop_back();
    throw;
  }
  unattended_ += of.at_work == 0;
}

PINION_DECL std::optional<fair_queue::taken> fair_queue::take() {
  if (order_.empty()) return std::nullopt;
  return take_from(order_.begin());
}

PINION_DECL std::optional<fair_queue::taken> fair_queue::take_unattended() {
  const auto at = std::find_if(order_.begin(), order_.end(), [](const auto* l) { return l->second.at_work == 0; });
  if (at == order_.end()) return std::nullopt;
  return take_from(at);
}

PINION_DECL fair_queue::taken fair_queue::take_from(serving_order::iterator at) {
  lines::value_type& line = **at;
  one_line& of = line.second;
  unattended_ -= of.at_work++ == 0;
  taken result{line.first, std::move(of.waiting.front())};
  of.waiting.pop_front();
  if (of.waiting.empty())
    order_.erase(at);
  else
    order_.splice(order_.end(), order_, at);
  return result;
}

PINION_DECL void fair_queue::done(std::uint64_t line) {
  const auto at = lines_.find(line);
  one_line& of = at->second;
  if (--of.at_work > 0) return;
  if (!of.waiting.empty())
    ++unattended_;
  else if (lines_.size() > most_kept)
    lines_.erase(at);
}

}}  // namespace pinion::v0
