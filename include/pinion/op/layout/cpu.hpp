// Kernels of reshape, which shares memory, and of transpose, which copies in strips.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <pinion/op/layout/loops.hpp>
#include <pinion/op/layout/op.hpp>
#include <pinion/opkit/binding.hpp>
#include <pinion/opkit/copy_run.hpp>
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
  axis across{1, 0, 0};  // the axis along which x is contiguous; where that is the last one of y, the axis before it

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
    if (axes.empty()) return;
    const auto contiguous = along.from == 1
                                ? axes.end() - 1
                                : std::find_if(axes.begin(), axes.end(), [](const axis& a) { return a.from == 1; });
    across = *contiguous;
    axes.erase(contiguous);
  }
  std::int64_t planes() const {
    std::int64_t n = 1;
    for (const axis& a : axes) n *= a.extent;
    return n;
  }
  // The offsets of a plane in x and y.
  std::pair<std::int64_t, std::int64_t> plane(std::int64_t i) const {
    std::int64_t from = 0, to = 0;
    for (auto a = axes.rbegin(); a != axes.rend(); i /= a->extent, ++a) {
      from += i % a->extent * a->from;
      to += i % a->extent * a->to;
    }
    return {from, to};
  }
};

// Works on the planes of a transposition, each in strips that threads share.
template <class Word>
class strip_walk {
 public:
  strip_walk(const Word* x, Word* y, transposition t) : t_(std::move(t)), x_(x), y_(y) {
    rows_ = t_.along.from == 1 ? std::max<std::int64_t>(1, (1 << 15) / t_.along.extent)
                               : loops::transposed_strip<Word>::height;
    strips_ = std::max<std::int64_t>(1, extent() / rows_);
  }
  void run(task_services& services) const {
    in_ranges(services, t_.planes() * strips_, t_.along.extent * t_.across.extent / strips_,
              [this](std::int64_t first, std::int64_t last) {
                for (; first < last; ++first) strip(first / strips_, first % strips_);
              });
  }

 private:
  // The axis that is cut: rows of x, which are along y, or lines that are copied as they are.
  std::int64_t extent() const { return (t_.along.from == 1 ? t_.across : t_.along).extent; }

  // The last strip of a plane has what does not fill another one.
  void strip(std::int64_t plane, std::int64_t at) const {
    const auto [from, to] = t_.plane(plane);
    const std::int64_t first = at * rows_, rows = at + 1 < strips_ ? rows_ : extent() - first;
    if (t_.along.from == 1) {
      for (std::int64_t i = first; i < first + rows; ++i)
        copy_run(x_ + from + i * t_.across.from, t_.along.extent, y_ + to + i * t_.across.to);
      return;
    }
    const Word* const x = x_ + from + first * t_.along.from;
    Word* const y = y_ + to + first;
    const auto loop =
        streams(to, rows) ? strips<loops::streamed_strip<Word>>() : strips<loops::transposed_strip<Word>>();
    loop(x, t_.along.from, y, t_.across.to, rows, t_.across.extent);
  }

  template <class Body>
  static auto strips() {
    return scalar::entries<Body, const Word*, std::int64_t, Word*, std::int64_t, std::int64_t,
                           std::int64_t>[scalar::isa::best()];
  }

  // Caches hold fewer bytes than a result that is streamed.
  bool streams(std::int64_t to, std::int64_t rows) const {
    constexpr std::int64_t line = loops::line_of<Word>, many = 1 << 24;
    const auto whole = [](std::int64_t n) { return n % line == 0; };
    return t_.planes() * t_.along.extent * t_.across.extent >= many / static_cast<std::int64_t>(sizeof(Word)) &&
           whole(to) && whole(t_.across.to) && whole(rows) && rows >= 2 * line && t_.across.extent >= 2 * line &&
           reinterpret_cast<std::uintptr_t>(y_) % 64 == 0;
  }

  transposition t_;
  const Word* x_;
  Word* y_;
  std::int64_t rows_, strips_;
};

template <class Word>
void run_transpose(kernel_context& c, const attributes& attrs) {
  const any_tensor in = c.input(0);
  const integers perm = transpose::permutation(attrs, in.shape().rank());
  shape extent;
  for (const std::int64_t p : perm) extent.push_back(in.shape()[static_cast<int>(p)]);
  Word* const y = static_cast<Word*>(c.allocate(0, in.dtype(), extent).raw());
  if (in.count() == 0) return;
  c.launch([walk = strip_walk<Word>(static_cast<const Word*>(in.raw()), y, transposition(in.shape(), perm)),
            services = c.services] { walk.run(*services); });
}

}  // namespace detail

inline std::unique_ptr<kernel> make_kernel(transpose, const kernel_setup& setup) {
  const auto with = [&]<class Word>() {
    return make_function_kernel([attrs = setup.attrs()](kernel_context& c) { detail::run_transpose<Word>(c, attrs); });
  };
  switch (size_of(setup.input(0).dtype)) {
    case 1: return with.template operator()<std::uint8_t>();
    case 2: return with.template operator()<std::uint16_t>();
    case 8: return with.template operator()<std::uint64_t>();
    default: return with.template operator()<std::uint32_t>();
  }
}

}}}  // namespace pinion::v0::op
