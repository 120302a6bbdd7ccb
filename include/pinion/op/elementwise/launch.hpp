// One run of a scalar program over a broadcast: the memory of its operands, and the walk over them.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include <pinion/op/elementwise/layout.hpp>
#include <pinion/op/elementwise/runner.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 { namespace op {

// A run: a program, a layout, and the memory of the operands. A value; it refers to the program, which is its kernel's,
// and to tensors of its step.
class map_launch {
 public:
  // Partial sums take memory of the allocator, which must outlive the run.
  map_launch(const program_runner& program, std::shared_ptr<const map_layout> layout,
             allocator& memory = *heap_allocator::instance())
      : program_(&program), layout_(std::move(layout)), memory_(&memory) {}

  const map_layout& layout() const { return *layout_; }

  void operand(const any_tensor& t) { operand(t.byte_data()); }
  void operand(std::byte* first) { data_[operands_++] = first; }
  void unwanted_result() { operand(nullptr); }

  // Computes the elements [first, last) of the space, in row-major order, and writes them from `to` on. Requires: there
  // is one result, which was not given memory.
  void run_elements(std::int64_t first, std::int64_t last, std::byte* to) {
    const std::size_t result = layout_->inputs.size();
    data_[result] = to - first * static_cast<std::int64_t>(layout_->element_sizes[result]);
    if (first == last) return;
    if (layout_->one_row) return run_strip(first, last);
    const std::int64_t n = layout_->walk.inner();
    if (const std::int64_t begin = first % n, end = std::min(n, begin + last - first); begin > 0 || end < n) {
      run_strips(first / n, first / n + 1, begin, end - begin);
      first += end - begin;
    }
    rows(first / n, last / n);
    if (first < last && last % n > 0) run_strips(last / n, last / n + 1, 0, last % n);
  }

  // Runs it split over the intra-op pool.
  void run(task_services& services) const {
    if (layout_->is_strip) return run_strip(0, layout_->items);
    const std::int64_t of_sums = clear_sums();
    if (layout_->elements == 0) return;
    if (of_sums > 0) {
      if (layout_->has_partial_sums(of_sums)) return run_partial_sums(services, of_sums);
      return rows(0, layout_->items);
    }
    const auto& cut = layout_->stored_chunks;
    kernel_context::in_chunks(services, cut.count, [&](std::int64_t i) { run_chunk(cut, i); });
  }

 private:
  bool is_sum(std::size_t result) const {
    return data_[layout_->inputs.size() + result] && layout_->how[result] != scalar::sink::store;
  }
  // Sets the sums to 0, and returns the number of their elements.
  std::int64_t clear_sums() const {
    std::int64_t all = 0;
    for (std::size_t k = 0; k < layout_->how.size(); ++k) {
      if (!is_sum(k)) continue;
      const std::size_t i = layout_->inputs.size() + k;
      std::memset(data_[i], 0, static_cast<std::size_t>(layout_->summed[k]) * layout_->element_sizes[i]);
      all += layout_->summed[k];
    }
    return all;
  }

  void run_chunk(const map_layout::chunks& cut, std::int64_t i) const {
    rows(i * cut.grain, std::min(layout_->items, (i + 1) * cut.grain));
  }
  // Runs each chunk with sums of its own, which are added in order at the end.
  void run_partial_sums(task_services& services, std::int64_t of_sums) const {
    const auto& cut = layout_->summed_chunks;
    const any_tensor sums(dtype::float64, {cut.count, of_sums}, *memory_);
    const auto with_sums_of = [&](std::int64_t chunk) {
      map_launch part = *this;
      double* at = sums.data<double>() + chunk * of_sums;
      for (std::size_t k = 0; k < layout_->how.size(); ++k) {
        if (!is_sum(k)) continue;
        part.data_[layout_->inputs.size() + k] = reinterpret_cast<std::byte*>(at);
        at += layout_->summed[k];
      }
      return part;
    };
    kernel_context::in_chunks(services, cut.count, [&](std::int64_t i) {
      const map_launch part = with_sums_of(i);
      part.clear_sums();
      part.run_chunk(cut, i);
    });
    for (std::int64_t i = 0; i < cut.count; ++i) {
      const map_launch part = with_sums_of(i);
      for (std::size_t k = 0; k < layout_->how.size(); ++k)
        if (is_sum(k)) add_sum_of(part, k);
    }
  }
  void add_sum_of(const map_launch& part, std::size_t result) const {
    const std::size_t i = layout_->inputs.size() + result;
    visit_plain(program_->program().results[result].type, [&]<class T>() {
      detail::add_to(reinterpret_cast<T*>(data_[i]), reinterpret_cast<const T*>(part.data_[i]),
                     layout_->summed[result]);
    });
  }

  void rows(std::int64_t first, std::int64_t last) const {
    if (layout_->batches.rows > 1) return run_batches(first, last);
    if (layout_->one_row) return run_strip(first, last);
    run_strips(first, last, 0, layout_->walk.inner());
  }
  // Runs n elements of each of some rows, from element `begin` on.
  void run_strips(std::int64_t first, std::int64_t last, std::int64_t begin, std::int64_t n) const {
    const auto& walk = layout_->walk;
    alignas(64) splats room;
    scalar::strip s = make_strip(n);
    auto at = walk.cursor(first);
    for (std::int64_t row = first; row < last; ++row, at.next()) {
      for (std::size_t k = 0; k < operands_; ++k)
        put(s, k, place(k, at.offset(k) + (walk.advances(k) ? begin : 0)), room);
      (*program_)(s);
    }
  }
  // Runs a part of a single strip.
  void run_strip(std::int64_t first, std::int64_t last) const {
    alignas(64) splats room;
    scalar::strip s = make_strip(last - first);
    for (std::size_t k = 0; k < operands_; ++k) put(s, k, place(k, layout_->walk.advances(k) ? first : 0), room);
    (*program_)(s);
  }

  // A strip without operands.
  scalar::strip make_strip(std::int64_t n) const {
    const std::size_t inputs = layout_->inputs.size();
    scalar::strip s;
    s.n = n;
    for (std::size_t k = 0; k < inputs; ++k) s.advance[k] = layout_->advance[k];
    for (std::size_t k = 0; k < layout_->how.size(); ++k)
      s.how[k] = data_[inputs + k] ? layout_->how[k] : scalar::sink::drop;
    return s;
  }
  // The address of an element of an operand; null for a result that is not wanted.
  std::byte* place(std::size_t k, std::int64_t element) const {
    return data_[k] ? data_[k] + element * static_cast<std::int64_t>(layout_->element_sizes[k]) : nullptr;
  }
  using splats = std::byte[scalar::max_inputs][scalar::widest * 8];
  void put(scalar::strip& s, std::size_t k, std::byte* p, splats& room) const {
    const std::size_t inputs = layout_->inputs.size();
    if (k >= inputs)
      s.out[k - inputs] = p;
    else
      s.in[k] = s.advance[k] ? p : splat(room[k], p, layout_->element_sizes[k]);
  }

  // Runs short rows, many in one strip. The copies of repeated rows are made once for all batches of an extent, and
  // results that sum rows up are added to their place at its end.
  void run_batches(std::int64_t first, std::int64_t last) const {
    const auto& batches = layout_->batches;
    alignas(64) std::byte copies[row_batches::room];
    alignas(64) splats room;
    std::int64_t most = 0;  // the rows of the first batch of an extent
    for (std::int64_t row = first, rows; row < last; row += rows) {
      const std::int64_t in_extent = row % batches.extent, left = std::min(batches.extent - in_extent, last - row);
      rows = std::min(batches.rows, left);
      const bool begins = row == first || in_extent == 0, ends = rows == left;
      if (begins) most = rows;
      const auto at = layout_->walk.cursor(row);
      scalar::strip s = make_strip(rows * layout_->walk.inner());
      for (std::size_t k = 0; k < operands_; ++k) {
        std::byte* const p = place(k, at.offset(k));
        if (p && batches.has_copy(k))
          put_copy(s, k, p, copies + batches.copy_at[k], rows, begins);
        else
          put(s, k, p, room);
      }
      (*program_)(s);
      for (std::size_t k = layout_->inputs.size(); k < operands_; ++k)
        if (data_[k] && batches.has_copy(k))
          take_sums(k, place(k, at.offset(k)), copies + batches.copy_at[k], rows, ends ? most : 0);
    }
  }
  // Puts the copy of an operand into a strip. `fresh`: no batch of this extent has written it yet.
  void put_copy(scalar::strip& s, std::size_t k, const std::byte* p, std::byte* copy, std::int64_t rows,
                bool fresh) const {
    const std::int64_t n = layout_->walk.inner();
    const std::size_t size = layout_->element_sizes[k], inputs = layout_->inputs.size();
    const bool repeats = layout_->batches.walks[k] == row_batches::walk::again;
    if (k >= inputs) {
      s.out[k - inputs] = copy;
      s.how[k - inputs] = repeats && !fresh ? scalar::sink::add : scalar::sink::store;
      return;
    }
    s.in[k] = copy;
    s.advance[k] = ~std::int64_t{0};
    if (!repeats)
      detail::spread_elements(copy, p, size, layout_->walk.strides[k].end()[-2], n, rows);
    else if (fresh)
      detail::repeat_row(copy, p, static_cast<std::size_t>(n) * size, static_cast<std::size_t>(rows));
  }
  // Adds to a result what its copy has: the sum of each row, or the sum of `summed` rows, if any.
  void take_sums(std::size_t k, std::byte* result, std::byte* copy, std::int64_t rows, std::int64_t summed) const {
    const std::int64_t n = layout_->walk.inner();
    const bool repeats = layout_->batches.walks[k] == row_batches::walk::again;
    visit_plain(program_->program().results[k - layout_->inputs.size()].type, [&]<class T>() {
      T *const to = reinterpret_cast<T*>(result), *const from = reinterpret_cast<T*>(copy);
      if (!repeats)
        detail::add_sums(to, layout_->walk.strides[k].end()[-2], from, n, rows);
      else if (summed > 0)
        detail::add_rows(to, from, n, summed);
    });
  }

  // An input that stays along the strip, repeated `widest` times as the kernel expects it.
  static const void* splat(std::byte* room, const std::byte* value, std::size_t element) {
    detail::spread_elements(room, value, element, 0, scalar::widest, 1);
    return room;
  }

  const program_runner* program_;
  std::shared_ptr<const map_layout> layout_;
  allocator* memory_;
  std::array<std::byte*, broadcast_walk::most_operands> data_;
  static_assert(scalar::max_inputs + scalar::max_results <= broadcast_walk::most_operands);
  std::size_t operands_ = 0;
};

}}}  // namespace pinion::v0::op
