// Scalar programs that GPUs interpret, where nothing compiles them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <pinion/op/elementwise/broadcast.hpp>
#include <pinion/op/elementwise/cuda_interpreter.hpp>
#include <pinion/op/elementwise/cuda_operands.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/scalar/program.hpp>

namespace pinion { inline namespace v0 { namespace op {

// A program as the interpreter of GPUs reads it: its steps, which take slots for their values, its numbers, and the
// places of its results. A leaf takes a slot when its first reader comes, and a slot is free again behind its last
// reader. Requires: the program is executable.
class interpreted_code {
 public:
  explicit interpreted_code(const scalar::program& p) : p_(p), last_use_(p.code.size()), slot_of_(p.code.size(), none) {
    for (std::size_t i = 0; i < p.code.size(); ++i)
      for (int k = 0; k < scalar::facts(p.code[i].op).operands; ++k) last_use_[p.code[i].operand(k)] = i;
    for (const scalar::result& r : p.results) last_use_[r.value] = p.code.size();
    for (std::size_t i = 0; i < p.code.size(); ++i)
      if (scalar::facts(p.code[i].op).operands > 0) compute(i);
    for (const scalar::result& r : p.results) results.push_back({place_of(r.value), r.type});
  }

  std::vector<cuda::interpreted_step> steps;
  std::vector<cuda::interpreted_result> results;
  std::vector<scalar::number> numbers;
  std::uint32_t slots = 0;

 private:
  static constexpr std::uint32_t none = ~0u;

  void compute(std::size_t i) {
    const scalar::instruction& in = p_.code[i];
    const int operands = scalar::facts(in.op).operands;
    cuda::interpreted_step step{in.op, 0, {}};
    for (int k = 0; k < operands; ++k) step.in[k] = place_of(in.operand(k));
    for (int k = 0; k < operands; ++k) free_behind(i, in.operand(k));
    step.to = slot_of_[i] = take();
    steps.push_back(step);
  }
  // The place of a value that is computed already, or of a leaf, which this makes ready.
  cuda::interpreted_place place_of(scalar::value_id id) {
    const scalar::instruction& in = p_.code[id];
    if (slot_of_[id] != none) return slot_of_[id];
    if (in.op == scalar::opcode::literal || in.op == scalar::opcode::constant) {
      numbers.push_back((in.op == scalar::opcode::literal ? p_.literals : p_.constants)[in.a]);
      return static_cast<std::uint32_t>(numbers.size() - 1) | cuda::is_number;
    }
    slot_of_[id] = take();
    steps.push_back({in.op, slot_of_[id], {in.a}});
    return slot_of_[id];
  }
  std::uint32_t take() {
    if (free_.empty()) return slots++;
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    return slot;
  }
  // Frees the slot of a value that instruction i is the last to read.
  void free_behind(std::size_t i, scalar::value_id id) {
    if (last_use_[id] != i || slot_of_[id] == none) return;
    free_.push_back(slot_of_[id]);
    slot_of_[id] = none;
  }

  const scalar::program& p_;
  std::vector<std::size_t> last_use_;
  std::vector<std::uint32_t> slot_of_, free_;
};

// The kernel of a program on the GPU of one node. Every executable program has one. Thread-safe.
class interpreted_map {
 public:
  explicit interpreted_map(const scalar::program& p)
      : arithmetic_(p.arithmetic == dtype::boolean ? dtype::uint8 : p.arithmetic), inputs_(p.inputs) {
    const interpreted_code code(p);
    slots_ = code.slots;
    steps_ = add(code.steps.data(), code.steps.size());
    results_ = add(code.results.data(), code.results.size());
    visit([&]<class T>() {
      std::vector<T> numbers;
      for (const scalar::number& n : code.numbers) numbers.push_back(n.as<T>());
      numbers_ = add(numbers.data(), numbers.size());
    });
  }

  // Enqueues a run over the space of a walk. Operands are the inputs, then the results. An input may have the memory of
  // a result if both move alike. Nothing is written if one of the places of `guard` has a wrong value.
  void launch(kernel_context& c, const broadcast_walk& walk, std::span<const void* const> addresses,
              const cuda::wrong_places& guard = {}) {
    const cuda::map_walk over = cuda_walk(walk, inputs_, addresses, guard);
    const std::int64_t n = over.count();
    if (n == 0) return;
    const std::byte* const memory = on_device(*c.device);
    const any_tensor scratch = c.scratch(dtype::uint8, {cuda::interpreter_scratch(slots_, n, size_of(arithmetic_))});
    visit([&]<class T>() {
      const auto at = [&](const table& t) { return static_cast<const void*>(memory + t.begin); };
      cuda::interpreted_program<T> p{};
      p.steps = static_cast<const cuda::interpreted_step*>(at(steps_));
      p.numbers = static_cast<const T*>(at(numbers_));
      p.results = static_cast<const cuda::interpreted_result*>(at(results_));
      p.step_count = steps_.size;
      p.result_count = results_.size;
      p.slots = slots_;
      cuda::interpret<T>(c.device->stream()->native(), p, over, scratch.raw());
    });
  }

 private:
  // A table in the memory of the program, which begins at a multiple of 8 bytes.
  struct table {
    std::size_t begin;
    std::uint32_t size;
  };

  template <class T>
  table add(const T* entries, std::size_t size) {
    const std::size_t begin = memory_.size(), bytes = size * sizeof(T);
    memory_.resize(begin + (bytes + 7) / 8 * 8);
    if (bytes > 0) std::memcpy(memory_.data() + begin, entries, bytes);
    return {begin, static_cast<std::uint32_t>(size)};
  }
  template <class F>
  void visit(F&& f) const {
    visit_plain(arithmetic_, [&]<class T>() {
      if constexpr (!std::is_same_v<T, bool>) f.template operator()<T>();
    });
  }
  // The program in memory of the device, to which the first run copies it.
  const std::byte* on_device(devices::device& device) {
    std::lock_guard hold(mutex_);
    if (!on_device_) {
      const any_tensor host(dtype::uint8, {static_cast<std::int64_t>(memory_.size())});
      if (!memory_.empty()) std::memcpy(host.raw(), memory_.data(), memory_.size());
      on_device_ = device.from_host(host);
    }
    return on_device_.byte_data();
  }

  const dtype arithmetic_;
  const std::size_t inputs_;
  std::uint32_t slots_ = 0;
  std::vector<std::byte> memory_;
  table steps_{}, results_{}, numbers_{};
  std::mutex mutex_;
  any_tensor on_device_;
};

}}}  // namespace pinion::v0::op
