// The kernel of products.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>

#include <pinion/base/head_start.hpp>
#include <pinion/op/matmul/extents.hpp>
#include <pinion/op/matmul/gemm.hpp>
#include <pinion/op/matmul/op.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 { namespace op {

// The end of a product: the bias of its column is added to each element, unless it is null; what is not above 0 becomes
// 0, if `relu`; and what stands where `gate`, a matrix like the product, is not above 0, unless it is null.
template <class T>
struct product_end {
  const T* bias = nullptr;
  bool relu = false;
  const T* gate = nullptr;

  // Ends a part of the product, from a row and a column on.
  void end(const product<T>& part, std::int64_t row, std::int64_t column) const {
    if (!bias && !gate) return;
    for (std::int64_t i = 0; i < part.m; ++i)
      for (std::int64_t j = 0; j < part.n; ++j) {
        T& element = part.c[i * part.ldc + j];
        if (bias) element += bias[column + j];
        const bool shut = gate && !(gate[(row + i) * part.ldc + column + j] > T(0));
        if (shut || (relu && element <= T(0))) element = T(0);
      }
  }
};

namespace detail {

// Cuts a large product into blocks. The cut depends on the shape alone, so that the bits of the result do not depend on
// the number of threads.
template <class T>
void multiply_in_blocks(const product<T>& p, const product_end<T>& end, task_services& services) {
  const product_blocks cut(p.m, p.n, p.k);
  kernel_context::in_chunks(services, cut.down * cut.across, [&](std::int64_t i) {
    const std::int64_t row = i / cut.across * cut.rows, column = i % cut.across * cut.columns;
    const product<T> block =
        p.rows(row, std::min(cut.rows, p.m - row)).columns(column, std::min(cut.columns, p.n - column));
    gemm(block);
    end.end(block, row, column);
  });
}

}  // namespace detail

class matmul_kernel final : public kernel {
 public:
  explicit matmul_kernel(const kernel_setup& setup)
      : ta_(setup.attrs().get_or("transpose_a", false)),
        tb_(setup.attrs().get_or("transpose_b", false)),
        compute_(compute_of(setup.attrs())),
        services_(setup.services) {}
  // The guess of the last run.
  bool expensive() const override { return expensive_.load(std::memory_order_relaxed); }

  void run(kernel_context& c) override {
    const auto &a = c.input(0), &b = c.input(1);
    const auto of = detail::sides_of_product(a.shape(), ta_, b.shape(), tb_);
    auto& out = c.allocate(0, a.dtype(), {of.m, of.n});
    expensive_.store(is_worth_a_thread(of.m, of.n, of.k), std::memory_order_relaxed);
    visit_plain(a.dtype(), [&]<class T>() {
      if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, std::int32_t> ||
                    std::is_same_v<T, std::int64_t>) {
        product<T> p{a.data<T>(), b.data<T>(), out.data<T>(), of.m, of.n, of.k, ta_, tb_};
        p.compute = compute_;
        c.launch([p, s = &services_] { detail::multiply_in_blocks(p, product_end<T>{}, *s); });
      }
    });
  }

 private:
  const bool ta_, tb_;
  const dtype compute_;
  std::atomic<bool> expensive_{true};
  task_services& services_;
};

inline void start_library(matmul, dtype type) {
  if (type == dtype_of<float>) head_start<start_products>::begin();
}

inline std::unique_ptr<kernel> make_kernel(matmul, const kernel_setup& setup) {
  return std::make_unique<matmul_kernel>(setup);
}

}}}  // namespace pinion::v0::op
