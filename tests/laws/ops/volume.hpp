// Convolution and pooling of volumes, by their definition: sums over windows, index by index.
#pragma once

#include "laws/ops/conv.hpp"

namespace laws {

// The windows of a node along depth, height and width.
struct volume_windows {
  std::vector<windows> axes;
  volume_windows(attributes attrs, const shape& x, const std::vector<std::int64_t>& extents) {
    if (!attrs.has("dilations")) attrs.set("dilations", integers{1, 1, 1});
    for (std::size_t i = 0; i < 3; ++i) axes.emplace_back(attrs, i, x[static_cast<int>(i) + 1], extents[i]);
  }
  shape over(const shape& x, std::int64_t channels) const {
    return {x[0], axes[0].outputs, axes[1].outputs, axes[2].outputs, channels};
  }
  // The element of x in channel c that place k of window o stands on.
  std::optional<std::size_t> element(const shape& x, const std::vector<std::int64_t>& o,
                                     const std::vector<std::int64_t>& k, std::int64_t c) const {
    return element_at(x, {o[0], axes[0].at(o[1], k[0]), axes[1].at(o[2], k[1]), axes[2].at(o[3], k[2]), c});
  }
};

// Calls f(volume element, filter element, output element) for every product of a convolution.
template <class F>
void for_each_volume_product(const attributes& attrs, const shape& x, const shape& filter, F&& f) {
  const volume_windows w(attrs, x, {filter[0], filter[1], filter[2]});
  for_each_index(w.over(x, filter[4]), [&](const auto& o, std::size_t to) {
    for_each_index({filter[0], filter[1], filter[2], filter[3]}, [&](const auto& k, std::size_t) {
      if (const auto at = w.element(x, o, k, k[3])) f(*at, *element_at(filter, {k[0], k[1], k[2], k[3], o[4]}), to);
    });
  });
}
// Calls f(output element, volume element) for every place of every window of a pooling. Returns the result's shape.
template <class F>
shape for_each_volume_pooled(const attributes& attrs, const shape& x, F&& f) {
  const auto& extent = attrs.get<integers>("window");
  const volume_windows w(attrs, x, extent);
  const shape y = w.over(x, x[4]);
  for_each_index(y, [&](const auto& o, std::size_t to) {
    for_each_index({extent[0], extent[1], extent[2]}, [&](const auto& k, std::size_t) {
      if (const auto at = w.element(x, o, k, o[4])) f(to, *at);
    });
  });
  return y;
}

// Results for infinities and NaN, and of numbers whose sums may be such on the way, are left open.
inline expectation unless_wild(std::vector<ranged> y, const tensors& x) {
  if (!are_tame(x))
    for (ranged& r : y) r.slack = std::numeric_limits<double>::infinity();
  return {{std::move(y)}};
}

inline std::optional<expectation> volume_products(const call& c, const tensors& x) {
  const dtype type = c.inputs[0].dtype();
  const bool by_volumes = c.op == "Conv3DBackpropInputV2", by_filters = c.op == "Conv3DBackpropFilterV2";
  const shape &volumes = c.inputs[by_volumes ? 2 : 0].shape(), &filter = c.inputs[by_filters ? 2 : 1].shape();
  const double terms = static_cast<double>(by_filters ? x[1].size() : static_cast<std::size_t>(filter.count())) + 4;
  const volume_windows w(c.attrs, volumes, {filter[0], filter[1], filter[2]});
  std::vector<ranged> y(static_cast<std::size_t>(by_volumes   ? volumes.count()
                                                 : by_filters ? filter.count()
                                                              : w.over(volumes, filter[4]).count()));
  for_each_volume_product(c.attrs, volumes, filter, [&](std::size_t i, std::size_t k, std::size_t o) {
    const std::size_t to = by_volumes ? i : by_filters ? k : o;
    add_product(y[to], x[0][by_volumes ? o : i] * x[1][by_filters ? o : k], type, terms);
  });
  return unless_wild(std::move(y), {x[0], x[1]});
}

inline std::vector<std::size_t> greatest_volume_places(const call& c, const std::vector<double>& x) {
  const shape y = for_each_volume_pooled(c.attrs, c.inputs[0].shape(), [](std::size_t, std::size_t) {});
  std::vector<std::size_t> at(static_cast<std::size_t>(y.count()), x.size());
  for_each_volume_pooled(c.attrs, c.inputs[0].shape(), [&](std::size_t to, std::size_t from) {
    if (at[to] == x.size() || x[from] > x[at[to]]) at[to] = from;
  });
  return at;
}

inline std::optional<expectation> volume_maxima(const call& c, const tensors& x) {
  const auto places = greatest_volume_places(c, x[0]);
  std::vector<ranged> y(c.op == "MaxPool3DGrad" ? x[0].size() : places.size());
  for (std::size_t o = 0; o < places.size(); ++o)
    if (c.op == "MaxPool3DGrad")
      add_product(y[places[o]], x[1][o], c.inputs[0].dtype(), 16);
    else
      y[o].value = x[c.op == "MaxPool3D" ? 0 : 1][places[o]];
  return unless_wild(std::move(y), x);
}

inline std::optional<expectation> volume_means(const call& c, const tensors& x) {
  const shape s = for_each_volume_pooled(c.attrs, c.inputs[0].shape(), [](std::size_t, std::size_t) {});
  const bool back = c.op == "AvgPool3DGrad";
  std::vector<double> places(static_cast<std::size_t>(s.count()));
  std::vector<ranged> y(back ? x[0].size() : places.size());
  for_each_volume_pooled(c.attrs, c.inputs[0].shape(), [&](std::size_t to, std::size_t) { ++places[to]; });
  for_each_volume_pooled(c.attrs, c.inputs[0].shape(), [&](std::size_t to, std::size_t from) {
    add_product(y[back ? from : to], x[back ? 1 : 0][back ? to : from] / places[to], c.inputs[0].dtype(), 40);
  });
  return unless_wild(std::move(y), {x[back ? 1 : 0]});
}

inline attributes with_volume_window(integers strides, bool same, integers dilations, integers window = {}) {
  attributes a{{"strides", std::move(strides)}, {"padding", std::string(same ? "SAME" : "VALID")}};
  if (window.empty()) a.set("dilations", std::move(dilations));
  if (!window.empty()) a.set("window", std::move(window));
  return a;
}

// The volumes, filters and windows of a convolution or a pooling.
struct volume_case {
  std::string note;
  shape volumes, filters, windows;
  attributes attrs;
};

inline std::vector<volume_case> volume_convolutions(std::int64_t m, std::int64_t n) {
  const std::int64_t p = (m + 1) / 2, q = (n + 2) / 3;
  return {
      {"valid",
       {2, 3, m, n, 2},
       {2, 2, 3, 2, 3},
       {2, 2, m - 1, n - 2, 3},
       with_volume_window({1, 1, 1}, false, {1, 1, 1})},
      {"same, strided",
       {1, 4, m, n, 2},
       {3, 2, 3, 2, 2},
       {1, 4, p, q, 2},
       with_volume_window({1, 2, 3}, true, {1, 1, 1})},
      {"of one element, strided",
       {2, 3, m, n, 3},
       {1, 1, 1, 3, 4},
       {2, 2, p, n, 4},
       with_volume_window({2, 2, 1}, true, {1, 1, 1})},
      {"dilated",
       {1, 5, m, n + 1, 1},
       {2, 1, 2, 1, 2},
       {1, 3, m, n, 2},
       with_volume_window({1, 1, 1}, false, {2, 3, 1})},
      {"no volume", {0, 4, 4, 4, 2}, {2, 2, 2, 2, 1}, {0, 3, 3, 3, 1}, with_volume_window({1, 1, 1}, false, {1, 1, 1})},
      {"no channels",
       {1, 2, 2, 2, 0},
       {2, 2, 2, 0, 1},
       {1, 1, 1, 1, 1},
       with_volume_window({1, 1, 1}, false, {1, 1, 1})}};
}
inline std::vector<volume_case> volume_pools(std::int64_t m, std::int64_t n) {
  return {{"valid",
           {2, 5, m + 1, n, 3},
           {},
           {2, 2, (m - 1) / 2 + 1, n, 3},
           with_volume_window({2, 2, 1}, false, {}, {2, 2, 1})},
          {"same, overlapping",
           {1, 3, m, n, 2},
           {},
           {1, 2, (m + 1) / 2, n, 2},
           with_volume_window({2, 2, 1}, true, {}, {3, 3, 2})},
          {"no volume", {0, 4, 4, 4, 2}, {}, {0, 2, 2, 2, 2}, with_volume_window({2, 2, 2}, false, {}, {2, 2, 2})}};
}

inline row volume_convolution_row() {
  const attributes one = with_volume_window({1, 1, 1}, false, {1, 1, 1}),
                   none = with_volume_window({1, 0, 1}, false, {1, 1, 1});
  const any_tensor x = f({1, 4, 4, 4, 2}), k = f({2, 2, 2, 2, 1});
  return {{"Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2"},
          [](std::string_view op, std::int64_t m, std::int64_t n) -> std::vector<sample> {
            std::vector<sample> all;
            for (const volume_case& v : volume_convolutions(m, n)) {
              std::vector<input> inputs{{v.volumes}, {v.filters}};
              if (op == "Conv3DBackpropInputV2") inputs = {{v.windows}, {v.filters}, {v.volumes}};
              if (op == "Conv3DBackpropFilterV2") inputs = {{v.volumes}, {v.windows}, {v.filters}};
              all.push_back({v.note, std::move(inputs), plain(v.attrs)});
            }
            return all;
          },
          volume_products,
          {{"Conv3D", {x, f({2, 2, 2, 3, 1})}, one, "have 2 channels"},
           {"Conv3D", {f({4, 4, 4, 2}), k}, one, "5 dimensions"},
           {"Conv3D", {x, d({2, 2, 2, 2, 1})}, one, "pn::cast"},
           {"Conv3D", {x, f({2, 0, 2, 2, 1})}, one, "filters of shape [2, 0, 2, 2, 1]"},
           {"Conv3D", {x, k}, none, "strides of a window are three numbers"},
           {"Conv3D", {x, k}, {{"strides", integers{1, 1}}}, "strides of a window are three numbers"},
           {"Conv3D", {x, k}, {{"padding", std::string("FULL")}}, "neither SAME nor VALID"},
           {"Conv3D", {i({1, 4, 4, 4, 2}), i({2, 2, 2, 2, 1})}, one, "float or double"},
           {"Conv3DBackpropInputV2", {f({1, 4, 4, 4, 1}), k, x}, one, "does not fit volumes"},
           {"Conv3DBackpropFilterV2", {x, f({1, 4, 4, 4, 1}), k}, one, "does not fit volumes"}}};
}

inline row volume_pool_row() {
  const attributes two = with_volume_window({2, 2, 2}, false, {}, {2, 2, 2});
  const any_tensor x = f({1, 4, 4, 4, 1});
  return {{"MaxPool3D", "MaxPool3DGrad", "MaxPool3DGradGrad", "AvgPool3D", "AvgPool3DGrad"},
          [](std::string_view op, std::int64_t m, std::int64_t n) -> std::vector<sample> {
            std::vector<sample> all;
            for (const volume_case& v : volume_pools(m, n)) {
              std::vector<input> inputs{{v.volumes}};
              if (op.ends_with("3DGrad")) inputs.push_back({v.windows});
              if (op.ends_with("GradGrad")) inputs.push_back({v.volumes});
              all.push_back({v.note, std::move(inputs), plain(v.attrs)});
            }
            return all;
          },
          [](const call& c, const tensors& x) {
            return c.op.starts_with("Max") ? volume_maxima(c, x) : volume_means(c, x);
          },
          {{"MaxPool3D", {f({4, 4, 4, 1})}, two, "5 dimensions"},
           {"MaxPool3D", {i({1, 4, 4, 4, 1})}, two, "float or double"},
           {"MaxPool3D", {x}, {{"window", integers{2, 2}}}, "is three numbers from 1 on"},
           {"MaxPool3D", {x}, {{"window", integers{2, 2, 1 << 21}}}, "is three numbers from 1 on"},
           {"MaxPool3DGrad", {x, x}, two, "does not fit"},
           {"MaxPool3DGradGrad", {x, f({1, 2, 2, 2, 1})}, two, "for volumes of shape"},
           {"AvgPool3D", {f({4, 4, 1})}, two, "5 dimensions"},
           {"AvgPool3DGrad", {x, x}, two, "does not fit"}}};
}

inline std::vector<row> volume_rows() {
  return {volume_convolution_row(), volume_pool_row()};
}

}  // namespace laws
