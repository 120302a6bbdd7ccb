// One pass over a dataset as its stages see it: elements one by one, or numbers of rows where nothing has touched them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>

#include <pinion/data/element.hpp>

namespace pinion::inline v0::data {

// Elements that can be had by number. Immutable; thread-safe.
template <element... Ts>
class rows {
 public:
  virtual ~rows() = default;
  // The elements of these numbers, one after another along a new first dimension.
  virtual element_of<Ts...> batch(std::span<const std::int64_t> numbers) const = 0;
  virtual element_of<Ts...> one(std::int64_t number) const = 0;
};

// What a pass is opened with.
struct pass_options {
  std::uint64_t number = 0;  // which pass this is: shuffles go by it
  std::stop_token stop{};    // waits and long loops end when it is requested, as if there were no more elements
};

// The elements of one pass, one after another. For one thread at a time, not always the same. After an exception, or
// the end, nothing more is asked of it. Destruction ends its threads.
//
// A cursor over rows (whose elements are those of a table, in an order of its own) yields their numbers instead, so
// that a batch is copied from the table in one go. One of next() and next_numbers() is used on a cursor, not both.
template <element... Ts>
class cursor {
 public:
  virtual ~cursor() = default;
  virtual std::optional<element_of<Ts...>> next() = 0;
  // Null where elements have no numbers. The same during the whole pass.
  virtual std::shared_ptr<const rows<Ts...>> table() const { return nullptr; }
  // Fills `numbers` with those of the next elements; returns of how many, fewer only at the end. Requires: table().
  virtual std::size_t next_numbers(std::span<std::int64_t>) { return 0; }
};

// A cursor that has numbers whenever the one before it has; next() follows from them.
template <element... Ts>
class numbered_cursor : public cursor<Ts...> {
 public:
  std::shared_ptr<const rows<Ts...>> table() const final { return table_; }
  std::optional<element_of<Ts...>> next() final {
    if (!table_) return next_element();
    std::int64_t number = 0;
    if (next_numbers({&number, 1}) == 0) return std::nullopt;
    return table_->one(number);
  }
  std::size_t next_numbers(std::span<std::int64_t> numbers) override = 0;

 protected:
  explicit numbered_cursor(std::shared_ptr<const rows<Ts...>> table) : table_(std::move(table)) {}
  virtual std::optional<element_of<Ts...>> next_element() = 0;  // where there is no table

 private:
  std::shared_ptr<const rows<Ts...>> table_;
};

template <element... Ts>
using cursor_ptr = std::unique_ptr<cursor<Ts...>>;

// A dataset as its description: opens passes. Immutable but for what a cache has learnt; thread-safe.
template <element... Ts>
class stage {
 public:
  virtual ~stage() = default;
  virtual cursor_ptr<Ts...> open(const pass_options& options) const = 0;
};

template <element... Ts>
using stage_ptr = std::shared_ptr<const stage<Ts...>>;

// A stage made of a function that opens passes.
template <class Open, element... Ts>
class opening_stage final : public stage<Ts...> {
 public:
  explicit opening_stage(Open open) : open_(std::move(open)) {}
  cursor_ptr<Ts...> open(const pass_options& options) const override { return open_(options); }

 private:
  Open open_;
};

template <element... Ts, class Open>
stage_ptr<Ts...> make_stage(Open open) {
  return std::make_shared<opening_stage<Open, Ts...>>(std::move(open));
}

}  // namespace pinion::inline v0::data
