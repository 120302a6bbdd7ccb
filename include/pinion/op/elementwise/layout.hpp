// The layout of a run of a scalar program over a broadcast: all that follows from the shapes of its operands.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include <pinion/op/elementwise/broadcast.hpp>
#include <pinion/op/elementwise/row_batches.hpp>
#include <pinion/scalar/operands.hpp>
#include <pinion/scalar/program.hpp>
#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 { namespace op {

// The part of a run that depends on the operands' shapes alone, kept while these stay the same. Inputs come first, then
// results. Immutable.
struct map_layout {
  // Chunks of a run, which threads may share. They depend on the layout alone, as the order of sums does.
  struct chunks {
    std::int64_t grain = 1, count = 0;  // the items of a chunk
  };

  std::vector<shape> inputs;
  shape space;  // the shape to which all inputs broadcast
  broadcast_walk walk;
  std::vector<std::size_t> element_sizes;  // of all operands
  std::vector<scalar::sink> how;           // for each result
  row_batches batches;
  std::vector<std::int64_t> advance;    // of each input, as a strip has it
  std::vector<std::int64_t> summed;     // the elements of each result that is a sum; 0 for one that is stored
  std::int64_t elements;                // of the space
  bool one_row;                         // a single strip, which is cut along itself: items are elements, else strips
  std::int64_t items;                   // the whole run
  chunks stored_chunks, summed_chunks;  // of a run without sums, and of one with sums
  bool is_strip;                        // one call of the kernel computes all

  // Makes the layout. A result of the shape of the space is stored; a smaller one is summed over the axes it lacks.
  map_layout(std::vector<shape> in, const shape& whole, const std::vector<shape>& results, const scalar::program& p)
      : inputs(std::move(in)),
        space(whole),
        walk(whole, joined(inputs, results)),
        element_sizes(scalar::operand_sizes(p)),
        batches(walk, inputs.size(), element_sizes),
        elements(whole.count()),
        one_row(walk.outer() == 1),
        items(one_row ? walk.inner() : walk.outer()) {
    for (std::size_t k = 0; k < inputs.size(); ++k) advance.push_back(walk.advances(k) ? ~std::int64_t{0} : 0);
    for (std::size_t k = 0; k < results.size(); ++k) {
      const std::size_t i = inputs.size() + k;
      how.push_back(results[k].count() == elements ? scalar::sink::store
                    : walk.advances(i)             ? scalar::sink::add
                                                   : scalar::sink::sum);
      summed.push_back(how[k] == scalar::sink::store ? 0 : elements_of(i));
    }
    const std::int64_t item = one_row ? 1 : std::max<std::int64_t>(1, walk.inner());  // its elements
    const std::int64_t grain = std::max<std::int64_t>(1, elements_a_chunk / item);
    stored_chunks = in_chunks_of(grain);
    summed_chunks = in_chunks_of(std::max(grain, (items + most_partial_sums - 1) / most_partial_sums));
    is_strip = elements > 0 && one_row && batches.rows == 1 && stored_chunks.count == 1 &&
               std::all_of(how.begin(), how.end(), [](scalar::sink s) { return s == scalar::sink::store; });
  }

  // True for tensors of these shapes.
  static bool are_of(std::span<const any_tensor> tensors, std::span<const shape> shapes) {
    return std::equal(tensors.begin(), tensors.end(), shapes.begin(), shapes.end(),
                      [](const any_tensor& t, const shape& s) { return t.shape() == s; });
  }
  bool is_of(std::span<const any_tensor> tensors) const { return are_of(tensors, inputs); }
  // True where the sums of a run, of so many elements, are few enough for each chunk to have some of its own.
  bool has_partial_sums(std::int64_t of_sums) const {
    return summed_chunks.count > 1 && of_sums * most_partial_sums <= elements / 4;
  }
  // The space of some inputs. Throws invalid_argument where they do not broadcast.
  static shape space_of(std::span<const shape> inputs) {
    shape all{};
    for (const shape& s : inputs) {
      shape wider;
      if (!broadcast(all, s, wider))
        throw error(errc::invalid_argument, "shapes " + to_string(all) + " and " + to_string(s) + " do not broadcast");
      all = wider;
    }
    return all;
  }

 private:
  static constexpr std::int64_t elements_a_chunk = 1 << 15;  // some microseconds: less is not worth handing over
  static constexpr std::int64_t most_partial_sums = 16;      // they take a quarter of the memory of the space at most

  chunks in_chunks_of(std::int64_t grain) const { return {grain, (items + grain - 1) / grain}; }
  std::int64_t elements_of(std::size_t operand) const {
    std::int64_t count = 1;
    for (std::size_t d = 0; d < walk.extents.size(); ++d)
      if (walk.strides[operand][d] != 0) count *= walk.extents[d];
    return count;
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
  // The layout of some inputs; make() makes it.
  template <class Make>
  std::shared_ptr<const map_layout> find(std::span<const any_tensor> inputs, Make make) {
    return find_where([&](const map_layout& layout) { return layout.is_of(inputs); }, make);
  }
  // The layout for which is_wanted(layout) holds; make() makes it.
  template <class IsWanted, class Make>
  std::shared_ptr<const map_layout> find_where(IsWanted is_wanted, Make make) {
    const map_layout* const last = last_.load(std::memory_order_acquire);
    if (last && is_wanted(*last)) return unowned(last);
    return find_or_keep(is_wanted, make);
  }

 private:
  static constexpr std::size_t most = 64;  // shapes that change without end are laid out anew for each run

  static std::shared_ptr<const map_layout> unowned(const map_layout* kept) { return {std::shared_ptr<void>(), kept}; }
  template <class IsWanted, class Make>
  std::shared_ptr<const map_layout> find_or_keep(IsWanted is_wanted, Make make) {
    std::lock_guard hold(mutex_);
    auto at = std::find_if(kept_.begin(), kept_.end(), [&](const auto& layout) { return is_wanted(*layout); });
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

}}}  // namespace pinion::v0::op
