// Matrix products on a GPU, beside cuBLASLt called directly with the kernel that its heuristic ranks first. Then
// gradients of layers' weights whose product also adds up the gradient of the bias, beside a sum by a kernel of its
// own.
#include <pinion/device/cuda/fold.hpp>
#include <pinion/op/matmul/cublas.hpp>
#include <pinion/session.hpp>

#include "gpu_node.hpp"

namespace {

namespace pn = pinion;

#if __has_include(<cublasLt.h>)
// One product as the library does it.
class direct_product {
 public:
  direct_product(const pn::cuda::product_extents& of, pn::cuda::device& on,
                 cublasLtEpilogue_t end = CUBLASLT_EPILOGUE_DEFAULT)
      : on_(on),
        of_(of),
        end_(end),
        a_(pn::dtype::float32, {of.m, of.k}, on.memory()),
        b_(pn::dtype::float32, {of.k, of.n}, on.memory()),
        c_(pn::dtype::float32, {of.m, of.n}, on.memory()),
        sums_(pn::dtype::float32, {of.n}, on.memory()),
        stage_(pn::dtype::float32, {pn::cuda::fold_scratch<float>({1, of.k, of.n})}, on.memory()) {
    on.stream()->synchronize();
    plan_ = pn::op::detail::products_library().find({pn::dtype::float32, of, 256, pn::product_precision::full, end});
    if (plan_) workspace_ = {pn::dtype::uint8, {static_cast<std::int64_t>(plan_->workspace()) + 1}, on.memory()};
  }
  bool is_there() const { return plan_ != nullptr; }
  void run() {
    const bool has_sums = pn::op::detail::cublas_end::has_vector(end_);
    plan_->run(on_.stream()->native(), a_.data<float>(), b_.data<float>(), c_.data<float>(),
               {end_, has_sums ? sums_.raw() : nullptr}, workspace_.raw());
  }
  // The sums of the right factor over the depth, by a kernel of pinion.
  void add_up() {
    pn::cuda::fold(on_.stream()->native(), pn::cuda::fold_by::sum, b_.data<float>(), sums_.data<float>(),
                   {1, of_.k, of_.n}, 1, stage_.data<float>());
  }

 private:
  pn::cuda::device& on_;
  const pn::cuda::product_extents of_;
  const cublasLtEpilogue_t end_;
  pn::any_tensor a_, b_, c_, sums_, stage_, workspace_;
  std::shared_ptr<const pn::op::detail::cublas_plan> plan_;
};

void compare(std::int64_t m, std::int64_t n, std::int64_t k, pn::cuda::device& on) {
  pn::graph g;
  const auto use = g.as_default();
  auto a = pn::placeholder<float>({m, k}), b = pn::placeholder<float>({k, n});
  const pn::expr<float> y = pn::matmul(a, b);
  bench::gpu_node ours(g, y.endpoint(g).node, on);
  direct_product direct({m, n, k, false, false}, on);
  const std::string work = fmt::format("[{}, {}] x [{}, {}]", m, k, k, n);
  if (!direct.is_there()) return bench::print_missing(work, "cuBLASLt is not there");
  bench::contest c;
  const int one = c.add("pinion", bench::turns_of(on, [&] { ours.run(); }));
  const int other = c.add("cuBLASLt", bench::turns_of(on, [&] { direct.run(); }));
  c.run();
  c.row(work, one, other, bench::at_least(.97));
  fmt::print("{:.1f} TFLOP/s\n", 2e-12 * static_cast<double>(m * n * k) / c.seconds(one));
}

// The gradient of a layer's weights [inputs, outputs] over some rows, with that of its bias.
void compare_sums(std::int64_t inputs, std::int64_t outputs, std::int64_t rows, pn::cuda::device& on) {
  const pn::cuda::product_extents of{inputs, outputs, rows, true, false};
  direct_product with_sums(of, on, CUBLASLT_EPILOGUE_BGRADA), product(of, on);
  const std::string work = fmt::format("[{0}, {1}]^T x [{0}, {2}] and sums", rows, inputs, outputs);
  if (!with_sums.is_there() || !product.is_there())
    return bench::print_missing(work, "cuBLASLt is not there, or does not add up here");
  bench::contest c;
  const int one = c.add("sums by cuBLASLt", bench::turns_of(on, [&] { with_sums.run(); }));
  const int other = c.add("sums by a kernel behind it", bench::turns_of(on, [&] { product.run(), product.add_up(); }));
  c.run();
  c.row(work, one, other, bench::at_least(1));
}
#else
void compare_sums(std::int64_t, std::int64_t, std::int64_t, pn::cuda::device&) {}
void compare(std::int64_t m, std::int64_t n, std::int64_t k, pn::cuda::device&) {
  bench::print_missing(fmt::format("[{}, {}] x [{}, {}]", m, k, k, n), "there was no header of cuBLASLt");
}
#endif

}  // namespace

int main() {
  const auto on = bench::first_gpu();
  if (!on) return 2;
  for (const std::int64_t rows : {50, 512}) {
    compare(rows, 160, 784, *on);
    compare(rows, 160, 160, *on);
    compare(784, 160, rows, *on);
  }
  for (const std::int64_t side : {1024, 2048, 4096, 8192})
    if (side < 4096 || !bench::quick()) compare(side, side, side, *on);
  for (const std::int64_t rows : {50, 512}) {
    compare_sums(784, 160, rows, *on);
    compare_sums(1024, 1024, rows, *on);
    compare_sums(4096, 4096, rows, *on);
  }
}
