// Kernels of the random ops, which turn blocks of Philox into elements.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <type_traits>

#include <pinion/op/random/bits.hpp>
#include <pinion/op/random/draws.hpp>
#include <pinion/op/random/op.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/opkit/ranges.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

template <class T>
using random_block = std::array<T, per_block<T>>;

template <class T>
struct uniform_elements {
  double low, high;

  random_block<T> operator()(const random_stream& from, std::int64_t block) const {
    const auto bits = from.bits(block, 0);
    random_block<T> y;
    for (int i = 0; i < per_block<T>; ++i) y[static_cast<std::size_t>(i)] = one(word<T>(bits, i));
    return y;
  }
  T one(std::uint64_t random_word) const {
    const T first = static_cast<T>(low), end = static_cast<T>(high);
    if constexpr (std::is_floating_point_v<T>) {
      const T y = first + unit_interval<T>(random_word) * (end - first);
      return y < end ? y : std::max(first, std::nextafter(end, first));  // the sum may have been rounded up to `end`
    } else {
      const auto count = static_cast<std::uint64_t>(std::ceil(high) - std::ceil(low));
      return static_cast<T>(static_cast<std::int64_t>(std::ceil(low)) + static_cast<std::int64_t>(random_word % count));
    }
  }
};

// Two standard normal numbers from two uniform ones in [0, 1] (Box and Muller 1958), in double.
inline std::array<double, 2> box_muller(double u, double v) {
  const double radius = std::sqrt(-2 * std::log(std::max(u, 0x1p-65))), angle = 6.283185307179586 * v;
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

// A block of standard normal numbers.
template <class T>
std::array<double, per_block<T>> normal_block(const random_stream& from, std::int64_t block, std::uint32_t draw) {
  const auto bits = from.bits(block, draw);
  std::array<double, per_block<T>> y;
  for (int i = 0; i < per_block<T>; i += 2) {
    const auto unit = [&](int k) { return unit_of_all_bits<T>(word<T>(bits, k)); };
    const auto pair = box_muller(unit(i), unit(i + 1));
    y[static_cast<std::size_t>(i)] = pair[0];
    y[static_cast<std::size_t>(i + 1)] = pair[1];
  }
  return y;
}

template <class T>
struct normal_elements {
  double mean, stddev;

  random_block<T> operator()(const random_stream& from, std::int64_t block) const {
    const auto z = normal_block<T>(from, block, 0);
    random_block<T> y;
    for (std::size_t i = 0; i < z.size(); ++i) y[i] = static_cast<T>(mean + stddev * z[i]);
    return y;
  }
};

template <class T>
struct truncated_elements {
  double mean, stddev;

  // Draws lanes that are out of bounds again, with the next draw. One in 22 is; after 255 draws, which never happens,
  // the rest are set to the mean.
  random_block<T> operator()(const random_stream& from, std::int64_t block) const {
    auto z = normal_block<T>(from, block, 0);
    const auto inside = [](double x) { return std::abs(x) < 2; };
    for (std::uint32_t draw = 1; draw < 256 && !std::all_of(z.begin(), z.end(), inside); ++draw) {
      const auto next = normal_block<T>(from, block, draw);
      for (std::size_t i = 0; i < z.size(); ++i)
        if (!inside(z[i])) z[i] = next[i];
    }
    random_block<T> y;
    for (std::size_t i = 0; i < z.size(); ++i) y[i] = static_cast<T>(mean + stddev * (inside(z[i]) ? z[i] : 0));
    return y;
  }
};

// A range of elements of a sequence.
struct random_range {
  std::int64_t begin, end;
};

// Writes the elements of `wanted` that lie in the blocks from `first` up to `last`; the outermost blocks may be cut.
template <class T, class Elements>
void fill_blocks(const Elements& elements, const random_stream& from, T* y, random_range wanted, std::int64_t first,
                 std::int64_t last) {
  for (std::int64_t b = first; b < last; ++b) {
    const auto block = elements(from, b);
    const std::int64_t at = b * per_block<T>, begin = std::max(at, wanted.begin);
    std::copy(block.begin() + (begin - at), block.begin() + std::min<std::int64_t>(per_block<T>, wanted.end - at),
              y + (begin - wanted.begin));
  }
}

constexpr std::int64_t cost_of_block = 32;  // in elements that are only copied

// The kernel of a random op. It counts its executions: the n-th run of a session draws the n-th tensor.
template <class T, class Elements>
class random_kernel final : public kernel {
 public:
  random_kernel(const attributes& attrs, Elements elements) : elements_(elements), draws_(attrs) {}

  void run(kernel_context& c) override {
    const shape extent = draws_.extent(c);
    T* const y = c.allocate(0, dtype_of<T>, extent).template data<T>();
    const random_stream from = draws_.next();
    const random_range wanted{draws_.first(), draws_.first() + extent.count()};
    c.launch([from, y, wanted, elements = elements_, services = c.services] {
      if (wanted.begin == wanted.end) return;
      const std::int64_t before = wanted.begin / per_block<T>, end = (wanted.end + per_block<T> - 1) / per_block<T>;
      in_ranges(*services, end - before, cost_of_block, [&](std::int64_t first, std::int64_t last) {
        fill_blocks<T>(elements, from, y, wanted, before + first, before + last);
      });
    });
  }
  bool expensive() const override { return draws_.many(); }

 private:
  Elements elements_;
  random_draws draws_;
};

template <template <class> class Elements, class T>
std::unique_ptr<kernel> make_random(const attributes& attrs, std::string_view first, std::string_view second) {
  const Elements<T> elements{attrs.get_or(first, 0.0), attrs.get_or(second, 1.0)};
  return std::make_unique<random_kernel<T, Elements<T>>>(attrs, elements);
}

template <template <class> class Elements>
std::unique_ptr<kernel> make_normal(const attributes& attrs) {
  return visit_plain<dtypes::floating>(attrs.get<dtype>("dtype"),
                                       [&]<class T>() { return make_random<Elements, T>(attrs, "mean", "stddev"); });
}

}  // namespace detail

inline std::unique_ptr<kernel> make_kernel(random_uniform, const kernel_setup& setup) {
  const attributes& attrs = setup.attrs();
  return visit_plain<dtypes::floating | dtypes::signed_integers>(attrs.get<dtype>("dtype"), [&]<class T>() {
    return detail::make_random<detail::uniform_elements, T>(attrs, "minval", "maxval");
  });
}

inline std::unique_ptr<kernel> make_kernel(random_normal, const kernel_setup& setup) {
  return detail::make_normal<detail::normal_elements>(setup.attrs());
}

inline std::unique_ptr<kernel> make_kernel(truncated_normal, const kernel_setup& setup) {
  return detail::make_normal<detail::truncated_elements>(setup.attrs());
}

}}}  // namespace pinion::v0::op
