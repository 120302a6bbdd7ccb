// Kernels of the random ops for GPUs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <type_traits>

#include <pinion/op/random/cuda_kernels.hpp>
#include <pinion/op/random/draws.hpp>
#include <pinion/op/random/op.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

// The kernel of a random op on GPUs; Draw{first attribute, second attribute}(stream, elements, which) launches it.
template <class T, class Draw>
class cuda_random_kernel final : public kernel {
 public:
  cuda_random_kernel(const attributes& attrs, Draw draw) : draw_(draw), draws_(attrs) {}

  void run(kernel_context& c) override {
    const any_tensor& y = c.allocate(0, dtype_of<T>, draws_.extent(c));
    const auto* const later =
        c.watch ? c.watch->number_of_run(*c.device, [this] { return draws_.next_execution(); }) : nullptr;
    draw_(c.device->stream()->native(), y.template data<T>(),
          cuda::random_elements{later ? draws_.of(0) : draws_.next(), draws_.first(), y.count(), later});
  }

 private:
  Draw draw_;
  random_draws draws_;
};

template <class T>
struct draw_uniform {
  double low, high;

  void operator()(devices::cuda_stream s, T* y, const cuda::random_elements& which) const {
    if constexpr (std::is_floating_point_v<T>) {
      const T first = static_cast<T>(low), end = static_cast<T>(high);
      cuda::draw_uniform(s, y, which, first, end, std::max(first, std::nextafter(end, first)));
    } else {
      const double least = std::ceil(low);
      cuda::draw_integers(s, y, which, static_cast<std::int64_t>(least),
                          static_cast<std::uint64_t>(std::ceil(high) - least));
    }
  }
};

template <class T>
struct draw_normal {
  double mean, stddev;

  void operator()(devices::cuda_stream s, T* y, const cuda::random_elements& which) const {
    cuda::draw_normal(s, y, which, mean, stddev);
  }
};

template <class T>
struct draw_truncated_normal {
  double mean, stddev;

  void operator()(devices::cuda_stream s, T* y, const cuda::random_elements& which) const {
    cuda::draw_truncated_normal(s, y, which, mean, stddev);
  }
};

template <template <class> class Draw, class T>
std::unique_ptr<kernel> make_cuda_random(const attributes& attrs, std::string_view first, std::string_view second) {
  const Draw<T> draw{attrs.get_or(first, 0.0), attrs.get_or(second, 1.0)};
  return std::make_unique<cuda_random_kernel<T, Draw<T>>>(attrs, draw);
}

template <template <class> class Draw>
std::unique_ptr<kernel> make_cuda_normal(const attributes& attrs) {
  return visit_plain<dtypes::floating>(attrs.get<dtype>("dtype"),
                                       [&]<class T>() { return make_cuda_random<Draw, T>(attrs, "mean", "stddev"); });
}

}  // namespace detail

inline std::unique_ptr<kernel> make_cuda_kernel(random_uniform, const kernel_setup& setup) {
  const attributes& attrs = setup.attrs();
  return visit_plain<dtypes::floating | dtypes::signed_integers>(attrs.get<dtype>("dtype"), [&]<class T>() {
    return detail::make_cuda_random<detail::draw_uniform, T>(attrs, "minval", "maxval");
  });
}

inline std::unique_ptr<kernel> make_cuda_kernel(random_normal, const kernel_setup& setup) {
  return detail::make_cuda_normal<detail::draw_normal>(setup.attrs());
}

inline std::unique_ptr<kernel> make_cuda_kernel(truncated_normal, const kernel_setup& setup) {
  return detail::make_cuda_normal<detail::draw_truncated_normal>(setup.attrs());
}

}}}  // namespace pinion::v0::op
