// One pass over a dataset as its stages see it: elements one by one, or numbers of rows where nothing has touched them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/data/element.hpp>
#include <pinion/data/forward.hpp>

namespace pinion { inline namespace v0 { namespace data {

// Elements that can be had by number. Immutable; thread-safe.
class rows {
 public:
  virtual ~rows() = default;
  // Makes `to` the elements of these numbers, one after another along a new first dimension.
  virtual void batch(std::span<const std::int64_t> numbers, any_element& to) const = 0;
  virtual void one(std::int64_t number, any_element& to) const = 0;
};

// What a pass is opened with.
struct pass_options {
  std::uint64_t number = 0;  // which pass this is: shuffles go by it
  std::stop_token stop{};    // waits and long loops end when it is requested, as if there were no more elements
};

// The elements of one pass, one after another, whose types the dataset knows. For one thread at a time, not always the
// same. After an exception, or the end, nothing more is asked of it. Destruction ends its threads.
//
// A cursor over rows (whose elements are those of a table, in an order of its own) yields their numbers instead, so
// that a batch is copied from the table in one go. One of next() and next_numbers() is used on a cursor, not both.
class cursor {
 public:
  virtual ~cursor() = default;
  // Makes `to` the next element, whatever it was; false at the end.
  virtual bool next(any_element& to) = 0;
  // Null where elements have no numbers. The same during the whole pass.
  virtual std::shared_ptr<const rows> table() const { return nullptr; }
  // Fills `numbers` with those of the next elements; returns of how many, fewer only at the end. Requires: table().
  virtual std::size_t next_numbers(std::span<std::int64_t>) { return 0; }
};

// A cursor that has numbers whenever the one before it has; next() follows from them.
class numbered_cursor : public cursor {
 public:
  std::shared_ptr<const rows> table() const final { return table_; }
  bool next(any_element& to) final;
  std::size_t next_numbers(std::span<std::int64_t> numbers) override = 0;

 protected:
  explicit numbered_cursor(std::shared_ptr<const rows> table) : table_(std::move(table)) {}
  virtual bool next_element(any_element& to) = 0;  // where there is no table

 private:
  std::shared_ptr<const rows> table_;
};

// A dataset as its description: opens passes. Immutable but for what a cache has learnt; thread-safe.
class stage {
 public:
  virtual ~stage() = default;
  virtual cursor_ptr open(const pass_options& pass) const = 0;
};

// A stage made of a function that opens passes.
template <class Open>
class opening_stage final : public stage {
 public:
  explicit opening_stage(Open open) : open_(std::move(open)) {}
  cursor_ptr open(const pass_options& pass) const override { return open_(pass); }

 private:
  Open open_;
};

template <class Open>
stage_ptr make_stage(Open open) {
  return std::make_shared<opening_stage<Open>>(std::move(open));
}

}}}  // namespace pinion::v0::data

#if PINION_HEADER_ONLY
#include <pinion/data/cursor.ipp>
#endif
