// The kernel of MapReduce: a reduction of elements that a scalar program computes, a tile at a time if there are many.
//
// The passes, and their order of additions, are those of the reductions (cpu.hpp). The first pass computes the elements
// that it is about to fold into a tile, which stays in the nearest cache. An element does not depend on its position in
// a strip, and a column is folded from its first row to its last, so that every bit is that of a reduction of elements
// in memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>

#include <pinion/op/elementwise/launch.hpp>
#include <pinion/op/elementwise/op.hpp>
#include <pinion/op/elementwise/parts.hpp>
#include <pinion/op/reduce/cpu.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

// Requires: `fold` is the name of a reduction of numbers, as infer has checked.
inline fold_functions functions_of(const std::string& fold, dtype type) {
  if (fold == reduce_sum::name) return functions_of<loops::fold_sum>(type);
  if (fold == reduce_mean::name) return functions_of<loops::fold_sum>(type, true);
  if (fold == reduce_max::name) return functions_of<loops::fold_max>(type);
  if (fold == reduce_min::name) return functions_of<loops::fold_min>(type);
  return functions_of<loops::fold_product>(type);
}

// The units of the first pass of a MapReduce: blocks of rows, as its pass has them, cut into strips of columns.
struct tile_units {
  static constexpr std::int64_t room = loops::fold_pass{1, 1, 1}.block();  // elements of a tile
  static constexpr std::int64_t widest = room / 4;

  loops::fold_pass pass;
  std::int64_t strips = std::max<std::int64_t>(1, (pass.inner + widest - 1) / widest);

  std::int64_t rows() const { return std::min(pass.n, pass.block()); }  // of a block at most
  std::int64_t count() const { return pass.outer * pass.blocks() * strips; }
  std::int64_t size() const { return std::max<std::int64_t>(1, rows() * pass.inner / strips); }
  // The first column of a strip. Strips are equally wide, so that none of several has a single column, which would be
  // folded in another order.
  std::int64_t column(std::int64_t strip) const { return pass.inner * strip / strips; }
};

// The work of one thread in that pass: it computes units into a tile, and folds them there.
class fold_tile {
 public:
  fold_tile(const map_launch& launch, const fold_functions& f, std::size_t element, const tile_units& units, void* to)
      : launch_(launch),
        f_(f),
        size_(static_cast<std::int64_t>(element)),
        units_(units),
        pass_(units.pass),
        to_(static_cast<std::byte*>(to)) {}

  // Folds the units [first, last).
  void run(std::int64_t first, std::int64_t last) {
    const bool several = units_.strips == 1 && units_.rows() * pass_.inner <= tile_units::room;
    while (first < last)
      if (several)
        first += fold_some(first, last);
      else
        fold_one(first++);
  }

 private:
  // Computes elements of the space behind the first `at` of the tile.
  void compute(std::int64_t first, std::int64_t count, std::int64_t at = 0) {
    launch_.run_elements(first, first + count, tile_ + at * size_);
  }
  // Folds a tensor that lies in the tile into results from `element` on.
  void fold(std::int64_t element, const loops::fold_pass& part) {
    f_.fold(tile_, to_ + element * size_, part, 0, part.units());
  }

  // Folds as many small units, which follow each other in memory, as the tile has room for. Returns how many.
  std::int64_t fold_some(std::int64_t first, std::int64_t last) {
    const std::int64_t inner = pass_.inner, blocks = pass_.blocks();
    const std::int64_t most = tile_units::room / std::max<std::int64_t>(1, units_.rows() * inner);
    const std::int64_t block = first % blocks, row = first / blocks * pass_.n + block * pass_.block();
    const std::int64_t units = std::min({last - first, most, blocks == 1 ? most : blocks - block});
    const std::int64_t rows =
        blocks == 1 ? units * pass_.n : std::min(units * pass_.block(), pass_.n - block * pass_.block());
    compute(row * inner, rows * inner);
    fold(first * inner, blocks == 1 ? loops::fold_pass{units, pass_.n, inner} : loops::fold_pass{1, rows, inner});
    return units;
  }
  // Folds a unit of more than a tile, some rows at a time.
  void fold_one(std::int64_t unit) {
    const std::int64_t target = unit / units_.strips, strip = unit % units_.strips;
    const std::int64_t block = target % pass_.blocks() * pass_.block();
    const std::int64_t row = target / pass_.blocks() * pass_.n + block, rows = std::min(pass_.block(), pass_.n - block);
    const std::int64_t column = units_.column(strip), columns = units_.column(strip + 1) - column;
    const std::int64_t most = tile_units::room / columns;
    for (std::int64_t done = 0, some = 0; done == 0 || done < rows; done += std::max<std::int64_t>(1, some)) {
      some = std::min(most, rows - done);
      compute_rows(row + done, some, column, columns);
      fold(target * pass_.inner + column, {1, some, columns, done > 0});
    }
  }
  void compute_rows(std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns) {
    if (columns == pass_.inner) return compute(row * columns, rows * columns);
    for (std::int64_t r = 0; r < rows; ++r) compute((row + r) * pass_.inner + column, columns, r * columns);
  }

  map_launch launch_;
  const fold_functions& f_;
  std::int64_t size_;  // of an element, in bytes
  const tile_units& units_;
  const loops::fold_pass& pass_;
  std::byte* to_;
  alignas(64) std::byte tile_[tile_units::room * 8];
};

}  // namespace detail

class map_reduction_kernel final : public kernel {
 public:
  explicit map_reduction_kernel(const kernel_setup& setup)
      : attrs_(setup.attrs()),
        program_(program_of(attrs_)),
        parts_(map_parts::of(attrs_, setup.node.inputs.size())),
        functions_(detail::functions_of(attrs_.get<std::string>("fold"), program_.program().arithmetic)) {}

  void run(kernel_context& c) override {
    map_launch launch(program_, layouts_.find(c.inputs, [&] { return layout_of(shapes_of(c.inputs)); }));
    const shape space = launch.layout().space;
    const detail::reduction_plan plan(attrs_, space);
    for (const auto& in : c.inputs) launch.operand(in);
    if (plan.chain.empty()) {  // the elements are the result
      compute(c, std::move(launch), c.allocate(0, type(), plan.extent));
      return;
    }
    if (fits_second_cache(space))
      run_in_memory(c, plan, std::move(launch), space);
    else
      run_in_tiles(c, plan, std::move(launch), space);
  }

 private:
  // Tells whether there is more than one tile of elements, and all of them stay in the second cache, where one pass
  // over them costs less than many tiles do.
  bool fits_second_cache(const shape& space) const {
    constexpr std::int64_t most_bytes = 512 << 10;
    const std::int64_t n = space.count();
    return n > detail::tile_units::room && n * static_cast<std::int64_t>(size_of(type())) <= most_bytes;
  }
  dtype type() const { return program_.program().arithmetic; }
  map_layout layout_of(std::vector<shape> inputs) const { return parts_.layout(std::move(inputs), program_.program()); }

  static void compute(kernel_context& c, map_launch launch, any_tensor elements) {
    launch.operand(elements);
    c.launch(
        [launch = std::move(launch), elements = std::move(elements), services = c.services] { launch.run(*services); });
  }
  void run_in_memory(kernel_context& c, const detail::reduction_plan& plan, map_launch launch, const shape& space) {
    const any_tensor elements = c.scratch(type(), space);
    compute(c, std::move(launch), elements);
    const auto first_pass = [elements, f = functions_](task_services& services, void* to,
                                                       const loops::fold_pass& pass) {
      detail::fold_all(services, f, elements.raw(), to, pass);
    };
    detail::run_passes(c, plan, type(), space.count(), functions_, first_pass);
  }
  void run_in_tiles(kernel_context& c, const detail::reduction_plan& plan, map_launch launch, const shape& space) {
    launch.unwanted_result();
    const auto first_pass = [launch = std::move(launch), f = functions_, size = size_of(type())](
                                task_services& services, void* to, const loops::fold_pass& pass) {
      const detail::tile_units units{pass};
      in_ranges(services, units.count(), units.size(), [&](std::int64_t first, std::int64_t last) {
        detail::fold_tile(launch, f, size, units, to).run(first, last);
      });
    };
    detail::run_passes(c, plan, type(), space.count(), functions_, first_pass);
  }

  const attributes attrs_;
  const program_runner program_;
  const map_parts parts_;
  const detail::fold_functions functions_;
  layout_cache layouts_;
};

inline std::unique_ptr<kernel> make_kernel(map_reduction, const kernel_setup& setup) {
  return std::make_unique<map_reduction_kernel>(setup);
}

}}}  // namespace pinion::v0::op
