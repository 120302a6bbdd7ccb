// One run of a scalar program over a broadcast: the memory of its operands, and the walk over them.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include <pinion/op/elementwise/broadcast.hpp>
#include <pinion/op/elementwise/row_batches.hpp>
#include <pinion/op/elementwise/runner.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 { namespace op {

// The part of a run that depends on the operands' shapes alone, kept while these stay the same. Inputs come first, then
// results. Immutable.
struct map_layout {
  std::vector<shape> inputs;
  shape space;  // the shape to which all inputs broadcast
  broadcast_walk walk;
  std::vector<std::size_t> element_sizes;  // of all operands
  std::vector<scalar::sink> how;           // for each result
  row_batches batches;

  // Makes the layout. A result of the shape of the space is stored; a smaller one is summed over the axes it lacks.
  map_layout(std::vector<shape> in, const shape& whole, const std::vector<shape>& results, const scalar::program& p)
      : inputs(std::move(in)),
        space(whole),
        walk(whole, joined(inputs, results)),
        element_sizes(sizes_of(p)),
        batches(walk, inputs.size(), element_sizes) {
    for (std::size_t k = 0; k < results.size(); ++k)
      how.push_back(results[k].count() == whole.count() ? scalar::sink::store
                    : walk.advances(inputs.size() + k)  ? scalar::sink::add
                                                        : scalar::sink::sum);
  }

  bool is_of(std::span<const any_tensor> tensors) const {
    return std::equal(tensors.begin(), tensors.end(), inputs.begin(), inputs.end(),
                      [](const any_tensor& t, const shape& s) { return t.shape() == s; });
  }
  // The space of some inputs. Throws invalid_argument where they do not broadcast.
  static shape space_of(std::span<const any_tensor> tensors) {
    shape all{};
    for (const auto& t : tensors) {
      shape wider;
      if (!broadcast(all, t.shape(), wider))
        throw error(errc::invalid_argument,
                    "shapes " + to_string(all) + " and " + to_string(t.shape()) + " do not broadcast");
      all = wider;
    }
    return all;
  }

 private:
  static std::vector<std::size_t> sizes_of(const scalar::program& p) {
    std::vector<std::size_t> sizes(p.inputs, size_of(p.arithmetic));
    for (const auto& i : p.code)
      if (i.op == scalar::opcode::input_mask) sizes[i.a] = 1;
    for (const auto& r : p.results) sizes.push_back(size_of(r.type));
    return sizes;
  }
  static std::vector<shape> joined(std::vector<shape> a, const std::vector<shape>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
};

// The layouts of a kernel's runs. Thread-safe. It keeps the first layouts that are made, for as long as the kernel
// lives, so that a run which finds the one of the last run takes no lock and counts no reference.
class layout_cache {
 public:
  template <class Make>
  std::shared_ptr<const map_layout> find(std::span<const any_tensor> inputs, Make make) {
    const map_layout* const last = last_.load(std::memory_order_acquire);
    if (last && last->is_of(inputs)) return unowned(last);
    return find_or_keep(inputs, make);
  }

 private:
  static constexpr std::size_t most = 64;  // shapes that change without end are laid out anew for each run

  static std::shared_ptr<const map_layout> unowned(const map_layout* kept) { return {std::shared_ptr<void>(), kept}; }
  template <class Make>
  std::shared_ptr<const map_layout> find_or_keep(std::span<const any_tensor> inputs, Make make) {
    std::lock_guard hold(mutex_);
    auto at = std::find_if(kept_.begin(), kept_.end(), [&](const auto& layout) { return layout->is_of(inputs); });
    if (at == kept_.end()) {
      auto fresh = std::make_unique<const map_layout>(make());
      if (kept_.size() == most) return fresh;
      at = kept_.insert(kept_.end(), std::move(fresh));
    }
    last_.store(at->get(), std::memory_order_release);
    return unowned(at->get());
  }

  std::atomic<const map_layout*> last_{nullptr};
  std::mutex mutex_;
  std::vector<std::unique_ptr<const map_layout>> kept_;
};

inline std::vector<shape> shapes_of(std::span<const any_tensor> tensors) {
  std::vector<shape> shapes;
  for (const auto& t : tensors) shapes.push_back(t.shape());
  return shapes;
}

// A run: a program, a layout, and the memory of the operands. A value; it refers to the program, which is its kernel's,
// and to tensors of its step.
class map_launch {
 public:
  map_launch(const program_runner& program, std::shared_ptr<const map_layout> layout)
      : program_(&program), layout_(std::move(layout)) {}

  const map_layout& layout() const { return *layout_; }

  void operand(const any_tensor& t) { data_[operands_++] = t.byte_data(); }
  void unwanted_result() { data_[operands_++] = nullptr; }

  // Computes the elements [first, last) of the space, in row-major order, and writes them from `to` on. Requires: there
  // is one result, which was not given memory.
  void run_elements(std::int64_t first, std::int64_t last, std::byte* to) {
    const std::size_t result = layout_->inputs.size();
    data_[result] = to - first * static_cast<std::int64_t>(layout_->element_sizes[result]);
    if (first == last) return;
    if (one_row()) return rows(first, last);
    const std::int64_t n = layout_->walk.inner();
    if (const std::int64_t begin = first % n, end = std::min(n, begin + last - first); begin > 0 || end < n) {
      run_strips(first / n, first / n + 1, begin, end - begin);
      first += end - begin;
    }
    rows(first / n, last / n);
    if (first < last && last % n > 0) run_strips(last / n, last / n + 1, 0, last % n);
  }

  // Runs it split over the intra-op pool, in chunks that depend on the layout alone, as the order of sums does.
  void run(task_services& services) const {
    clear_sums();
    if (layout_->space.count() == 0) return;
    const bool sums = elements_of_sums() > 0;
    std::int64_t grain = std::max<std::int64_t>(1, elements_a_chunk / (one_row() ? 1 : layout_->walk.inner()));
    if (sums) grain = std::max(grain, (items() + most_partial_sums - 1) / most_partial_sums);
    const std::int64_t chunks = (items() + grain - 1) / grain;
    const auto chunk = [&](const map_launch& of, std::int64_t i) {
      of.rows(i * grain, std::min(items(), (i + 1) * grain));
    };
    if (!sums)
      kernel_context::in_chunks(services, chunks, [&](std::int64_t i) { chunk(*this, i); });
    else if (chunks == 1 || elements_of_sums() * most_partial_sums > layout_->space.count() / 4)
      rows(0, items());
    else
      run_partial_sums(services, chunks, chunk);
  }

 private:
  static constexpr std::int64_t elements_a_chunk = 1 << 15;  // some microseconds: less is not worth handing over
  static constexpr std::int64_t most_partial_sums = 16;      // they take a quarter of the memory of the space at most

  // True for a single strip, which is split along itself, so that items are elements; otherwise items are strips.
  bool one_row() const { return layout_->walk.outer() == 1; }
  std::int64_t items() const { return one_row() ? layout_->walk.inner() : layout_->walk.outer(); }

  bool is_sum(std::size_t result) const {
    return data_[layout_->inputs.size() + result] && layout_->how[result] != scalar::sink::store;
  }
  std::int64_t elements_of(std::size_t operand) const {
    std::int64_t elements = 1;
    for (std::size_t d = 0; d < layout_->walk.extents.size(); ++d)
      if (layout_->walk.strides[operand][d] != 0) elements *= layout_->walk.extents[d];
    return elements;
  }
  std::int64_t elements_of_sums() const {
    std::int64_t all = 0;
    for (std::size_t k = 0; k < layout_->how.size(); ++k)
      if (is_sum(k)) all += elements_of(layout_->inputs.size() + k);
    return all;
  }
  void clear_sums() const {
    for (std::size_t k = 0; k < layout_->how.size(); ++k) {
      const std::size_t i = layout_->inputs.size() + k;
      if (is_sum(k)) std::memset(data_[i], 0, static_cast<std::size_t>(elements_of(i)) * layout_->element_sizes[i]);
    }
  }

  // Runs each chunk with sums of its own, which are added in order at the end.
  template <class Chunk>
  void run_partial_sums(task_services& services, std::int64_t chunks, const Chunk& chunk) const {
    std::vector<map_launch> parts(static_cast<std::size_t>(chunks), *this);
    const auto memory = std::make_unique<std::byte[]>(static_cast<std::size_t>(elements_of_sums() * chunks) * 8);
    std::byte* at = memory.get();
    for (map_launch& part : parts)
      for (std::size_t k = 0; k < layout_->how.size(); ++k)
        if (const std::size_t i = layout_->inputs.size() + k; is_sum(k)) {
          part.data_[i] = at;
          at += elements_of(i) * 8;
        }
    kernel_context::in_chunks(services, chunks, [&](std::int64_t i) { chunk(parts[static_cast<std::size_t>(i)], i); });
    for (const map_launch& part : parts)
      for (std::size_t k = 0; k < layout_->how.size(); ++k)
        if (is_sum(k)) add_sum_of(part, k);
  }
  void add_sum_of(const map_launch& part, std::size_t result) const {
    const std::size_t i = layout_->inputs.size() + result;
    visit_plain(program_->program().results[result].type, [&]<class T>() {
      detail::add_to(reinterpret_cast<T*>(data_[i]), reinterpret_cast<const T*>(part.data_[i]), elements_of(i));
    });
  }

  void rows(std::int64_t first, std::int64_t last) const {
    if (layout_->batches.rows > 1) return run_batches(first, last);
    if (one_row()) return run_strips(0, 1, first, last - first);
    run_strips(first, last, 0, layout_->walk.inner());
  }
  // Runs n elements of each of some rows, from element `begin` on.
  void run_strips(std::int64_t first, std::int64_t last, std::int64_t begin, std::int64_t n) const {
    const auto& walk = layout_->walk;
    alignas(64) splats room;
    scalar::strip s = make_strip();
    s.n = n;
    auto at = walk.cursor(first);
    for (std::int64_t row = first; row < last; ++row, at.next()) {
      for (std::size_t k = 0; k < operands_; ++k)
        put(s, k, place(k, at.offset(k) + (walk.advances(k) ? begin : 0)), room);
      (*program_)(s);
    }
  }

  // A strip without operands.
  scalar::strip make_strip() const {
    const std::size_t inputs = layout_->inputs.size();
    scalar::strip s;
    for (std::size_t k = 0; k < inputs; ++k) s.advance[k] = layout_->walk.advances(k) ? ~std::int64_t{0} : 0;
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
      scalar::strip s = make_strip();
      s.n = rows * layout_->walk.inner();
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
    for (int i = 0; i < scalar::widest; ++i) std::memcpy(room + static_cast<std::size_t>(i) * element, value, element);
    return room;
  }

  const program_runner* program_;
  std::shared_ptr<const map_layout> layout_;
  std::array<std::byte*, broadcast_walk::most_operands> data_;
  static_assert(scalar::max_inputs + scalar::max_results <= broadcast_walk::most_operands);
  std::size_t operands_ = 0;
};

}}}  // namespace pinion::v0::op
