// Kernels of attention. Scores are computed in blocks of some queries and keys, which fit into a cache; the scores of
// all queries and keys are never in memory.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include <pinion/op/attention/loops.hpp>
#include <pinion/op/attention/op.hpp>
#include <pinion/op/matmul/gemm.hpp>
#include <pinion/opkit/kernel.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail { namespace attending_to {

constexpr std::int64_t queries_at_once = 64, keys_at_once = 256;

// The extents of attention, from the shapes of queries, keys and values. Throws invalid_argument where they do not fit.
struct extents {
  std::int64_t heads = 1, m, n, d, e;  // all heads of all leading axes
  std::int64_t sharing = 1;            // heads that have the same keys
  dtype compute;                       // to which operands of products are rounded

  extents(const attributes& attrs, const shape& q, const shape& k, const shape& v) : compute(compute_of(attrs)) {
    const int r = q.rank();
    bool fit = r >= 2 && k.rank() == r && v.rank() == r && q[r - 1] == k[r - 1] && k[r - 2] == v[r - 2];
    for (int axis = 0; fit && axis < r - 2; ++axis) {
      const bool shared = axis == r - 3 && q[axis] > 0 && k[axis] > 0 && q[axis] % k[axis] == 0;
      fit = k[axis] == v[axis] && (q[axis] == k[axis] || shared);
      if (shared) sharing = q[axis] / k[axis];
      heads *= q[axis];
    }
    if (!fit)
      throw error(errc::invalid_argument, "queries of shape " + to_string(q) + ", keys of " + to_string(k) +
                                              " and values of " + to_string(v) + " do not go together");
    m = q[r - 2], n = k[r - 2], d = q[r - 1], e = v[r - 1];
    constexpr std::int64_t most_without_elements = 1 << 24;  // keys that cost a peer nothing to name
    if ((d == 0 || e == 0) && n > most_without_elements)
      throw error(errc::invalid_argument, "keys of shape " + to_string(k) + " and values of " + to_string(v) +
                                              " have no elements; there are at most " +
                                              std::to_string(most_without_elements) + " such keys");
  }
  std::int64_t blocks() const { return (m + queries_at_once - 1) / queries_at_once; }
};

// A mask as it lies in memory, or none.
struct mask_view {
  const void* elements = nullptr;
  bool is_bool = false;
  std::vector<std::int64_t> of_head;  // where the mask of each head begins
  std::int64_t to_row = 0, to_column = 0;

  mask_view() = default;
  // Throws invalid_argument where it does not broadcast to scores [..., m, n].
  mask_view(const any_tensor& mask, const shape& scores) : is_bool(mask.dtype() == dtype::boolean) {
    shape whole;
    const shape& of = mask.shape();
    if (!broadcast(scores, of, whole) || !(whole == scores))
      throw error(errc::invalid_argument, "a mask of shape " + to_string(of) + " for scores of shape " +
                                              to_string(scores) + "; it broadcasts to them");
    elements = is_bool ? static_cast<const void*>(mask.data<bool>()) : mask.raw();
    std::vector<std::int64_t> strides(static_cast<std::size_t>(scores.rank()), 0);
    std::int64_t stride = 1;
    for (int axis = of.rank(); axis-- > 0; stride *= of[axis])
      if (of[axis] != 1) strides[static_cast<std::size_t>(scores.rank() - of.rank() + axis)] = stride;
    to_column = strides.back();
    to_row = strides[strides.size() - 2];
    if (scores.count() == 0) return;
    of_head = {0};
    for (int axis = 0; axis < scores.rank() - 2; ++axis) {
      std::vector<std::int64_t> longer;
      for (const std::int64_t at : of_head)
        for (std::int64_t i = 0; i < scores[axis]; ++i)
          longer.push_back(at + i * strides[static_cast<std::size_t>(axis)]);
      of_head = std::move(longer);
    }
  }
};

// How scores become weights: the scale, which keys count, and what is added.
template <class T>
struct scoring {
  T scale;
  bool causal;
  std::int64_t behind;  // keys that the first query may see beyond the first
  mask_view mask;

  scoring(const attributes& attrs, const extents& of, mask_view m)
      : scale(
            static_cast<T>(attrs.get_or("scale", 1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(of.d, 1)))))),
        causal(attrs.get_or("causal", false)),
        behind(of.n - of.m),
        mask(std::move(m)) {}

  // The number of keys from the first on that the query may see.
  std::int64_t seen(std::int64_t query, std::int64_t n) const {
    return causal ? std::clamp<std::int64_t>(query + behind + 1, 0, n) : n;
  }

  // Finishes a block of products: scores of a head's queries from `query` on, and keys from `key` on. Rows are `width`
  // apart, and padded.
  void finish(T* scores, std::int64_t width, std::int64_t head, std::int64_t query, std::int64_t queries,
              std::int64_t key, std::int64_t keys) const {
    for (std::int64_t r = 0; r < queries; ++r, scores += width) {
      const std::int64_t count = std::clamp<std::int64_t>(seen(query + r, key + keys) - key, 0, keys);
      for (std::int64_t i = 0; i < count; ++i) scores[i] *= scale;
      if (mask.elements) apply_mask(scores, head, query + r, key, count);
      std::fill(scores + count, scores + width, -std::numeric_limits<T>::infinity());
    }
  }

 private:
  void apply_mask(T* scores, std::int64_t head, std::int64_t query, std::int64_t key, std::int64_t count) const {
    const std::int64_t at = mask.of_head[static_cast<std::size_t>(head)] + query * mask.to_row + key * mask.to_column;
    if (mask.is_bool) {
      const bool* const counts = static_cast<const bool*>(mask.elements) + at;
      for (std::int64_t i = 0; i < count; ++i)
        if (!counts[i * mask.to_column]) scores[i] = -std::numeric_limits<T>::infinity();
    } else {
      const T* const added = static_cast<const T*>(mask.elements) + at;
      for (std::int64_t i = 0; i < count; ++i) scores[i] += added[i * mask.to_column];
    }
  }
};

inline std::int64_t padded(std::int64_t keys) {
  return (keys + loops::score_padding - 1) / loops::score_padding * loops::score_padding;
}

// c = a b^T, or c += a^T b, or c += a b, of matrices stored by rows with that many elements from one to the next.
// Operands are rounded to `compute`.
template <class T>
void multiply(dtype compute, const T* a, std::int64_t lda, bool ta, const T* b, std::int64_t ldb, bool tb, T* c,
              std::int64_t ldc, std::int64_t m, std::int64_t n, std::int64_t k, bool add) {
  product<T> p{a, b, c, m, n, k, ta, tb};
  p.lda = lda, p.ldb = ldb, p.ldc = ldc, p.add = add, p.compute = compute;
  gemm(p);
}

// Attention of some queries of one head.
template <class T>
void attend(const extents& of, const scoring<T>& how, std::int64_t head, std::int64_t query, std::int64_t queries,
            const T* q, const T* k, const T* v, T* y, T* logarithms) {
  std::vector<T> scores(static_cast<std::size_t>(queries * std::min(keys_at_once, padded(of.n))));
  std::vector<T> greatest(static_cast<std::size_t>(queries), -std::numeric_limits<T>::infinity());
  std::vector<T> sums(static_cast<std::size_t>(queries), T(0));
  std::fill_n(y, queries * of.e, T(0));
  const std::int64_t seen = how.seen(query + queries - 1, of.n);
  for (std::int64_t key = 0; key < seen; key += keys_at_once) {
    const std::int64_t keys = std::min(keys_at_once, seen - key), width = padded(keys);
    multiply(of.compute, q, of.d, false, k + key * of.d, of.d, true, scores.data(), width, queries, keys, of.d, false);
    how.finish(scores.data(), width, head, query, queries, key, keys);
    scalar::dispatch<loops::weights_of_scores<T>>(scores.data(), width, queries, greatest.data(), sums.data(), y, of.e,
                                                  of.e);
    multiply(of.compute, scores.data(), width, false, v + key * of.e, of.e, false, y, of.e, queries, of.e, keys, true);
  }
  for (std::int64_t r = 0; r < queries; ++r) {
    const T sum = sums[static_cast<std::size_t>(r)];
    logarithms[r] =
        sum == T(0) ? -std::numeric_limits<T>::infinity() : greatest[static_cast<std::size_t>(r)] + std::log(sum);
    for (std::int64_t i = 0; i < of.e && sum != T(0); ++i) y[r * of.e + i] /= sum;
  }
}

template <class T>
void run(kernel_context& c, const attributes& attrs, bool has_mask) {
  const any_tensor q = c.input(0), k = c.input(1), v = c.input(2), mask = has_mask ? c.input(3) : any_tensor{};
  const extents of(attrs, q.shape(), k.shape(), v.shape());
  shape result = q.shape(), rows, scores = q.shape();
  result.set(q.shape().rank() - 1, of.e), scores.set(q.shape().rank() - 1, of.n);
  for (int axis = 0; axis < q.shape().rank() - 1; ++axis) rows.push_back(q.shape()[axis]);
  const any_tensor y = c.allocate(0, q.dtype(), result), logarithms = c.allocate(1, q.dtype(), rows);
  c.launch([=, how = scoring<T>(attrs, of, has_mask ? mask_view(mask, scores) : mask_view()), services = c.services] {
    kernel_context::in_chunks(*services, of.heads * of.blocks(), [&](std::int64_t i) {
      const std::int64_t head = i / of.blocks(), query = i % of.blocks() * queries_at_once;
      const std::int64_t at = head * of.m + query, shared = head / of.sharing * of.n;
      attend(of, how, head, query, std::min(queries_at_once, of.m - query), q.data<T>() + at * of.d,
             k.data<T>() + shared * of.d, v.data<T>() + shared * of.e, y.data<T>() + at * of.e,
             logarithms.data<T>() + at);
    });
  });
}

// The tensors that the gradients of attention read and write.
template <class T>
struct gradient_tensors {
  const T *dy, *q, *k, *v, *y, *logarithms;
  const T* of_logarithms;  // their gradient, or null
  T *dq, *dk, *dv;
  T* dscores;  // or null
};

// The gradients of one head, whose keys others share: those of keys and values are added to.
template <class T>
void attend_back(const extents& of, const scoring<T>& how, std::int64_t head, const gradient_tensors<T>& t) {
  const std::int64_t at = head * of.m, shared = head / of.sharing * of.n;
  const T *const k = t.k + shared * of.d, *const v = t.v + shared * of.e;
  const auto size = static_cast<std::size_t>(queries_at_once * std::min(keys_at_once, padded(of.n)));
  std::vector<T> weights(size), slopes(size), products(static_cast<std::size_t>(queries_at_once));
  std::fill_n(t.dq + at * of.d, of.m * of.d, T(0));
  if (t.dscores) std::fill_n(t.dscores + at * of.n, of.m * of.n, T(0));
  for (std::int64_t query = 0; query < of.m; query += queries_at_once) {
    const std::int64_t queries = std::min(queries_at_once, of.m - query), row = at + query;
    const T *const q = t.q + row * of.d, *const dy = t.dy + row * of.e, *const y = t.y + row * of.e;
    for (std::int64_t r = 0; r < queries; ++r) {
      T sum = t.of_logarithms ? -t.of_logarithms[row + r] : T(0);
      for (std::int64_t i = 0; i < of.e; ++i) sum += dy[r * of.e + i] * y[r * of.e + i];
      products[static_cast<std::size_t>(r)] = sum;
    }
    const std::int64_t seen = how.seen(query + queries - 1, of.n);
    for (std::int64_t key = 0; key < seen; key += keys_at_once) {
      const std::int64_t keys = std::min(keys_at_once, seen - key), width = padded(keys);
      T *const dk = t.dk + (shared + key) * of.d, *const dv = t.dv + (shared + key) * of.e;
      multiply(of.compute, q, of.d, false, k + key * of.d, of.d, true, weights.data(), width, queries, keys, of.d,
               false);
      how.finish(weights.data(), width, head, query, queries, key, keys);
      multiply(of.compute, dy, of.e, false, v + key * of.e, of.e, true, slopes.data(), width, queries, keys, of.e,
               false);
      scalar::dispatch<loops::gradients_of_scores<T>>(weights.data(), slopes.data(), width, queries, t.logarithms + row,
                                                      static_cast<const T*>(products.data()));
      multiply(of.compute, weights.data(), width, true, dy, of.e, false, dv, of.e, keys, of.e, queries, true);
      if (t.dscores)
        for (std::int64_t r = 0; r < queries; ++r)
          std::copy_n(slopes.data() + r * width, keys, t.dscores + (row + r) * of.n + key);
      for (T& slope : slopes) slope *= how.scale;
      multiply(of.compute, slopes.data(), width, true, q, of.d, false, dk, of.d, keys, of.d, queries, true);
      multiply(of.compute, slopes.data(), width, false, k + key * of.d, of.d, false, t.dq + row * of.d, of.d, queries,
               of.d, keys, true);
    }
  }
}

// Each thread has the heads that share keys.
template <class T>
void run_gradient(kernel_context& c, const attributes& attrs, int inputs) {
  const bool has_mask = attrs.get_or("masked", false);
  const any_tensor dy = c.input(0), q = c.input(1), k = c.input(2), v = c.input(3), y = c.input(4),
                   logarithms = c.input(5), mask = has_mask ? c.input(6) : any_tensor{},
                   of_logarithms = inputs > (has_mask ? 7 : 6) ? c.input(inputs - 1) : any_tensor{};
  const extents of(attrs, q.shape(), k.shape(), v.shape());
  shape result = q.shape(), scores = q.shape();
  result.set(q.shape().rank() - 1, of.e), scores.set(q.shape().rank() - 1, of.n);
  const auto has_rows = [&](const any_tensor& x) { return x.empty() || x.count() == of.heads * of.m; };
  if (!(dy.shape() == result) || !(y.shape() == result) || !has_rows(logarithms) || !has_rows(of_logarithms))
    throw error(errc::invalid_argument,
                "dy of shape " + to_string(dy.shape()) + " for attention of shape " + to_string(result));
  const any_tensor dq = c.allocate(0, q.dtype(), q.shape()), dk = c.allocate(1, q.dtype(), k.shape()),
                   dv = c.allocate(2, q.dtype(), v.shape());
  const bool has_numbers = has_mask && mask.dtype() != dtype::boolean;
  const any_tensor dscores = has_numbers && c.wants(3) ? c.allocate(3, q.dtype(), scores) : any_tensor{};
  c.launch([=, how = scoring<T>(attrs, of, has_mask ? mask_view(mask, scores) : mask_view()), services = c.services] {
    const auto or_null = [](const any_tensor& x) { return x.empty() ? nullptr : x.data<T>(); };
    const gradient_tensors<T> t{
        dy.data<T>(),           q.data<T>(),  k.data<T>(),  v.data<T>(),  y.data<T>(),     logarithms.data<T>(),
        or_null(of_logarithms), dq.data<T>(), dk.data<T>(), dv.data<T>(), or_null(dscores)};
    std::fill_n(t.dk, dk.count(), T(0));
    std::fill_n(t.dv, dv.count(), T(0));
    kernel_context::in_chunks(*services, of.m == 0 ? 0 : of.heads / of.sharing, [&](std::int64_t i) {
      for (std::int64_t head = i * of.sharing; head < (i + 1) * of.sharing; ++head) attend_back(of, how, head, t);
    });
  });
}

}}}}}  // namespace pinion::v0::op::detail::attending_to

namespace pinion { inline namespace v0 { namespace op {

inline std::unique_ptr<kernel> make_kernel(attention, const kernel_setup& setup) {
  return visit_plain<dtypes::floating>(setup.input(0).dtype, [&]<class T>() {
    return make_function_kernel([attrs = setup.attrs(), mask = setup.node.inputs.size() == 4](
                                    kernel_context& c) { detail::attending_to::run<T>(c, attrs, mask); },
                                true);
  });
}
inline std::unique_ptr<kernel> make_kernel(attention_gradient, const kernel_setup& setup) {
  return visit_plain<dtypes::floating>(setup.input(0).dtype, [&]<class T>() {
    return make_function_kernel([attrs = setup.attrs(), inputs = static_cast<int>(setup.node.inputs.size())](
                                    kernel_context& c) { detail::attending_to::run_gradient<T>(c, attrs, inputs); },
                                true);
  });
}

}}}  // namespace pinion::v0::op
