// Kernels that tell where elements are. Those whose number of results depends on elements run in one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <pinion/op/order/op.hpp>
#include <pinion/op/order/sorted.hpp>
#include <pinion/op/search/op.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/opkit/ranges.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail { namespace search {

// Writes the place of an element of a tensor: its number along each axis.
inline void write_place(std::int64_t element, const shape& of, std::int64_t* place) {
  for (int axis = of.rank() - 1; axis >= 0; element /= of[axis--]) place[axis] = element % of[axis];
}

// Calls body(e, i) for each true element e, where i counts them.
template <class Body>
void for_true(const any_tensor& mask, const Body& body) {
  for (std::int64_t e = 0, i = 0; e < mask.count(); ++e)
    if (mask.data<bool>()[e]) body(e, i++);
}

inline std::int64_t count_true(const any_tensor& mask) {
  return std::count(mask.data<bool>(), mask.data<bool>() + mask.count(), true);
}

inline void run_where(kernel_context& c) {
  const any_tensor mask = c.input(0);
  const int rank = mask.shape().rank();
  auto* const places = c.allocate(0, dtype::int64, {count_true(mask), rank}).data<std::int64_t>();
  for_true(mask, [&](std::int64_t e, std::int64_t i) { write_place(e, mask.shape(), places + i * rank); });
}

inline void run_mask_indices(kernel_context& c, const attributes& attrs) {
  const any_tensor mask = c.input(0);
  expect_mask(attrs, mask.shape(), c.input(1).shape());
  auto* const indices = c.allocate(0, dtype::int64, {count_true(mask)}).data<std::int64_t>();
  for_true(mask, [&](std::int64_t e, std::int64_t i) { indices[i] = e; });
}

// T is the type of the elements, or one of their size by whose bits they are compared.
template <class T>
void run_unique(kernel_context& c) {
  const any_tensor x = c.input(0);
  if (x.shape().rank() != 1)
    throw error(errc::invalid_argument, "the elements of Unique have one axis, not shape " + to_string(x.shape()));
  expect_int32_places(x.count());
  auto* const indices = c.allocate(1, dtype::int32, x.shape()).template data<std::int32_t>();
  const T* const from = static_cast<const T*>(x.raw());
  std::unordered_map<T, std::int32_t> found;
  std::vector<std::int64_t> firsts;
  for (std::int64_t i = 0; i < x.count(); ++i) {
    const auto [at, is_new] = found.try_emplace(from[i], static_cast<std::int32_t>(firsts.size()));
    if (is_new) firsts.push_back(i);
    indices[i] = at->second;
  }
  T* to = static_cast<T*>(c.allocate(0, x.dtype(), {std::ssize(firsts)}).raw());
  for (const std::int64_t i : firsts) *to++ = from[i];
}

template <class T, bool Upper>
void run_bound(kernel_context& c) {
  const any_tensor sorted = c.input(0), values = c.input(1);
  expect_lines(sorted.shape(), values.shape());
  const std::int64_t n = sorted.shape()[sorted.shape().rank() - 1], k = values.shape()[values.shape().rank() - 1];
  expect_int32_places(n);
  const any_tensor y = c.allocate(0, dtype::int32, values.shape());
  c.launch([sorted, values, y, n, k, services = c.services] {
    in_ranges(*services, values.count(), 32, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) {
        const T *const line = sorted.data<T>() + i / k * n, value = values.data<T>()[i];
        const T* const at = Upper ? std::upper_bound(line, line + n, value, order::stands_before<T>{})
                                  : std::lower_bound(line, line + n, value, order::stands_before<T>{});
        y.data<std::int32_t>()[i] = static_cast<std::int32_t>(at - line);
      }
    });
  });
}

template <bool Upper>
std::unique_ptr<kernel> make_bound(const kernel_setup& setup) {
  return visit_plain<dtypes::numbers>(setup.input(0).dtype,
                                      []<class T>() { return make_function_kernel(&run_bound<T, Upper>); });
}

}}}}}  // namespace pinion::v0::op::detail::search

namespace pinion { inline namespace v0 { namespace op {

inline std::unique_ptr<kernel> make_kernel(where, const kernel_setup&) {
  return make_function_kernel(&detail::search::run_where);
}

inline std::unique_ptr<kernel> make_kernel(mask_indices, const kernel_setup& setup) {
  return make_function_kernel(
      [&attrs = setup.attrs()](kernel_context& c) { detail::search::run_mask_indices(c, attrs); });
}

inline std::unique_ptr<kernel> make_kernel(unique, const kernel_setup& setup) {
  const auto by = []<class T>() { return make_function_kernel(&detail::search::run_unique<T>); };
  const dtype type = setup.input(0).dtype;
  return dtypes::plain.has(type) ? visit_plain(type, by) : visit_element(type, by);
}

inline std::unique_ptr<kernel> make_kernel(lower_bound, const kernel_setup& setup) {
  return detail::search::make_bound<false>(setup);
}

inline std::unique_ptr<kernel> make_kernel(upper_bound, const kernel_setup& setup) {
  return detail::search::make_bound<true>(setup);
}

}}}  // namespace pinion::v0::op
