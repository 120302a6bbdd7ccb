// Kernels of reshape, which shares memory, and of transpose, which copies in tiles.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <pinion/op/layout/op.hpp>
#include <pinion/opkit/binding.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/opkit/ranges.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

// Gives the elements of the first input another shape: extent_of(its shape, the shape of a second input or null).
template <class F>
struct reshaping {
  F extent_of;

  void operator()(kernel_context& c) const {
    const any_tensor& x = c.input(0);
    c.outputs[0] = x.reshaped(extent_of(x.shape(), c.inputs.size() > 1 ? &c.input(1).shape() : nullptr));
  }
  bool bind(binding& b) const {
    const cell& x = b.input(0);
    b.alias(0, x, extent_of(x.shape, b.inputs().size() > 1 ? &b.input(1).shape : nullptr));
    return true;
  }
};
template <class F>
std::unique_ptr<kernel> make_reshaping(F extent_of) {
  return make_function_kernel(reshaping<F>{std::move(extent_of)});
}

}  // namespace detail

inline std::unique_ptr<kernel> make_kernel(reshape, const kernel_setup& setup) {
  return detail::make_reshaping([target = setup.attrs().get<shape>("shape")](const shape& x, const shape*) {
    return detail::reshaped(target, x);
  });
}

inline std::unique_ptr<kernel> make_kernel(reshape_like, const kernel_setup&) {
  return detail::make_reshaping([](const shape& x, const shape* like) { return detail::reshaped(*like, x); });
}

inline std::unique_ptr<kernel> make_kernel(merge_axes, const kernel_setup& setup) {
  return detail::make_reshaping(
      [attrs = setup.attrs()](const shape& x, const shape* like) { return merge_axes::merged(attrs, x, like); });
}

inline std::unique_ptr<kernel> make_kernel(expand_dims, const kernel_setup& setup) {
  return detail::make_reshaping(
      [attrs = setup.attrs()](const shape& x, const shape*) { return expand_dims::expanded(attrs, x); });
}

inline std::unique_ptr<kernel> make_kernel(squeeze, const kernel_setup& setup) {
  return detail::make_reshaping([attrs = setup.attrs()](const shape& x, const shape*) {
    const shape y = squeeze::squeezed(attrs, x);
    if (y.count() == x.count()) return y;
    throw error(errc::invalid_argument,
                "a tensor of shape " + to_string(x) + " has another extent than 1 along an axis to be squeezed");
  });
}

namespace detail {

// A transposition as a walk over the result, outermost axis first. Axes that stay neighbours are merged.
struct transposition {
  struct axis {
    std::int64_t extent, from, to;  // strides in x and y, in elements
  };
  std::vector<axis> axes;
  axis along{1, 1, 1};   // the last axis of y
  axis across{1, 0, 0};  // the axis along which x is contiguous, if another

  transposition(const shape& x, const integers& perm) {
    std::vector<std::int64_t> stride(perm.size() + 1, 1);
    for (int i = x.rank() - 1; i >= 0; --i)
      stride[static_cast<std::size_t>(i)] = stride[static_cast<std::size_t>(i) + 1] * x[i];
    for (const std::int64_t p : perm) {
      const axis next{x[static_cast<int>(p)], stride[static_cast<std::size_t>(p) + 1], 0};
      if (next.extent == 1) continue;
      if (!axes.empty() && axes.back().from == next.extent * next.from)
        axes.back() = {axes.back().extent * next.extent, next.from, 0};
      else
        axes.push_back(next);
    }
    std::int64_t to = 1;
    for (auto a = axes.rbegin(); a != axes.rend(); to *= a->extent, ++a) a->to = to;
    if (axes.empty()) return;
    along = axes.back();
    axes.pop_back();
    const auto contiguous = std::find_if(axes.begin(), axes.end(), [](const axis& a) { return a.from == 1; });
    if (contiguous == axes.end()) return;
    across = *contiguous;
    axes.erase(contiguous);
  }
  std::int64_t planes() const {
    std::int64_t n = 1;
    for (const axis& a : axes) n *= a.extent;
    return n;
  }
};

// Transposes one plane in tiles, so that the lines of both sides stay in the cache.
template <class Word>
void transpose_plane(const Word* x, Word* y, const transposition::axis& across, const transposition::axis& along) {
  constexpr std::int64_t tile = 16;
  if (along.from == 1 && across.extent == 1) {
    std::copy_n(x, along.extent, y);
    return;
  }
  for (std::int64_t i0 = 0; i0 < across.extent; i0 += tile)
    for (std::int64_t j0 = 0; j0 < along.extent; j0 += tile) {
      const std::int64_t i1 = std::min(i0 + tile, across.extent), j1 = std::min(j0 + tile, along.extent);
      for (std::int64_t i = i0; i < i1; ++i)
        for (std::int64_t j = j0; j < j1; ++j) y[i * across.to + j] = x[i * across.from + j * along.from];
    }
}

template <class Word>
void run_transpose(kernel_context& c, const attributes& attrs) {
  const any_tensor in = c.input(0);
  const integers perm = transpose::permutation(attrs, in.shape().rank());
  shape extent;
  for (const std::int64_t p : perm) extent.push_back(in.shape()[static_cast<int>(p)]);
  Word* const y = static_cast<Word*>(c.allocate(0, in.dtype(), extent).raw());
  if (in.count() == 0) return;
  c.launch([x = static_cast<const Word*>(in.raw()), y, t = transposition(in.shape(), perm), services = c.services] {
    in_ranges(*services, t.planes(), t.along.extent * t.across.extent, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t plane = first; plane < last; ++plane) {
        std::int64_t from = 0, to = 0, rest = plane;
        for (auto a = t.axes.rbegin(); a != t.axes.rend(); rest /= a->extent, ++a) {
          from += rest % a->extent * a->from;
          to += rest % a->extent * a->to;
        }
        transpose_plane(x + from, y + to, t.across, t.along);
      }
    });
  });
}

}  // namespace detail

inline std::unique_ptr<kernel> make_kernel(transpose, const kernel_setup& setup) {
  const auto with = [&]<class Word>() {
    return make_function_kernel([attrs = setup.attrs()](kernel_context& c) { detail::run_transpose<Word>(c, attrs); });
  };
  switch (size_of(setup.input(0).dtype)) {
    case 1: return with.template operator()<std::uint8_t>();
    case 8: return with.template operator()<std::uint64_t>();
    default: return with.template operator()<std::uint32_t>();
  }
}

}}}  // namespace pinion::v0::op
