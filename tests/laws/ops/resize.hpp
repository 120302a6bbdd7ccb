// Images in another size, pixel by pixel.
#pragma once

#include "laws/ops/slice.hpp"

namespace laws {

inline attributes with_size(integers size, bool align_corners = false, bool half_pixel_centers = false) {
  return {{"size", std::move(size)}, {"align_corners", align_corners}, {"half_pixel_centers", half_pixel_centers}};
}

// A place along an axis: the pixels around it, and the share of the second one. The nearest is one pixel alone. A place
// is a float, whatever the images are.
struct around {
  std::int64_t first, second;
  double share;
};
inline around around_place(const attributes& a, bool nearest, std::int64_t in, std::int64_t out, std::int64_t i) {
  const bool corners = a.get_or("align_corners", false), centers = a.get_or("half_pixel_centers", false);
  const float ratio = corners && out > 1 ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                                         : static_cast<float>(in) / static_cast<float>(out);
  const auto pixel = [&](float at) { return std::max<std::int64_t>(0, std::min(std::int64_t(at), in - 1)); };
  const float middle = (static_cast<float>(i) + (centers ? .5f : 0.f)) * ratio;
  if (nearest) return {pixel(corners ? std::round(middle) : std::floor(middle)), 0, 0};
  const float place = centers ? middle - .5f : middle;
  return {pixel(std::floor(place)), pixel(std::ceil(place)), static_cast<double>(place - std::floor(place))};
}

// Calls f(element of the result, the four elements of the images in the order of TensorFlow, share of the lower row,
// share of the right column).
template <class F>
void for_each_resized(const call& c, const shape& images, const F& f) {
  const bool nearest = c.op.starts_with("ResizeNearest");
  const auto& size = c.attrs.get<integers>("size");
  for_each_index({images[0], size[0], size[1], images[3]}, [&](const auto& o, std::size_t to) {
    const around y = around_place(c.attrs, nearest, images[1], size[0], o[1]),
                 x = around_place(c.attrs, nearest, images[2], size[1], o[2]);
    const auto at = [&](std::int64_t i, std::int64_t j) { return *element_at(images, {o[0], i, j, o[3]}); };
    f(to,
      std::vector<std::size_t>{at(y.first, x.first), at(y.first, x.second), at(y.second, x.first),
                               at(y.second, x.second)},
      y.share, x.share);
  });
}

inline std::optional<expectation> resize_reference(const call& c, const tensors& in) {
  const bool nearest = c.op.starts_with("ResizeNearest"), backward = c.op.ends_with("Grad");
  const shape& images = c.inputs[backward ? 1 : 0].shape();
  const dtype type = c.inputs[0].dtype();
  const auto& size = c.attrs.get<integers>("size");
  std::vector<ranged> y(
      static_cast<std::size_t>(backward ? images.count() : images[0] * size[0] * size[1] * images[3]));
  for_each_resized(c, images, [&](std::size_t to, const auto& from, double down, double along) {
    if (nearest) {
      if (backward)
        y[from[0]].value += in[0][to], y[from[0]].slack += 64 * spacing(type, in[0][to]);
      else
        y[to].value = in[0][from[0]];
      return;
    }
    if (backward) {
      const double shares[] = {(1 - down) * (1 - along), (1 - down) * along, down * (1 - along), down * along};
      for (std::size_t k = 0; k < 4; ++k)
        y[from[k]].value += in[0][to] * shares[k], y[from[k]].slack += 64 * spacing(type, in[0][to]);
      return;
    }
    const double above = in[0][from[0]] + (in[0][from[1]] - in[0][from[0]]) * along,
                 below = in[0][from[2]] + (in[0][from[3]] - in[0][from[2]]) * along;
    y[to].value = above + (below - above) * down;
    for (const std::size_t e : from) y[to].slack += 8 * spacing(type, in[0][e]);
  });
  return expectation{{y}};
}

inline std::vector<sample> resize_samples(std::string_view op, std::int64_t m, std::int64_t n) {
  std::vector<sample> all;
  const auto add = [&](std::string note, const shape& images, const attributes& a) {
    const auto& size = a.get<integers>("size");
    const shape resized{images[0], size[0], size[1], images[3]};
    std::vector<input> inputs{{images}};
    if (op.ends_with("Grad")) inputs = {{resized}, {images}};
    all.push_back({std::move(note), std::move(inputs), plain(a)});
  };
  add("larger", {2, m, n, 2}, with_size({2 * m, n + 2}));
  add("smaller", {1, m, n, 3}, with_size({(m + 1) / 2, n - 1}));
  add("larger, by corners", {2, m, n, 2}, with_size({2 * m + 1, n + 1}, true));
  add("smaller, by corners", {1, m, n, 1}, with_size({m - 1, (n + 1) / 2}, true));
  add("larger, by centers", {1, m, n, 3}, with_size({m + 1, 2 * n + 1}, false, true));
  add("smaller, by centers", {2, m, n, 1}, with_size({m - 1, (n + 1) / 2}, false, true));
  add("one pixel, by corners", {2, m, n, 1}, with_size({1, 1}, true));
  add("of one pixel", {1, 1, 1, n}, with_size({2, 3}, false, true));
  add("the same size", {1, m, n, 2}, with_size({m, n}));
  add("no images", {0, 3, 4, 2}, with_size({2, 5}));
  add("no channels", {2, 3, 4, 0}, with_size({2, 5}, false, true));
  return all;
}

inline std::vector<row> resize_rows() {
  return {{{"ResizeNearestNeighbor", "ResizeBilinear"},
           resize_samples,
           resize_reference,
           {{"ResizeNearestNeighbor", {f({3, 4, 2})}, with_size({2, 2}), "4 dimensions"},
            {"ResizeNearestNeighbor", {f({1, 3, 0, 2})}, with_size({2, 2}), "no pixels to resize"},
            {"ResizeBilinear", {f({1, 3, 4, 2})}, with_size({2}), "its height and its width"},
            {"ResizeBilinear", {f({1, 3, 4, 2})}, with_size({0, 2}), "size"},
            {"ResizeBilinear", {f({1, 3, 4, 2})}, with_size({2, 2}, true, true), "do not go together"},
            {"ResizeBilinear", {i({1, 3, 4, 2})}, with_size({2, 2}), "images of float or double"}}},
          {{"ResizeNearestNeighborGrad", "ResizeBilinearGrad"},
           resize_samples,
           resize_reference,
           {{"ResizeNearestNeighborGrad", {f({1, 2, 3, 2}), f({1, 3, 4, 2})}, with_size({2, 2}), "does not fit images"},
            {"ResizeNearestNeighborGrad", {f({1, 2, 2, 2}), f({1, 0, 4, 2})}, with_size({2, 2}), "no pixels"},
            {"ResizeBilinearGrad", {f({1, 2, 2, 2}), d({1, 3, 4, 2})}, with_size({2, 2}), "pn::cast"},
            {"ResizeBilinearGrad", {f({1, 2, 2, 2}), f({1, 3, 4})}, with_size({2, 2}), "4 dimensions"}}}};
}

}  // namespace laws
