// The stage that keeps the elements of its first whole pass, and gives them again.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <stop_token>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/data/cursor.hpp>

namespace pinion { inline namespace v0 { namespace data {

// What a pass has kept, once one has come to its end. Thread-safe.
class kept_elements {
 public:
  using list = std::vector<any_element>;
  std::shared_ptr<const list> get() const;
  void offer(list elements);

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const list> list_;
};

class cached_cursor final : public cursor {
 public:
  explicit cached_cursor(std::shared_ptr<const kept_elements::list> list) : list_(std::move(list)) {}
  bool next(any_element& to) override;

 private:
  std::shared_ptr<const kept_elements::list> list_;
  std::size_t at_ = 0;
};

class caching_cursor final : public cursor {
 public:
  caching_cursor(cursor_ptr from, std::shared_ptr<kept_elements> keep, std::stop_token stop)
      : from_(std::move(from)), keep_(std::move(keep)), stop_(std::move(stop)) {}
  bool next(any_element& to) override;

 private:
  cursor_ptr from_;
  std::shared_ptr<kept_elements> keep_;
  std::stop_token stop_;
  kept_elements::list seen_;
};

class cache_stage final : public stage {
 public:
  explicit cache_stage(stage_ptr from) : from_(std::move(from)) {}
  // What is kept is always pass 0, whichever asks first.
  cursor_ptr open(const pass_options& pass) const override;

 private:
  stage_ptr from_;
  std::shared_ptr<kept_elements> kept_ = std::make_shared<kept_elements>();
};

}}}  // namespace pinion::v0::data

#if PINION_HEADER_ONLY
#include <pinion/data/cache.ipp>
#endif
