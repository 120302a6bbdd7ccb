// Nodes of small values, bound to memory before they run.
//
// A step that runs a node in the ordinary way moves tensors, counts references and looks at shapes, which takes longer
// than the arithmetic of a small value. So nodes of small values that follow each other are bound once, for the types
// that their values have: each value gets a cell in memory, and each node becomes a call that knows its cells.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 {

class step_watch;

// The cell of a small value: its type, its shape, and memory that is larger than the value. A value of one element
// stands there `copies` times, so that a program reads it like a row; any other one is followed by elements without
// meaning, up to a multiple of `copies`. A value; it does not own the memory.
struct cell {
  static constexpr std::int64_t copies = 16;  // the most lanes of a vector
  static constexpr std::size_t most_bytes = 4096;

  pinion::dtype dtype = pinion::dtype::invalid;
  pinion::shape shape = {};
  std::byte* at = nullptr;
  bool lasting = false;  // the memory is never handed out for another value

  // Tells whether a value may have a cell: it is small, not empty, and has plain elements.
  static bool fits(pinion::dtype type, const pinion::shape& extent);
  static bool fits(const any_tensor& value);

  bool single() const { return shape.count() == 1; }
  std::size_t bytes() const { return static_cast<std::size_t>(shape.count()) * size_of(dtype); }
  // The bytes of the memory.
  std::size_t room() const;
  // Tells whether a tensor has the type and the shape of the cell.
  bool is_of(const any_tensor& value) const { return value.dtype() == dtype && value.shape() == shape; }

  // Copies the elements of a value of this type to the cell, from memory that may be the cell's own.
  void fill(const void* elements) const;
  // Returns the value as a tensor of its own.
  any_tensor tensor(allocator& memory) const;
  // Repeats the only element after it was written. Requires: single().
  void repeat() const { fill(at); }
};

// The memory of cells. It hands out what was given back for elements of the same type, so that elements without
// meaning are some other value's. Not thread-safe.
class cell_memory {
 public:
  cell_memory() = default;
  cell_memory(const cell_memory&) = delete;

  // Sets the memory of a cell. It is zero where it is fresh.
  void make(cell& p);
  void make_fresh(cell& p);
  // Takes memory back, which must not be in use by a later call.
  void give_back(const cell& p);

 private:
  struct aligned_delete {
    void operator()(std::byte* block) const;
  };
  std::vector<std::unique_ptr<std::byte[], aligned_delete>> blocks_;
  std::size_t block_size_ = 2048, left_ = 0;  // bytes of the last block
  std::map<std::pair<pinion::dtype, std::size_t>, std::vector<std::byte*>> idle_;
};

// The work of a bound node, run any number of times by one thread at a time. Owns what it needs; refers to its kernel
// and to the memory of its cells.
class bound_call {
 public:
  virtual ~bound_call() = default;
  virtual void run() = 0;
};

// A body of a loop or of a branch that is bound as a whole. Its arguments are read from the cells with which it was
// bound. Run by one thread at a time.
class bound_body {
 public:
  virtual ~bound_body() = default;
  // Computes the results. It stops early, without an error, after `watch` has failed. Throws the error of a node.
  virtual void run(const step_watch* watch) = 0;
  // The cells of the results. They may be cells of arguments, or lasting ones.
  std::span<const cell> results() const { return results_; }

 protected:
  std::vector<cell> results_;
};

// A node while it is bound: kernel::bind() makes cells for the outputs that are wanted, and leaves a call. A node that
// computes nothing leaves none. It belongs to the code that binds.
class binding {
 public:
  binding(cell_memory& memory, std::span<const cell> inputs, std::span<cell> outputs,
          std::span<const unsigned char> wanted)
      : memory_(memory), inputs_(inputs), outputs_(outputs), wanted_(wanted) {}

  std::span<const cell> inputs() const { return inputs_; }
  const cell& input(int i) const { return inputs_[static_cast<std::size_t>(i)]; }
  const cell& output(int i) const { return outputs_[static_cast<std::size_t>(i)]; }
  bool wants(int i) const { return wanted_[static_cast<std::size_t>(i)] != 0; }

  // Makes output i. Returns false if it does not fit into a cell; the node is not bound then.
  bool make(int i, dtype type, const shape& extent);
  // Makes output i the elements of an input, under another shape.
  void alias(int i, const cell& input, const shape& extent) {
    outputs_[static_cast<std::size_t>(i)] = {input.dtype, extent, input.at, input.lasting};
  }
  // Makes output i a value that never changes. Returns false if it does not fit.
  bool constant(int i, const any_tensor& value);

  // Leaves the call that computes the outputs.
  void call(std::unique_ptr<bound_call> work) { call_ = std::move(work); }
  std::unique_ptr<bound_call> take_call() { return std::move(call_); }

 private:
  cell_memory& memory_;
  std::span<const cell> inputs_;
  std::span<cell> outputs_;
  std::span<const unsigned char> wanted_;
  std::unique_ptr<bound_call> call_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/opkit/binding.ipp>
#endif
