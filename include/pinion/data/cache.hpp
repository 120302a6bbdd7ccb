// The stage that keeps the elements of its first complete pass in memory, and yields them again in later passes.
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

// The elements of the first pass that has come to its end. Thread-safe. It keeps memory as long as a dataset behind the
// cache lives.
class kept_elements {
 public:
  using list = std::vector<any_element>;
  // The elements; null until a pass has come to its end.
  std::shared_ptr<const list> get() const;
  // Keeps the elements, unless another pass was faster.
  void offer(list elements);

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const list> list_;
};

// A cursor over kept elements. Elements share the memory of the cache until a consumer writes to them.
class cached_cursor final : public cursor {
 public:
  explicit cached_cursor(std::shared_ptr<const kept_elements::list> list) : list_(std::move(list)) {}
  bool next(any_element& to) override;

 private:
  std::shared_ptr<const kept_elements::list> list_;
  std::size_t at_ = 0;
};

// A cursor that passes on the elements of another one, and offers them to be kept when it has come to the end. A pass
// that was stopped looks as if it had ended, and is not offered.
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

// The stage behind cache(). Immutable but for the kept elements; thread-safe. A pass that was not read to its end keeps
// nothing.
class cache_stage final : public stage {
 public:
  explicit cache_stage(stage_ptr from) : from_(std::move(from)) {}
  // The kept pass is always pass 0, whichever pass comes first, so that the elements do not depend on chance.
  cursor_ptr open(const pass_options& pass) const override;

 private:
  stage_ptr from_;
  std::shared_ptr<kept_elements> kept_ = std::make_shared<kept_elements>();
};

}}}  // namespace pinion::v0::data

#if PINION_HEADER_ONLY
#include <pinion/data/cache.ipp>
#endif
