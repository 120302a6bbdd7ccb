// One run of an update by a product: the memory of its operands, and the walk over blocks of rows.
#pragma once

#include <algorithm>
#include <array>

#include <pinion/op/elementwise/runner.hpp>
#include <pinion/op/matmul/gemm.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// A run: a program, and the memory of the operands. A value; it refers to the program, which is its kernel's, to the
// states, and holds the factors.
class product_launch {
 public:
  // The product is one of m x k and k x n, each of which may be transposed.
  struct extents {
    std::int64_t m, n, k;
    bool transpose_a, transpose_b;
    dtype compute;  // to which the factors are rounded
  };
  // Gradients of blocks take memory of the allocator, which must outlive the run.
  product_launch(const program_runner& program, const extents& of, const any_tensor& a, const any_tensor& b,
                 allocator& memory)
      : program_(&program), of_(of), a_(a), b_(b), memory_(&memory) {}

  void state(const any_tensor& old, const any_tensor& room) {
    old_[state_count_] = old.byte_data();
    new_[state_count_++] = room.byte_data();
  }
  void number(const any_tensor& scalar) { numbers_[number_count_++] = scalar.raw(); }

  // Runs it split over the intra-op pool. The cut depends on the shapes alone, so that the bits of the result do not
  // depend on the number of threads.
  void run(task_services& services) const {
    visit_plain(a_.dtype(), [&]<class T>() {
      if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
        const std::int64_t rows = rows_of_block(sizeof(T));
        if (rows > 0)
          kernel_context::in_chunks(services, (of_.m + rows - 1) / rows,
                                    [&](std::int64_t i) { update<T>(i * rows, std::min(rows, of_.m - i * rows)); });
      }
    });
  }

 private:
  // A block and the states beside it fit into a second-level cache. A product of fewer rows would run slower.
  std::int64_t rows_of_block(std::size_t element) const {
    constexpr std::int64_t bytes = 128 << 10, fewest = 64;
    if (of_.m == 0 || of_.n == 0) return 0;
    const std::int64_t in_cache = bytes / (of_.n * static_cast<std::int64_t>(element));
    const std::int64_t of_piece = of_.m / product_pieces(of_.m, of_.n, of_.k);
    return (std::clamp(std::min(in_cache, of_piece), std::min(fewest, of_.m), of_.m) + 15) / 16 * 16;
  }

  template <class T>
  void update(std::int64_t first, std::int64_t rows) const {
    const any_tensor gradient(a_.dtype(), {rows, of_.n}, *memory_);
    product<T> block =
        product<T>{a_.data<T>(), b_.data<T>(), nullptr, of_.m, of_.n, of_.k, of_.transpose_a, of_.transpose_b}.rows(
            first, rows);
    block.c = gradient.data<T>();
    block.compute = of_.compute;
    gemm(block);
    std::array<T, scalar::widest> repeated[scalar::max_inputs];
    scalar::strip s;
    s.n = rows * of_.n;
    std::fill_n(s.advance, state_count_ + 1, ~std::int64_t{0});
    for (std::size_t k = 0; k < state_count_; ++k) {
      const std::int64_t at = first * of_.n * std::int64_t{sizeof(T)};
      s.in[k] = old_[k] + at;
      s.out[k] = new_[k] + at;
      s.how[k] = scalar::sink::store;
    }
    s.in[state_count_] = gradient.raw();
    for (std::size_t k = 0, at = state_count_ + 1; k < number_count_; ++k, ++at) {
      repeated[k].fill(*static_cast<const T*>(numbers_[k]));
      s.advance[at] = 0;
      s.in[at] = repeated[k].data();
    }
    (*program_)(s);
  }

  const program_runner* program_;
  extents of_;
  any_tensor a_, b_;
  allocator* memory_;
  std::array<const std::byte*, scalar::max_results> old_;
  std::array<std::byte*, scalar::max_results> new_;
  std::array<const void*, scalar::max_inputs> numbers_;
  std::size_t state_count_ = 0, number_count_ = 0;
};

}}}}  // namespace pinion::v0::op::detail
