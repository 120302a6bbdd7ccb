// Bodies of <pinion/op/elementwise/cuda_map.hpp>.
#pragma once

#include <algorithm>
#include <bit>

#include <pinion/op/elementwise/cuda_map.hpp>
#include <pinion/op/elementwise/cuda_writer.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

// The members of a kernel's argument, in order. Its text and the bytes of a launch both follow from this walk:
//
//   operand(k)    the address of an operand
//   elements()    the elements of the space, where the form has a rest
//   vectors()     the packs of the space: groups of `width` elements
//   divisor(d)    the packs or rows along dimension d, where an index is divided by them
//   stride(k, d)  the elements between neighbours of an operand
//   literals()    the values of literals
//   guard()       places of wrong values, where the form is guarded
template <class Visitor>
void for_each_member(const scalar::program& p, const cuda_form& form, Visitor& visit) {
  for (std::size_t k = 0; k < form.operands(); ++k) visit.operand(k);
  if (form.has_rest()) visit.elements();
  visit.vectors();
  for (int d = 1; d < form.rank; ++d) visit.divisor(d);
  for (std::size_t k = 0; k < form.operands(); ++k)
    for (int d = 0; d + 1 < form.rank; ++d)
      if (!form.is_flat(k) && form.advances_along(k, d)) visit.stride(k, d);
  if (!p.literals.empty()) visit.literals();
  if (form.is_guarded) visit.guard();
}

// Writes the text of a map.
class cuda_map_writer : cuda_writer {
 public:
  cuda_map_writer(const scalar::program& p, const cuda_form& form) : cuda_writer(p, form) {}

  std::string write(std::string_view name) {
    open(name);
    text_ += "\nstruct argument {\n";
    for_each_member(p_, form_, *this);
    text_ += "};\n\n";
    write_pack();
    write_kernel(name);
    return close();
  }

  using cuda_writer::literals;
  using cuda_writer::operand;
  using cuda_writer::stride;
  void elements() { line("index elements;"); }
  void vectors() { line("index vectors;"); }
  void guard() {
    line("const unsigned long long* guard;");
    line("unsigned long long guards;");
  }
  void divisor(int d) { line("{} extent{};", form_.is_wide ? "wide_divisor" : "divisor", d); }

 private:
  // The function that computes `Count` neighbours, all loads before all stores.
  void write_pack() {
    text_ += "// Computes the elements from at * Count on.\n";
    text_ += "template <int Count> PINION_DEVICE void compute(const argument& a, const index at) {\n";
    write_positions();
    write_loads();
    for (std::size_t k = inputs_; k < form_.operands(); ++k) line("pack<{}, Count> y{};", types_[k], k - inputs_);
    write_elements();
    for (std::size_t k = inputs_; k < form_.operands(); ++k)
      line("store<Count>(a.{}{}, y{});", operand_name(k), offset(k), k - inputs_);
    text_ += "}\n";
  }

  bool is_position_used(int d) const {
    for (std::size_t k = 0; k < form_.operands(); ++k)
      if (!form_.is_flat(k) && form_.advances_along(k, d)) return true;
    return false;
  }
  // The position along each dimension, from the innermost: "at" is divided by one extent after the other.
  void write_positions() {
    int outermost = form_.rank;
    for (int d = form_.rank; d-- > 0;)
      if (is_position_used(d)) outermost = d;
    std::string left = "at";
    for (int d = form_.rank - 1; d > 0 && d >= outermost; --d) {
      line("const index rest{} = quotient({}, a.extent{});", d, left, d);
      if (is_position_used(d)) line("const index i{} = {} - rest{} * a.extent{}.extent;", d, left, d, d);
      left = fmt::format("rest{}", d);
    }
    if (outermost == 0) line("const index i0 = {};", left);
  }

  void write_kernel(std::string_view name) {
    text_ += fmt::format("\nextern \"C\" __global__ void __launch_bounds__({}) {}", cuda_launch::threads, name);
    text_ += "(const __grid_constant__ argument a) {\n";
    if (form_.is_guarded)
      line("for (unsigned long long i = 0; i < a.guards; ++i) if (a.guard[2 * i] != ~0ull) return;");
    line("const index first = blockIdx.x * index({0}) + threadIdx.x, step = gridDim.x * index({0});",
         cuda_launch::threads);
    line("for (index at = first; at < a.vectors; at += step) compute<{}>(a, at);", form_.width);
    if (form_.has_rest())
      line("for (index at = a.vectors * {} + first; at < a.elements; at += step) compute<1>(a, at);", form_.width);
    text_ += "}\n";
  }
};

// Packs the argument of a map's launch.
class cuda_map_packer : cuda_program_packer {
 public:
  cuda_map_packer(const scalar::program& p, const broadcast_walk& walk, const cuda_form& form,
                  std::span<const void* const> addresses, const cuda::wrong_places& guard)
      : cuda_program_packer(p, walk, form, addresses), guard_(guard) {}

  std::vector<std::byte> pack() {
    for_each_member(p_, form_, *this);
    return take();
  }

  using cuda_program_packer::literals;
  using cuda_program_packer::operand;
  using cuda_program_packer::stride;
  void elements() { put_index(walk_.inner()); }
  void vectors() { put_index(walk_.outer() * (walk_.inner() / form_.width)); }
  void divisor(int d) {
    const std::int64_t extent = walk_.extents[static_cast<std::size_t>(d)] / (d + 1 == form_.rank ? form_.width : 1);
    const auto by = static_cast<std::uint64_t>(extent);
    if (form_.is_wide) return put(by);
    const auto shift = static_cast<std::uint32_t>(std::bit_width(by - 1));  // the smallest with 2^shift >= extent
    const std::uint64_t multiplier = ((((std::uint64_t{1} << shift) - by) << 32) / by) + 1;
    put(static_cast<std::uint32_t>(by));
    put(static_cast<std::uint32_t>(multiplier));
    put(shift);
  }
  void guard() {
    put(static_cast<const void*>(guard_.first));
    put(static_cast<std::uint64_t>(guard_.count));
  }

 private:
  const cuda::wrong_places guard_;
};

}  // namespace detail

PINION_DECL std::string cuda_map_text(const scalar::program& p, const cuda_form& form, std::string_view name) {
  return detail::cuda_map_writer(p, form).write(name);
}

PINION_DECL cuda_launch cuda_map_launch(const scalar::program& p, const broadcast_walk& walk, const cuda_form& form,
                                        std::span<const void* const> addresses, const cuda::wrong_places& guard) {
  // The step of all threads stays below 2^31; each thread takes further packs.
  constexpr std::int64_t most_blocks = 1 << 22;
  const std::int64_t vectors = walk.outer() * ((walk.inner() + form.width - 1) / form.width);
  const std::int64_t blocks = (vectors + cuda_launch::threads - 1) / cuda_launch::threads;
  return {detail::cuda_map_packer(p, walk, form, addresses, guard).pack(),
          static_cast<unsigned>(std::clamp<std::int64_t>(blocks, 1, most_blocks))};
}

}}}  // namespace pinion::v0::op
