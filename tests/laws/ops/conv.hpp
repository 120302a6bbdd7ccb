// Convolution and pooling, by their definition: sums over windows, index by index.
#pragma once

#include "laws/ops/slice.hpp"

namespace laws {

// Where windows look: the row of an image that row p of window i stands on.
struct windows {
  std::int64_t stride, dilation, before;
  windows(const attributes& attrs, std::size_t axis, std::int64_t image, std::int64_t extent)
      : stride(attrs.get<integers>("strides")[axis]), dilation(attrs.get_or("dilations", integers{1, 1})[axis]) {
    const std::int64_t reach = (extent - 1) * dilation + 1, count = (image + stride - 1) / stride;
    const bool same = attrs.get<std::string>("padding") == "SAME";
    before = same ? std::max<std::int64_t>(0, (count - 1) * stride + reach - image) / 2 : 0;
    outputs = same ? count : image < reach ? 0 : (image - reach) / stride + 1;
    if (!attrs.get_or("ceil_mode", false)) return;
    outputs = 1;
    while ((outputs - 1) * stride + reach < image && outputs * stride < image) ++outputs;
  }
  std::int64_t outputs;
  std::int64_t at(std::int64_t i, std::int64_t p) const { return i * stride + p * dilation - before; }
};

// Calls f(image element, filter element, output element) for every product of a convolution.
template <class F>
shape for_each_product(const attributes& attrs, const shape& x, const shape& filter, F&& f) {
  const windows h(attrs, 0, x[1], filter[0]), w(attrs, 1, x[2], filter[1]);
  const shape y{x[0], h.outputs, w.outputs, filter[3]};
  for_each_index(y, [&](const auto& o, std::size_t to) {
    const std::int64_t groups = x[3] / filter[2], first = o[3] / (filter[3] / groups) * filter[2];
    for_each_index({filter[0], filter[1], filter[2]}, [&](const auto& k, std::size_t) {
      const auto image = element_at(x, {o[0], h.at(o[1], k[0]), w.at(o[2], k[1]), first + k[2]});
      if (image) f(*image, *element_at(filter, {k[0], k[1], k[2], o[3]}), to);
    });
  });
  return y;
}
// Calls f(output element, image element) for every place of every window of a pooling, row by row.
template <class F>
shape for_each_pooled(const attributes& attrs, const shape& x, F&& f) {
  const auto& extent = attrs.get<integers>("window");
  const windows h(attrs, 0, x[1], extent[0]), w(attrs, 1, x[2], extent[1]);
  const shape y{x[0], h.outputs, w.outputs, x[3]};
  for_each_index(y, [&](const auto& o, std::size_t to) {
    for_each_index({extent[0], extent[1]}, [&](const auto& k, std::size_t) {
      const auto image = element_at(x, {o[0], h.at(o[1], k[0]), w.at(o[2], k[1]), o[3]});
      if (image) f(to, *image);
    });
  });
  return y;
}

inline attributes with_window(std::int64_t stride, bool same, std::int64_t dilation = 1, std::int64_t window = 0) {
  attributes a{{"strides", integers{stride, stride}}, {"padding", std::string(same ? "SAME" : "VALID")}};
  if (dilation > 1) a.set("dilations", integers{dilation, dilation});
  if (window > 0) a.set("window", integers{window, window});
  return a;
}
inline attributes with_ceil(attributes a) {
  a.set("ceil_mode", true);
  return a;
}
inline attributes with_sizes(attributes a, integers sizes) {
  a.set("sizes", std::move(sizes));
  return a;
}

// The images of a transposed convolution, by the rule for sizes that are not given.
inline shape transposed_images(const attributes& attrs, const shape& dy, const shape& filter) {
  const bool same = attrs.get<std::string>("padding") == "SAME";
  const auto along = [&](int axis) {
    const std::size_t i = static_cast<std::size_t>(axis - 1);
    const std::int64_t stride = attrs.get<integers>("strides")[i],
                       reach = (filter[axis - 1] - 1) * attrs.get_or("dilations", integers{1, 1})[i] + 1;
    if (attrs.has("sizes")) return attrs.get<integers>("sizes")[i];
    return dy[axis] * stride + (same || reach < stride ? 0 : reach - stride);
  };
  return {dy[0], along(1), along(2), filter[2]};
}

// Sums of products, each with the roundings that it may have.
inline void add_product(ranged& to, double product, dtype type, double terms) {
  to.value += product;
  to.slack += terms * spacing(type, std::abs(product)) + (type == dtype::float32 ? 1e-6 * std::abs(product) : 0);
}

// The place of the first greatest element of each window.
inline std::vector<std::size_t> greatest_places(const call& c, const std::vector<double>& x) {
  std::vector<std::size_t> at;
  std::vector<bool> seen;
  const shape y = for_each_pooled(c.attrs, c.inputs[0].shape(), [&](std::size_t, std::size_t) {});
  at.assign(static_cast<std::size_t>(y.count()), 0);
  seen.assign(at.size(), false);
  for_each_pooled(c.attrs, c.inputs[0].shape(), [&](std::size_t to, std::size_t from) {
    if (!seen[to] || x[from] > x[at[to]]) at[to] = from;
    seen[to] = true;
  });
  return at;
}

inline std::vector<row> conv_rows() {
  const auto filters_of = [](const call& c) { return c.inputs[c.op == "Conv2DBackpropFilter" ? 2 : 1].shape(); };
  const auto products = [=](const call& c, const tensors& x) -> std::optional<expectation> {
    const dtype type = c.inputs[0].dtype();
    const shape filter = filters_of(c);
    const double terms = static_cast<double>(filter.count()) + 4;
    std::vector<ranged> y;
    if (c.op == "Conv2D") {
      const shape s = for_each_product(c.attrs, c.inputs[0].shape(), filter, [](auto...) {});
      y.resize(static_cast<std::size_t>(s.count()));
      for_each_product(c.attrs, c.inputs[0].shape(), filter,
                       [&](auto i, auto k, auto o) { add_product(y[o], x[0][i] * x[1][k], type, terms); });
    } else if (c.op == "Conv2DBackpropInput") {
      const shape images =
          x.size() == 3 ? c.inputs[2].shape() : transposed_images(c.attrs, c.inputs[0].shape(), filter);
      y.resize(static_cast<std::size_t>(images.count()));
      for_each_product(c.attrs, images, filter,
                       [&](auto i, auto k, auto o) { add_product(y[i], x[0][o] * x[1][k], type, terms); });
    } else {
      y.resize(x[2].size());
      for_each_product(c.attrs, c.inputs[0].shape(), filter, [&](auto i, auto k, auto o) {
        add_product(y[k], x[0][i] * x[1][o], type, static_cast<double>(x[1].size()));
      });
    }
    return expectation{{y}};
  };
  // The images, filters and windows of a few convolutions.
  struct geometry {
    std::string note;
    shape images, filters, windows;
    attributes attrs;
  };
  const auto geometries = [](std::int64_t m, std::int64_t n) -> std::vector<geometry> {
    return {{"valid", {2, m, n, 2}, {2, 3, 2, 3}, {2, m - 1, n - 2, 3}, with_window(1, false)},
            {"same, strided", {1, m, n, 2}, {3, 3, 2, 2}, {1, (m + 1) / 2, (n + 1) / 2, 2}, with_window(2, true)},
            {"of one element, strided",
             {1, m, n, 3},
             {1, 1, 3, 16},
             {1, (m + 1) / 2, (n + 1) / 2, 16},
             with_window(2, true)},
            {"two groups", {2, m, n, 4}, {2, 2, 2, 6}, {2, m - 1, n - 1, 6}, with_window(1, false)},
            {"by channel, strided", {1, m, n, 3}, {3, 3, 1, 6}, {1, (m + 1) / 2, (n + 1) / 2, 6}, with_window(2, true)},
            {"groups of one element, strided",
             {1, m, n, 4},
             {1, 1, 2, 4},
             {1, (m + 1) / 2, (n + 1) / 2, 4},
             with_window(2, true)},
            {"no image in groups", {0, 4, 4, 2}, {2, 2, 1, 2}, {0, 3, 3, 2}, with_window(1, false)},
            {"dilated", {1, m + 2, n + 2, 1}, {2, 2, 1, 2}, {1, m, n, 2}, with_window(1, false, 2)},
            {"no image", {0, 4, 4, 2}, {2, 2, 2, 1}, {0, 3, 3, 1}, with_window(1, false)}};
  };
  const auto pooled = [](std::int64_t m, std::int64_t n) -> std::vector<geometry> {
    return {{"valid", {2, m + 1, n, 3}, {}, {2, (m + 1 - 2) / 2 + 1, (n - 2) / 2 + 1, 3}, with_window(2, false, 1, 2)},
            {"same, overlapping", {1, m, n, 2}, {}, {1, (m + 1) / 2, (n + 1) / 2, 2}, with_window(2, true, 1, 3)},
            {"beyond the end", {1, m, n, 2}, {}, {1, m / 2, n / 2, 2}, with_ceil(with_window(2, false, 1, 3))},
            {"with gaps, beyond the end",
             {2, m, n, 2},
             {},
             {2, (m + 2) / 3, (n + 2) / 3, 2},
             with_ceil(with_window(3, false, 1, 2))},
            {"no image", {0, 4, 4, 2}, {}, {0, 2, 2, 2}, with_window(2, false, 1, 2)}};
  };
  const auto nan_anywhere = [](const std::vector<double>& x) {
    return std::any_of(x.begin(), x.end(), [](double v) { return !std::isfinite(v); });
  };
  const auto open = [](expectation e) {  // what it computes of infinities and NaN is left open
    for (auto& o : e.outputs)
      for (ranged& r : o) r.slack = std::numeric_limits<double>::infinity();
    return e;
  };
  return {
      {{"Conv2D"},
       [=](std::string_view, std::int64_t m, std::int64_t n) {
         std::vector<sample> all;
         for (const geometry& g : geometries(m, n)) all.push_back({g.note, {{g.images}, {g.filters}}, plain(g.attrs)});
         return all;
       },
       [=](const call& c, const tensors& x) -> std::optional<expectation> {
         return nan_anywhere(x[0]) || nan_anywhere(x[1]) ? open(*products(c, x)) : *products(c, x);
       },
       {{"Conv2D", {f({1, 4, 4, 2}), f({2, 2, 3, 1})}, with_window(1, false), "2 channels"},
        {"Conv2D", {f({1, 4, 4, 4}), f({2, 2, 2, 3})}, with_window(1, false), "4 channels"},
        {"Conv2D", {f({1, 4, 4, 0}), f({2, 2, 2, 2})}, with_window(1, false), "0 channels"},
        {"Conv2D", {f({4, 4, 2}), f({2, 2, 2, 1})}, with_window(1, false), "4 dimensions"},
        {"Conv2D", {f({1, 4, 4, 2}), d({2, 2, 2, 1})}, with_window(1, false), "pn::cast"},
        {"Conv2D", {f({1, 4, 4, 2}), f({2, 2, 2, 1})}, with_window(0, false), "strides"},
        {"Conv2D", {i({1, 4, 4, 2}), i({2, 2, 2, 1})}, with_window(1, false), "float or double"}}},
      {{"Conv2DBackpropInput"},
       [=](std::string_view, std::int64_t m, std::int64_t n) {
         std::vector<sample> all;
         for (const geometry& g : geometries(m, n))
           all.push_back({g.note, {{g.windows}, {g.filters}, {g.images}}, plain(g.attrs)});
         const auto transposed = [&](std::string note, const shape& dy, const shape& filters, const attributes& attrs) {
           all.push_back({std::move(note), {{dy}, {filters}}, plain(attrs)});
         };
         transposed("transposed", {2, m, n, 3}, {3, 3, 2, 3}, with_window(2, true));
         transposed("transposed, valid", {1, m, n, 2}, {3, 1, 4, 2}, with_window(2, false));
         transposed("transposed, dilated", {1, m, n, 2}, {2, 2, 1, 2}, with_window(1, false, 2));
         transposed("transposed to sizes", {1, m, n, 2}, {3, 3, 3, 2},
                    with_sizes(with_window(2, true), {2 * m - 1, 2 * n}));
         transposed("no image, transposed", {0, 3, 3, 2}, {2, 2, 3, 2}, with_window(2, false));
         return all;
       },
       [=](const call& c, const tensors& x) -> std::optional<expectation> {
         return nan_anywhere(x[0]) || nan_anywhere(x[1]) ? open(*products(c, x)) : *products(c, x);
       },
       {{"Conv2DBackpropInput",
         {f({1, 4, 4, 1}), f({2, 2, 2, 1}), f({1, 4, 4, 2})},
         with_window(1, false),
         "does not fit images"},
        {"Conv2DBackpropInput",
         {f({1, 4, 4, 1}), f({2, 2, 2, 1})},
         with_sizes(with_window(1, false), {9, 5}),
         "does not yield images of shape [1, 9, 5, 2]"},
        {"Conv2DBackpropInput",
         {f({1, 4, 4, 1}), f({2, 2, 2, 1})},
         with_sizes(with_window(1, false), {5}),
         "its height and its width"},
        {"Conv2DBackpropInput",
         {f({1, 4, 4, 1}), f({2, 2, 2, 1}), f({1, 5, 5, 2})},
         with_sizes(with_window(1, false), {5, 5}),
         "tell its sizes"},
        {"Conv2DBackpropInput", {f({1, 4, 4, 3}), f({2, 2, 2, 1})}, with_window(1, false), "does not yield images"}}},
      {{"Conv2DBackpropFilter"},
       [=](std::string_view, std::int64_t m, std::int64_t n) {
         std::vector<sample> all;
         for (const geometry& g : geometries(m, n))
           all.push_back({g.note, {{g.images}, {g.windows}, {g.filters}}, plain(g.attrs)});
         return all;
       },
       [=](const call& c, const tensors& x) -> std::optional<expectation> {
         return nan_anywhere(x[0]) || nan_anywhere(x[1]) ? open(*products(c, x)) : *products(c, x);
       },
       {{"Conv2DBackpropFilter",
         {f({1, 4, 4, 2}), f({1, 4, 4, 1}), f({2, 2, 2, 1})},
         with_window(1, false),
         "does not fit images"}}},
      {{"MaxPool"},
       [=](std::string_view, std::int64_t m, std::int64_t n) {
         std::vector<sample> all;
         for (const geometry& g : pooled(m, n)) all.push_back({g.note, {{g.images}}, plain(g.attrs)});
         return all;
       },
       [=](const call& c, const tensors& x) -> std::optional<expectation> {
         std::vector<ranged> y;
         for (std::size_t at : greatest_places(c, x[0])) y.push_back({x[0][at], 0});
         return nan_anywhere(x[0]) ? open({{y}}) : expectation{{y}};
       },
       {{"MaxPool", {f({4, 4, 1})}, with_window(1, false, 1, 2), "4 dimensions"},
        {"MaxPool", {i({1, 4, 4, 1})}, with_window(1, false, 1, 2), "float or double"},
        {"MaxPool", {f({1, 4, 4, 1})}, with_window(1, true, 7, 2), "no attribute 'dilations'"},
        {"MaxPool", {f({1, 4, 4, 1})}, with_ceil(with_window(1, true, 1, 2)), "ceil_mode is for padding VALID"},
        {"MaxPool", {f({1, 4, 4, 1})}, with_window(1, true, 1, std::int64_t{1} << 40), "from 1 on"}}},
      {{"MaxPoolGrad", "MaxPoolGradGrad"},
       [=](std::string_view op, std::int64_t m, std::int64_t n) {
         std::vector<sample> all;
         for (const geometry& g : pooled(m, n))
           all.push_back({g.note, {{g.images}, {op == "MaxPoolGrad" ? g.windows : g.images}}, plain(g.attrs)});
         return all;
       },
       [=](const call& c, const tensors& x) -> std::optional<expectation> {
         const auto places = greatest_places(c, x[0]);
         std::vector<ranged> y(c.op == "MaxPoolGrad" ? x[0].size() : places.size());
         for (std::size_t o = 0; o < places.size(); ++o) {
           if (c.op == "MaxPoolGradGrad")
             y[o].value = x[1][places[o]];
           else
             add_product(y[places[o]], x[1][o], c.inputs[0].dtype(), 8);
         }
         return nan_anywhere(x[0]) || nan_anywhere(x[1]) ? open({{y}}) : expectation{{y}};
       },
       {{"MaxPoolGrad", {f({1, 4, 4, 1}), f({1, 4, 4, 1})}, with_window(2, false, 1, 2), "does not fit"},
        {"MaxPoolGradGrad", {f({1, 4, 4, 1}), f({1, 2, 2, 1})}, with_window(2, false, 1, 2), "for images of shape"}}},
      {{"AvgPool"},
       [=](std::string_view, std::int64_t m, std::int64_t n) {
         std::vector<sample> all;
         for (const geometry& g : pooled(m, n)) all.push_back({g.note, {{g.images}}, plain(g.attrs)});
         return all;
       },
       [=](const call& c, const tensors& x) -> std::optional<expectation> {
         const shape s = for_each_pooled(c.attrs, c.inputs[0].shape(), [](auto...) {});
         std::vector<ranged> y(static_cast<std::size_t>(s.count()));
         std::vector<double> places(y.size(), 0);
         for_each_pooled(c.attrs, c.inputs[0].shape(), [&](auto to, auto) { ++places[to]; });
         for_each_pooled(c.attrs, c.inputs[0].shape(), [&](auto to, auto from) {
           add_product(y[to], x[0][from] / places[to], c.inputs[0].dtype(), 12);
         });
         return nan_anywhere(x[0]) ? open({{y}}) : expectation{{y}};
       },
       {{"AvgPool", {f({4, 4, 1})}, with_window(1, false, 1, 2), "4 dimensions"}}},
      {{"AvgPoolGrad"},
       [=](std::string_view, std::int64_t m, std::int64_t n) {
         std::vector<sample> all;
         for (const geometry& g : pooled(m, n)) all.push_back({g.note, {{g.images}, {g.windows}}, plain(g.attrs)});
         return all;
       },
       [=](const call& c, const tensors& x) -> std::optional<expectation> {
         std::vector<ranged> y(x[0].size());
         std::vector<double> places(x[1].size(), 0);
         for_each_pooled(c.attrs, c.inputs[0].shape(), [&](auto to, auto) { ++places[to]; });
         for_each_pooled(c.attrs, c.inputs[0].shape(), [&](auto to, auto from) {
           add_product(y[from], x[1][to] / places[to], c.inputs[0].dtype(), 12);
         });
         return nan_anywhere(x[1]) ? open({{y}}) : expectation{{y}};
       },
       {{"AvgPoolGrad", {f({1, 4, 4, 1}), f({1, 4, 4, 1})}, with_window(2, false, 1, 2), "does not fit"}}},
  };
}

}  // namespace laws
