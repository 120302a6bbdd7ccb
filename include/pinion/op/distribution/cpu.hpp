// Kernels of random numbers of distributions.
#pragma once

#include <memory>
#include <string>

#include <pinion/base/number_text.hpp>
#include <pinion/op/distribution/draws.hpp>
#include <pinion/op/distribution/op.hpp>
#include <pinion/op/random/draws.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/opkit/ranges.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail { namespace distribution {

constexpr std::int64_t work_of_draw = 64;  // in elements that are only copied

using draw_function = double (*)(double parameter, element_stream& from);

// Throws invalid_argument where a parameter is one that no integers are drawn for.
template <class P>
void expect_rates(const any_tensor& parameters) {
  for (std::int64_t i = 0; i < parameters.count(); ++i)
    if (const double rate = static_cast<double>(parameters.data<P>()[i]); !(rate >= 0))
      throw error(errc::invalid_argument, "integers of the rate " + number_text(rate) + " at place " +
                                              std::to_string(i) + "; it is at least 0");
}

// The kernel of a distribution whose parameters are P, and whose numbers are R. It counts its executions: the n-th run
// of a session draws the n-th tensor.
template <class P, class R>
class distribution_kernel final : public kernel {
 public:
  distribution_kernel(const attributes& attrs, draw_function draw)
      : draws_(attrs), each_(attrs.get<shape>("shape")), draw_(draw) {}

  void run(kernel_context& c) override {
    const any_tensor parameters = c.input(0);
    shape extent = each_;
    for (int axis = 0; axis < parameters.shape().rank(); ++axis) extent.push_back(parameters.shape()[axis]);
    const any_tensor y = c.allocate(0, dtype_of<R>, extent);
    c.launch([from = draws_.next(), parameters, y, draw = draw_, services = c.services] {
      if constexpr (std::numeric_limits<R>::is_integer) expect_rates<P>(parameters);
      const P* const of = parameters.data<P>();
      const std::int64_t count = parameters.count();
      in_ranges(*services, y.count(), work_of_draw, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
          element_stream bits(from, i);
          y.data<R>()[i] = as_element<R>(draw(static_cast<double>(of[i % count]), bits));
        }
      });
    });
  }
  bool expensive() const override { return true; }

 private:
  random_draws draws_;
  shape each_;
  draw_function draw_;
};

template <class R>
std::unique_ptr<kernel> make_distribution(const kernel_setup& setup, draw_function draw) {
  return visit_plain<dtypes::floating>(setup.input(0).dtype, [&]<class P>() -> std::unique_ptr<kernel> {
    return std::make_unique<distribution_kernel<P, R>>(setup.attrs(), draw);
  });
}

}}}}}  // namespace pinion::v0::op::detail::distribution

namespace pinion { inline namespace v0 { namespace op {

inline std::unique_ptr<kernel> make_kernel(random_gamma, const kernel_setup& setup) {
  return visit_plain<dtypes::floating>(setup.input(0).dtype, [&]<class T>() -> std::unique_ptr<kernel> {
    return std::make_unique<detail::distribution::distribution_kernel<T, T>>(setup.attrs(),
                                                                             detail::distribution::gamma_of);
  });
}
inline std::unique_ptr<kernel> make_kernel(random_poisson, const kernel_setup& setup) {
  return visit_plain<random_poisson::types>(setup.attrs().get<dtype>("dtype"), [&]<class R>() {
    return detail::distribution::make_distribution<R>(setup, detail::distribution::poisson_of);
  });
}

}}}  // namespace pinion::v0::op
