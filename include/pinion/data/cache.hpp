// The stage that keeps the elements of its first whole pass, and gives them again.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <pinion/data/cursor.hpp>

namespace pinion::inline v0::data {

// What a pass has kept, once one has come to its end. Thread-safe.
template <element... Ts>
class kept_elements {
 public:
  using list = std::vector<element_of<Ts...>>;
  std::shared_ptr<const list> get() const {
    std::lock_guard hold(mutex_);
    return list_;
  }
  void offer(list elements) {
    auto mine = std::make_shared<const list>(std::move(elements));
    std::lock_guard hold(mutex_);
    if (!list_) list_ = std::move(mine);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const list> list_;
};

template <element... Ts>
class cached_cursor final : public cursor<Ts...> {
 public:
  explicit cached_cursor(std::shared_ptr<const typename kept_elements<Ts...>::list> list) : list_(std::move(list)) {}
  std::optional<element_of<Ts...>> next() override {
    if (at_ == list_->size()) return std::nullopt;
    return (*list_)[at_++];
  }

 private:
  std::shared_ptr<const typename kept_elements<Ts...>::list> list_;
  std::size_t at_ = 0;
};

template <element... Ts>
class caching_cursor final : public cursor<Ts...> {
 public:
  caching_cursor(cursor_ptr<Ts...> from, std::shared_ptr<kept_elements<Ts...>> keep, std::stop_token stop)
      : from_(std::move(from)), keep_(std::move(keep)), stop_(std::move(stop)) {}
  std::optional<element_of<Ts...>> next() override {
    auto element = from_->next();
    if (element)
      seen_.push_back(*element);
    else if (!stop_.stop_requested())  // a pass that was stopped looks as if it had ended
      keep_->offer(std::move(seen_));
    return element;
  }

 private:
  cursor_ptr<Ts...> from_;
  std::shared_ptr<kept_elements<Ts...>> keep_;
  std::stop_token stop_;
  typename kept_elements<Ts...>::list seen_;
};

template <element... Ts>
class cache_stage final : public stage<Ts...> {
 public:
  explicit cache_stage(stage_ptr<Ts...> from) : from_(std::move(from)) {}
  // What is kept is always pass 0, whichever asks first.
  cursor_ptr<Ts...> open(const pass_options& pass) const override {
    if (auto list = kept_->get()) return std::make_unique<cached_cursor<Ts...>>(std::move(list));
    return std::make_unique<caching_cursor<Ts...>>(from_->open({0, pass.stop}), kept_, pass.stop);
  }

 private:
  stage_ptr<Ts...> from_;
  std::shared_ptr<kept_elements<Ts...>> kept_ = std::make_shared<kept_elements<Ts...>>();
};

}  // namespace pinion::inline v0::data
