// Binds the items of an executable to cells, one after the other.
#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/opkit/binding.hpp>
#include <pinion/runtime/step/executable.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// Items that are bound, with the memory of their values. Refers to the executable. Run by one thread at a time.
class bound_items {
 public:
  explicit bound_items(const executable& e) : e_(e) {}

  // Runs the calls in order. They stop, without an error, after `watch` has failed. Throws the error of a call, which
  // names its node.
  void run(const step_watch* watch);

 private:
  friend class binder;
  static constexpr std::size_t looks_every = 1024;  // calls between two looks at the watch
  static constexpr std::size_t ahead = 8;           // calls from one that runs to one that is asked for from memory

  const executable& e_;
  cell_memory memory_;
  std::vector<std::unique_ptr<bound_call>> calls_;
  std::vector<int> item_of_;  // for each call
};

// Binds items in the order of the executable. A cell whose last reader is bound serves later values again, unless it
// is lasting. Used by one thread.
class binder {
 public:
  binder(const executable& e, bound_items& into) : e_(e), into_(into) {}

  // The cell of a slot; null: it has none.
  const cell* of(int slot) const;
  // Gives a slot a cell that exists. Requires: it is lasting.
  void put(int slot, const cell& at) { cells_[slot] = at; }
  // Gives a slot a cell that is filled before the items run.
  const cell& enter(int slot, dtype type, const shape& extent);
  // Binds an item. Returns false if it cannot be bound, or if an input has no cell.
  bool add(int item);

 private:
  bool bind(const executable::item& it, std::span<const cell> inputs, std::span<cell> outputs);
  void keep(int slot, const cell& p);
  void release(int slot);

  const executable& e_;
  bound_items& into_;
  std::unordered_map<int, cell> cells_;             // by slot
  std::unordered_map<const std::byte*, int> live_;  // slots that are still read, for each cell that does not last
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/step/binder.ipp>
#endif
