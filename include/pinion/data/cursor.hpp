// Cursors and stages: a pass over a dataset as its stages see it. They hand on elements one by one, or the numbers of
// rows as long as no stage needs the elements themselves.
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

// A table: elements that can be had by number. Immutable; thread-safe. Numbers are in [0, count); a stage before made
// them so.
class rows {
 public:
  virtual ~rows() = default;
  // Stacks the elements of some numbers along a new first dimension, in that order, and makes `to` the result.
  virtual void batch(std::span<const std::int64_t> numbers, any_element& to) const = 0;
  // Makes `to` the element of a number.
  virtual void one(std::int64_t number, any_element& to) const = 0;
};

// The options that a pass is opened with. A pass of one number gives the same elements in one order, whatever the
// threads.
struct pass_options {
  // The number of the pass; shuffles derive their order from it.
  std::uint64_t number = 0;
  // When a stop is requested, waits and long loops end as if there were no more elements.
  std::stop_token stop{};
};

// The elements of one pass, one after another. The dataset above knows their types. It owns the cursors before it. One
// thread at a time uses it, not always the same one. After an exception or the end it is not asked again. Its
// destructor joins its threads.
//
// A cursor over rows of a table, in any order, can yield their numbers instead, so that a batch is copied from the
// table in one go. A user of a cursor calls either next() or next_numbers(), not both.
class cursor {
 public:
  virtual ~cursor() = default;
  // Makes `to` the next element, and returns false at the end.
  virtual bool next(any_element& to) = 0;
  // The table whose rows the elements are; null if they are not rows of a table. It stays the same during the pass.
  virtual std::shared_ptr<const rows> table() const { return nullptr; }
  // Fills `numbers` with those of the next elements, and returns how many there were; fewer only at the end. Requires:
  // table() is not null.
  virtual std::size_t next_numbers(std::span<std::int64_t>) { return 0; }
};

// A cursor that yields numbers whenever the cursor before it does; its next() is derived from them.
class numbered_cursor : public cursor {
 public:
  std::shared_ptr<const rows> table() const final { return table_; }
  bool next(any_element& to) final;
  std::size_t next_numbers(std::span<std::int64_t> numbers) override = 0;

 protected:
  explicit numbered_cursor(std::shared_ptr<const rows> table) : table_(std::move(table)) {}
  // Makes `to` the next element where there is no table.
  virtual bool next_element(any_element& to) = 0;

 private:
  std::shared_ptr<const rows> table_;
};

// One step in the description of a dataset: it opens passes. Immutable, but for the elements that a cache keeps;
// thread-safe. Datasets share their stages. A stage of one's own makes a cursor, and is put behind another dataset by
// dataset<Ts...>(make_stage(...)).
class stage {
 public:
  virtual ~stage() = default;
  // Opens a pass. The cursor may outlive the stage.
  virtual cursor_ptr open(const pass_options& pass) const = 0;
};

// A stage that is made of a function which opens passes.
template <class Open>
class opening_stage final : public stage {
 public:
  explicit opening_stage(Open open) : open_(std::move(open)) {}
  cursor_ptr open(const pass_options& pass) const override { return open_(pass); }

 private:
  Open open_;
};

// Makes a stage of a function which opens passes.
template <class Open>
stage_ptr make_stage(Open open) {
  return std::make_shared<opening_stage<Open>>(std::move(open));
}

}}}  // namespace pinion::v0::data

#if PINION_HEADER_ONLY
#include <pinion/data/cursor.ipp>
#endif
