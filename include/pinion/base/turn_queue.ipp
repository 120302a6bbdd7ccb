// Bodies of <pinion/base/turn_queue.hpp>.
#pragma once

#include <algorithm>
#include <utility>

#include <pinion/base/turn_queue.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL void turn_queue::push(std::uint64_t line, closure what) {
  const auto at = lines_.try_emplace(line).first;
  one_line& of = at->second;
  if (of.waiting.empty()) {
    order_.push_back(&*at);
    unattended_ += of.at_work == 0;
  }
  of.waiting.push_back(std::move(what));
}

PINION_DECL std::optional<turn_queue::taken> turn_queue::take() {
  if (order_.empty()) return std::nullopt;
  lines::value_type& line = *order_.front();
  order_.pop_front();
  return take_from(line);
}

PINION_DECL std::optional<turn_queue::taken> turn_queue::take_unattended() {
  const auto at = std::find_if(order_.begin(), order_.end(), [](const auto* l) { return l->second.at_work == 0; });
  if (at == order_.end()) return std::nullopt;
  lines::value_type& line = **at;
  order_.erase(at);
  return take_from(line);
}

PINION_DECL turn_queue::taken turn_queue::take_from(lines::value_type& line) {
  one_line& of = line.second;
  unattended_ -= of.at_work++ == 0;
  taken result{line.first, std::move(of.waiting.front())};
  of.waiting.pop_front();
  if (!of.waiting.empty()) order_.push_back(&line);
  return result;
}

PINION_DECL void turn_queue::done(std::uint64_t line) {
  const auto at = lines_.find(line);
  one_line& of = at->second;
  if (--of.at_work > 0) return;
  if (!of.waiting.empty())
    ++unattended_;
  else if (lines_.size() > most_kept)
    lines_.erase(at);
}

}}  // namespace pinion::v0
