// Matrix products on a GPU, beside cuBLASLt called directly with the kernel that its heuristic ranks first.
#include <pinion/op/matmul/cublas.hpp>
#include <pinion/session.hpp>

#include "gpu_node.hpp"

namespace {

namespace pn = pinion;

#if __has_include(<cublasLt.h>)
// One product as the library does it.
class direct_product {
 public:
  direct_product(std::int64_t m, std::int64_t n, std::int64_t k, pn::cuda::device& on)
      : on_(on),
        a_(pn::dtype::float32, {m, k}, on.memory()),
        b_(pn::dtype::float32, {k, n}, on.memory()),
        c_(pn::dtype::float32, {m, n}, on.memory()) {
    on.stream()->synchronize();
    plan_ = pn::op::detail::products_library().find(
        {pn::dtype::float32, {m, n, k, false, false}, 256, pn::product_precision::full, CUBLASLT_EPILOGUE_DEFAULT});
    if (plan_) workspace_ = {pn::dtype::uint8, {static_cast<std::int64_t>(plan_->workspace()) + 1}, on.memory()};
  }
  bool is_there() const { return plan_ != nullptr; }
  void run() {
    plan_->run(on_.stream()->native(), a_.data<float>(), b_.data<float>(), c_.data<float>(), {}, workspace_.raw());
  }

 private:
  pn::cuda::device& on_;
  pn::any_tensor a_, b_, c_, workspace_;
  std::shared_ptr<const pn::op::detail::cublas_plan> plan_;
};

void compare(std::int64_t m, std::int64_t n, std::int64_t k, pn::cuda::device& on) {
  pn::graph g;
  const auto use = g.as_default();
  auto a = pn::placeholder<float>({m, k}), b = pn::placeholder<float>({k, n});
  const pn::expr<float> y = pn::matmul(a, b);
  bench::gpu_node ours(g, y.endpoint(g).node, on);
  direct_product direct(m, n, k, on);
  const std::string work = fmt::format("[{}, {}] x [{}, {}]", m, k, k, n);
  if (!direct.is_there()) return bench::print_missing(work, "cuBLASLt is not there");
  bench::contest c;
  const int one = c.add("pinion", bench::turns_of(on, [&] { ours.run(); }));
  const int other = c.add("cuBLASLt", bench::turns_of(on, [&] { direct.run(); }));
  c.run();
  c.row(work, one, other, bench::at_least(.97));
  fmt::print("{:.1f} TFLOP/s\n", 2e-12 * static_cast<double>(m * n * k) / c.seconds(one));
}
#else
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
}
