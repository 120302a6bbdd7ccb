// The parts of a text in CUDA C that the kernels of a map and of its gradients share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <pinion/op/elementwise/broadcast.hpp>
#include <pinion/op/elementwise/cuda_form.hpp>
#include <pinion/scalar/cuda_text.hpp>
#include <pinion/scalar/operands.hpp>
#include <pinion/scalar/program.hpp>

namespace pinion { inline namespace v0 { namespace op { namespace detail {

// Collects the text of one kernel. It refers to the program and the form.
class cuda_writer {
 protected:
  cuda_writer(const scalar::program& p, const cuda_form& form) : p_(p), form_(form), inputs_(p.inputs) {
    for (const dtype type : scalar::input_types(p)) types_.emplace_back(scalar::cuda_type(type));
    for (const scalar::result& r : p.results) types_.emplace_back(scalar::cuda_type(r.type));
  }

  void open(std::string_view name) {
    text_ = fmt::format("\nnamespace pinion {{ namespace {} {{\n\n", name);
    text_ += fmt::format("typedef {} index;\n\n", form_.is_wide ? "unsigned long long" : "unsigned");
    text_ += scalar::cuda_element(p_);
  }
  std::string close() {
    text_ += "\n}}  // namespace\n";
    return std::move(text_);
  }
  template <class... T>
  void line(fmt::format_string<T...> format, T&&... values) {
    text_ += std::string(2 * depth_, ' ') + fmt::format(format, std::forward<T>(values)...) + "\n";
  }

  std::string operand_name(std::size_t k) const {
    return k < inputs_ ? fmt::format("in{}", k) : fmt::format("out{}", k - inputs_);
  }
  // The members of the argument that every kernel has.
  void operand(std::size_t k) { line("{}{}* {};", k < inputs_ ? "const " : "", types_[k], operand_name(k)); }
  void stride(std::size_t k, int d) { line("index {}_stride{};", operand_name(k), d); }
  void literals() { line("{} literal[{}];", scalar::cuda_arithmetic(p_), p_.literals.size()); }

  bool advances_inside(std::size_t k) const { return form_.advances_along(k, form_.rank - 1); }
  std::string_view count(std::size_t k) const { return advances_inside(k) ? "Count" : "1"; }
  // The elements before the one of an operand that stands at positions i0, i1, ..., or at place `at` of the space.
  std::string offset(std::size_t k) const {
    if (form_.is_flat(k)) return " + at * Count";
    std::string sum;
    for (int d = 0; d < form_.rank; ++d) {
      if (!form_.advances_along(k, d)) continue;
      const bool inside = d + 1 == form_.rank;
      sum += fmt::format("{}i{} * {}", sum.empty() ? "" : " + ", d,
                         inside ? "Count" : fmt::format("a.{}_stride{}", operand_name(k), d));
    }
    return sum.empty() ? "" : " + (" + sum + ")";
  }
  void write_loads() {
    for (std::size_t k = 0; k < inputs_; ++k)
      line("const pack<{}, {}> x{} = load<{}>(a.in{}{});", types_[k], count(k), k, count(k), k, offset(k));
  }
  void write_elements() {
    std::string call;
    for (std::size_t k = 0; k < inputs_; ++k) call += fmt::format("x{}.at[{}], ", k, advances_inside(k) ? "i" : "0");
    call += p_.literals.empty() ? "nullptr" : "a.literal";
    for (std::size_t k = 0; k < p_.results.size(); ++k) call += fmt::format(", y{}.at[i]", k);
    text_ += "#pragma unroll\n";
    line("for (int i = 0; i < Count; ++i) element({});", call);
  }

  const scalar::program& p_;
  const cuda_form& form_;
  const std::size_t inputs_;
  std::vector<std::string> types_;
  std::string text_;
  std::size_t depth_ = 1;  // of the blocks that are open
};

// Packs the argument of a launch, with the alignment that the compiler gives the members.
class cuda_packer {
 public:
  explicit cuda_packer(bool is_wide) : is_wide_(is_wide) {}

  template <class T>
  void put(T value) {
    const std::size_t at = (bytes_.size() + alignof(T) - 1) / alignof(T) * alignof(T);
    bytes_.resize(at + sizeof(T));
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
  }
  void put_index(std::int64_t value) {
    if (is_wide_)
      put(static_cast<std::uint64_t>(value));
    else
      put(static_cast<std::uint32_t>(value));
  }
  // The values of a program's literals, as numbers of its arithmetic.
  void put_literals(const scalar::program& p) {
    visit_plain(p.arithmetic, [&]<class T>() {
      using number = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;
      for (const scalar::number& n : p.literals) put(n.as<number>());
    });
  }
  // All bytes. An argument begins with an address, so its size is a multiple of one.
  std::vector<std::byte> take() {
    bytes_.resize((bytes_.size() + 7) / 8 * 8);
    return std::move(bytes_);
  }

 private:
  const bool is_wide_;
  std::vector<std::byte> bytes_;
};

// Packs the members that the argument of every kernel of a program has. It refers to all that it is given.
class cuda_program_packer : protected cuda_packer {
 protected:
  cuda_program_packer(const scalar::program& p, const broadcast_walk& walk, const cuda_form& form,
                      std::span<const void* const> addresses)
      : cuda_packer(form.is_wide), p_(p), walk_(walk), form_(form), addresses_(addresses) {}

  void operand(std::size_t k) { put(addresses_[k]); }
  void stride(std::size_t k, int d) { put_index(walk_.strides[k][static_cast<std::size_t>(d)]); }
  void literals() { put_literals(p_); }

  const scalar::program& p_;
  const broadcast_walk& walk_;
  const cuda_form& form_;

 private:
  const std::span<const void* const> addresses_;
};

}}}}  // namespace pinion::v0::op::detail
