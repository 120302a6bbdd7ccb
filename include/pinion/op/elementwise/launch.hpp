// One run of a scalar program over a broadcast: the memory of its operands, and the walk over them.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include <pinion/op/elementwise/broadcast.hpp>
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

  // Makes the layout. A result of the shape of the space is stored; a smaller one is summed over the axes it lacks.
  map_layout(std::vector<shape> in, const shape& whole, const std::vector<shape>& results, const scalar::program& p)
      : inputs(std::move(in)), space(whole), walk(whole, joined(inputs, results)) {
    element_sizes.assign(inputs.size(), size_of(p.arithmetic));
    for (const auto& i : p.code)
      if (i.op == scalar::opcode::input_mask) element_sizes[i.a] = 1;
    for (std::size_t k = 0; k < results.size(); ++k) {
      element_sizes.push_back(size_of(p.results[k].type));
      how.push_back(results[k].count() == whole.count() ? scalar::sink::store
                    : walk.advances(inputs.size() + k)  ? scalar::sink::add
                                                        : scalar::sink::sum);
    }
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
  static std::vector<shape> joined(std::vector<shape> a, const std::vector<shape>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
};

// The layout of a kernel's last run, made anew when shapes change. Thread-safe.
class layout_cache {
 public:
  template <class Make>
  std::shared_ptr<const map_layout> find(std::span<const any_tensor> inputs, Make make) {
    {
      std::lock_guard hold(mutex_);
      if (last_ && last_->is_of(inputs)) return last_;
    }
    auto fresh = std::make_shared<const map_layout>(make());
    std::lock_guard hold(mutex_);
    return last_ = std::move(fresh);
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<const map_layout> last_;
};

inline std::vector<shape> shapes_of(std::span<const any_tensor> tensors) {
  std::vector<shape> shapes;
  for (const auto& t : tensors) shapes.push_back(t.shape());
  return shapes;
}

// A run: a program, a layout, and the memory of the operands. A value; it refers to tensors of its step.
class map_launch {
 public:
  map_launch(std::shared_ptr<const program_runner> program, std::shared_ptr<const map_layout> layout)
      : program_(std::move(program)), layout_(std::move(layout)) {}

  void operand(const any_tensor& t) { data_[operands_++] = t.byte_data(); }
  void unwanted_result() { data_[operands_++] = nullptr; }

  // Runs it in this thread, so that sums are taken in one order.
  void run() const {
    for (std::size_t k = 0; k < layout_->how.size(); ++k) clear_sum(k);
    if (layout_->space.count() > 0) rows(0, items());
  }
  // Runs it split over the intra-op pool, in chunks that depend on the layout alone. Requires: no sums.
  void run_in_chunks(task_services& services) const {
    constexpr std::int64_t elements_a_chunk = 1 << 17;  // tens of microseconds: less is not worth a wake-up
    if (layout_->space.count() == 0) return;
    const std::int64_t grain = std::max<std::int64_t>(1, elements_a_chunk / (one_row() ? 1 : layout_->walk.inner()));
    kernel_context::in_chunks(services, (items() + grain - 1) / grain,
                              [&](std::int64_t i) { rows(i * grain, std::min(items(), (i + 1) * grain)); });
  }

 private:
  // True for a single strip, which is split along itself, so that items are elements; otherwise items are strips.
  bool one_row() const { return layout_->walk.outer() == 1; }
  std::int64_t items() const { return one_row() ? layout_->walk.inner() : layout_->walk.outer(); }

  void clear_sum(std::size_t k) const {
    const std::size_t i = layout_->inputs.size() + k;
    if (!data_[i] || layout_->how[k] == scalar::sink::store) return;
    std::int64_t elements = 1;
    for (std::size_t d = 0; d < layout_->walk.extents.size(); ++d)
      if (layout_->walk.strides[i][d] != 0) elements *= layout_->walk.extents[d];
    std::memset(data_[i], 0, static_cast<std::size_t>(elements) * layout_->element_sizes[i]);
  }

  void rows(std::int64_t first, std::int64_t last) const {
    const auto& walk = layout_->walk;
    const std::size_t inputs = layout_->inputs.size();
    alignas(64) std::byte splats[scalar::max_inputs][scalar::widest * 8];
    scalar::strip s;
    s.n = one_row() ? last - first : walk.inner();
    for (std::size_t k = 0; k < layout_->how.size(); ++k)
      s.how[k] = data_[inputs + k] ? layout_->how[k] : scalar::sink::drop;
    for (std::size_t k = 0; k < inputs; ++k) s.advance[k] = walk.advances(k) ? ~std::int64_t{0} : 0;
    const std::int64_t begin = one_row() ? first : 0;
    auto at = walk.cursor(one_row() ? 0 : first);
    for (std::int64_t row = one_row() ? 0 : first; row < (one_row() ? 1 : last); ++row, at.next()) {
      for (std::size_t k = 0; k < operands_; ++k) {
        const std::int64_t element = at.offset(k) + (walk.advances(k) ? begin : 0);
        std::byte* p = data_[k] ? data_[k] + element * static_cast<std::int64_t>(layout_->element_sizes[k]) : nullptr;
        if (k >= inputs)
          s.out[k - inputs] = p;
        else
          s.in[k] = s.advance[k] ? p : splat(splats[k], p, layout_->element_sizes[k]);
      }
      (*program_)(s);
    }
  }
  // An input that stays along the strip, repeated `widest` times as the kernel expects it.
  static const void* splat(std::byte* room, const std::byte* value, std::size_t element) {
    for (int i = 0; i < scalar::widest; ++i) std::memcpy(room + static_cast<std::size_t>(i) * element, value, element);
    return room;
  }

  std::shared_ptr<const program_runner> program_;
  std::shared_ptr<const map_layout> layout_;
  std::array<std::byte*, scalar::max_inputs + scalar::max_results> data_;
  std::size_t operands_ = 0;
};

}}}  // namespace pinion::v0::op
