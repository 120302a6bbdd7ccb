// Bodies of <pinion/runtime/optimize/share_common.hpp>.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include <pinion/base/cancellable_work.hpp>
#include <pinion/graph/attribute_value.hpp>
#include <pinion/op/elementwise/op.hpp>
#include <pinion/runtime/optimize/placed_draft.hpp>
#include <pinion/runtime/optimize/share_common.hpp>

namespace pinion { inline namespace v0 { namespace runtime { namespace detail {

// Tensors are compared up to this number of bytes, since two large constants are rarely equal.
inline constexpr std::size_t most_compared = 1 << 16;

inline bool same_tensor(const any_tensor& a, const any_tensor& b) {
  if (a.empty() || b.empty() || a.dtype() != b.dtype() || !(a.shape() == b.shape())) return a.empty() && b.empty();
  if (a.dtype() == dtype::string) return a == b;
  return a.raw() == b.raw() || (a.bytes() <= most_compared && std::memcmp(a.raw(), b.raw(), a.bytes()) == 0);
}

inline bool same_attribute(const attribute& a, const attribute& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&]<class T>(const T& x) {
        const T& y = *b.get_if<T>();
        if constexpr (std::is_same_v<T, any_tensor>)
          return same_tensor(x, y);
        else if constexpr (std::is_same_v<T, double>)
          return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
        else if constexpr (std::is_same_v<T, op::shared_program>)
          return x == y || (scalar::same_structure(*x, *y) && x->literals == y->literals);
        else
          return x == y;
      },
      a.value().held);
}

inline bool same_attributes(const attributes& a, const attributes& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.name == y.name && same_attribute(x.value, y.value); });
}

// Mixes what a node computes: all that same() compares, since peers make graphs whose nodes differ in one of it alone.
class node_hash {
 public:
  explicit node_hash(const draft::item& it) {
    add(it.node.op), add(it.device);
    for (const output& in : it.node.inputs) add(in.node), add(in.index);
    for (const node_id c : it.node.control_inputs) add(c);
    for (const output_type& type : it.node.outputs)
      for (const std::int64_t extent : type.shape.dims()) add(extent);
    for (const auto& [name, value] : it.node.attrs) add(name), add(value);
  }
  std::size_t value() const { return h_; }

 private:
  void mix(std::size_t more) { h_ = ((h_ ^ more) * 0x9E3779B97F4A7C15u) ^ (h_ >> 29); }
  void add(std::string_view text) { mix(std::hash<std::string_view>{}(text)); }
  void add(const std::string& text) { add(std::string_view(text)); }
  void add(double x) { mix(std::bit_cast<std::uint64_t>(x)); }
  template <class T>
  requires(std::is_integral_v<T> || std::is_enum_v<T>) void add(T x) { mix(static_cast<std::size_t>(x)); }
  void add(const any_tensor& t) {
    if (t.empty()) return;
    add(t.dtype());
    if (t.dtype() == dtype::string)
      for (std::int64_t i = 0; i < t.count(); ++i) add(std::string_view(t.data<std::string>()[i]));
    else if (t.bytes() <= most_compared)
      add(std::string_view(static_cast<const char*>(t.raw()), t.bytes()));
    else
      mix(std::hash<const void*>{}(t.raw()));
  }
  void add(const op::shared_program& p) {
    for (const auto& in : p->code) add(in.op), add(in.a), add(in.b), add(in.c);
    for (const auto& r : p->results) add(r.value), add(r.type);
    for (const auto* numbers : {&p->literals, &p->constants})
      for (const auto& n : *numbers) add(n.real), add(n.integer);
  }
  void add(const shared_body& b) { mix(std::hash<const void*>{}(b.get())); }
  void add(const shape& s) {
    for (const std::int64_t extent : s.dims()) add(extent);
  }
  template <class T>
  void add(const std::vector<T>& all) {
    for (const T& one : all) add(one);
  }
  void add(const attribute& a) {
    mix(a.index());
    std::visit([this](const auto& x) { add(x); }, a.value().held);
  }
  std::size_t h_ = 0;
};

}}}}  // namespace pinion::v0::runtime::detail

namespace pinion { inline namespace v0 { namespace runtime {

PINION_DECL int share_common(draft& d) {
  constexpr std::size_t most_alike = 16;  // the nodes of one hash that are looked at: whoever makes more gets no twins
  std::map<std::size_t, std::vector<node_id>> seen;
  int shared = 0;
  for (node_id i = 0; i < d.size(); ++i) {
    cancellable_work::check();
    d.redirect(i);
    if (!d.runs(i) || d.node_at(i).outputs.empty() || !is_repeatable(d, i)) continue;
    const auto same = [&](node_id other) {
      const node &a = d.node_at(i), &b = d.node_at(other);
      return a.op == b.op && d[i].device == d[other].device && a.inputs == b.inputs &&
             a.control_inputs == b.control_inputs && detail::same_attributes(a.attrs, b.attrs);
    };
    auto& alike = seen[detail::node_hash(d[i]).value()];
    const auto twin = std::find_if(alike.begin(), alike.end(), same);
    if (twin != alike.end()) {
      d.replace(i, *twin);
      ++shared;
    } else if (alike.size() < most_alike) {
      alike.push_back(i);
    }
  }
  d.redirect_ends();
  return shared;
}

}}}  // namespace pinion::v0::runtime
