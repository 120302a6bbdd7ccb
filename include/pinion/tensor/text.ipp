// Bodies of <pinion/tensor/text.hpp>.
#pragma once

#include <pinion/tensor/text.hpp>

namespace pinion { inline namespace v0 { namespace detail {

PINION_DECL std::string element_text(const any_tensor& t, std::int64_t at) {
  if (t.dtype() == dtype::string) return '"' + t.data<std::string>()[at] + '"';
  return visit_plain<dtypes::moved>(t.dtype(), [&]<class T>() {
    using shown = std::conditional_t<std::is_arithmetic_v<T>, T, float>;
    const std::string text = fmt::format("{}", static_cast<shown>(t.data<T>()[at]));
    return text == "-nan" ? "nan" : text;
  });
}

PINION_DECL void write_axis(std::string& out, const any_tensor& t, int axis, std::int64_t& at) {
  if (axis == t.shape().rank()) {
    out += element_text(t, at++);
    return;
  }
  constexpr std::int64_t edge = 3;
  const std::int64_t extent = t.shape()[axis];
  std::int64_t below = 1;
  for (int i = axis + 1; i < t.shape().rank(); ++i) below *= t.shape()[i];
  const bool shorten = extent > 4 * edge;
  out += "[";
  for (std::int64_t i = 0; i < extent; ++i) {
    if (i) out += ", ";
    if (shorten && i == edge) {
      out += "..., ";
      at += (extent - 2 * edge) * below;
      i = extent - edge;
    }
    write_axis(out, t, axis + 1, at);
  }
  out += "]";
}

}}}  // namespace pinion::v0::detail

namespace pinion { inline namespace v0 {

PINION_DECL std::string to_string(const any_tensor& t) {
  if (t.empty()) return "<empty>";
  std::string out;
  std::int64_t at = 0;
  detail::write_axis(out, t, 0, at);
  return out;
}

}}  // namespace pinion::v0
