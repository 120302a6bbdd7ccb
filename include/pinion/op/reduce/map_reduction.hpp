// The kernel of MapReduce: a reduction of elements that a scalar program computes, a tile at a time.
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
#include <pinion/op/elementwise/parts.hpp>
#include <pinion/op/reduce/cpu.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

inline fold_functions functions_of(const std::string& fold, dtype type) {
  if (fold == reduce_sum::name) return functions_of<loops::fold_sum>(type);
  if (fold == reduce_mean::name) return functions_of<loops::fold_sum>(type, true);
  if (fold == reduce_max::name) return functions_of<loops::fold_max>(type);
  if (fold == reduce_min::name) return functions_of<loops::fold_min>(type);
  if (fold == reduce_prod::name) return functions_of<loops::fold_product>(type);
  throw error(errc::invalid_argument, "MapReduce folds by Sum, Mean, Max, Min or Prod, not by '" + fold + "'");
}

// The work of one thread in the first pass of a MapReduce: units are computed into a tile, and folded there.
class fold_tile {
 public:
  using fold_function = decltype(fold_functions::fold);

  fold_tile(const map_launch& launch, fold_function fold, std::size_t element, const loops::fold_pass& pass, void* to)
      : launch_(launch),
        fold_(fold),
        size_(static_cast<std::int64_t>(element)),
        pass_(pass),
        to_(static_cast<std::byte*>(to)) {}

  // Folds the units [first, last).
  void run(std::int64_t first, std::int64_t last) {
    const bool together = pass_.blocks() == 1 && pass_.strips() == 1 && pass_.n * pass_.inner <= room;
    while (first < last) first += together ? fold_some(first, last) : fold_one(first);
  }

 private:
  static constexpr std::int64_t room = loops::fold_pass{1, 1, 1}.block();  // elements
  static constexpr std::int64_t most_rows = loops::fold_pass{1, 1, 2}.block();

  std::byte* result(std::int64_t element) const { return to_ + element * size_; }
  // Computes elements of the space behind the first `at` of the tile.
  void compute(std::int64_t first, std::int64_t count, std::int64_t at = 0) {
    launch_.run_elements(first, first + count, elements_ + at * size_);
  }
  // Folds a tensor that lies in the tile.
  void fold(std::byte* y, const loops::fold_pass& part) { fold_(elements_, y, part, 0, part.units()); }

  // Folds as many small units, which follow each other in memory, as the tile has room for. Returns how many.
  std::int64_t fold_some(std::int64_t first, std::int64_t last) {
    const std::int64_t each = pass_.n * pass_.inner;
    const std::int64_t units = std::min(last - first, room / std::max<std::int64_t>(1, each));
    compute(first * each, units * each);
    fold(result(first * pass_.inner), {units, pass_.n, pass_.inner});
    return units;
  }
  std::int64_t fold_one(std::int64_t unit) {
    const std::int64_t target = unit / pass_.strips(), column = unit % pass_.strips() * loops::fold_pass::strip;
    const std::int64_t block = target % pass_.blocks() * pass_.block();
    const std::int64_t row = target / pass_.blocks() * pass_.n + block, rows = std::min(pass_.block(), pass_.n - block);
    if (pass_.inner == 1) {
      compute(row, rows);
      fold(result(target), {1, rows, 1});
    } else {
      const std::int64_t columns = std::min(loops::fold_pass::strip, pass_.inner - column);
      fold_columns(row, rows, column, columns);
      std::memcpy(result(target * pass_.inner + column), sums_, static_cast<std::size_t>(columns * size_));
    }
    return 1;
  }
  // Folds rows of a strip of columns, some rows at a time. The fold of the rows so far is the first row of the next
  // ones.
  void fold_columns(std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns) {
    const std::int64_t width = std::max<std::int64_t>(2, columns);  // one column would be folded as a run is
    const std::int64_t most = std::min(most_rows, room / width) - 1;
    if (width > columns) std::memset(elements_, 0, sizeof elements_);
    for (std::int64_t done = 0, some = 0; done == 0 || done < rows; done += std::max<std::int64_t>(1, some)) {
      some = std::min(most, rows - done);
      const std::int64_t before = done > 0 ? 1 : 0;
      if (before) std::memcpy(elements_, sums_, static_cast<std::size_t>(columns * size_));
      compute_rows(row + done, some, column, columns, before * width, width);
      fold(sums_, {1, before + some, width});
    }
  }
  void compute_rows(std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns, std::int64_t at,
                    std::int64_t width) {
    if (columns == pass_.inner) return compute(row * columns, rows * columns, at);
    for (std::int64_t r = 0; r < rows; ++r) compute((row + r) * pass_.inner + column, columns, at + r * width);
  }

  map_launch launch_;
  fold_function fold_;
  std::int64_t size_;  // of an element, in bytes
  loops::fold_pass pass_;
  std::byte* to_;
  alignas(64) std::byte elements_[room * 8], sums_[loops::fold_pass::strip * 8];
};

}  // namespace detail

class map_reduction_kernel final : public kernel {
 public:
  explicit map_reduction_kernel(const kernel_setup& setup)
      : attrs_(setup.attrs()),
        program_(program_of(attrs_)),
        parts_(map_parts::of(attrs_)),
        functions_(detail::functions_of(attrs_.get<std::string>("fold"), program_.program().arithmetic)) {}

  void run(kernel_context& c) override {
    const dtype type = program_.program().arithmetic;
    map_launch launch(program_, layouts_.find([&](const map_layout& l) { return l.is_of(c.inputs); },
                                              [&] {
                                                std::vector<shape> inputs = shapes_of(c.inputs);
                                                parts_.check(inputs);
                                                const shape space = map_layout::space_of(inputs);
                                                return map_layout(std::move(inputs), space, {space},
                                                                  program_.program());
                                              }));
    const shape& space = launch.layout().space;
    const detail::reduction_plan plan(attrs_, space);
    for (const auto& in : c.inputs) launch.operand(in);
    if (plan.chain.empty()) {  // the elements are the result
      launch.operand(c.allocate(0, type, plan.extent));
      c.launch([launch = std::move(launch), services = c.services] { launch.run(*services); });
      return;
    }
    launch.unwanted_result();
    detail::run_passes(c, plan, type, space.count(), functions_,
                       [launch, fold = functions_.fold, type](void* to, const loops::fold_pass& pass,
                                                              std::int64_t first, std::int64_t last) {
                         detail::fold_tile(launch, fold, size_of(type), pass, to).run(first, last);
                       });
  }

 private:
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
