// Bodies of <pinion/op/elementwise/cuda_map_gradient.hpp>.
#pragma once

#include <algorithm>
#include <bit>
#include <utility>

#include <pinion/op/elementwise/cuda_map_gradient.hpp>
#include <pinion/op/elementwise/cuda_writer.hpp>

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL scalar::program with_results(scalar::program p, const std::vector<bool>& wanted) {
  std::vector<scalar::result> kept;
  for (std::size_t k = 0; k < p.results.size(); ++k)
    if (wanted[k]) kept.push_back(p.results[k]);
  p.results = std::move(kept);
  return scalar::without_dead_values(p);
}

PINION_DECL cuda_gradient_form cuda_gradient_form_of(const scalar::program& p, const broadcast_walk& walk,
                                                     std::span<const void* const> addresses) {
  cuda_gradient_form form{cuda_form_of(p, walk, addresses), 32};
  while (walk.inner() % form.walk.width != 0) form.walk.width /= 2;
  const auto packs = static_cast<std::uint64_t>(walk.inner() / form.walk.width);
  if (form.walk.rank > 1) form.lanes = static_cast<int>(std::min<std::uint64_t>(32, std::bit_ceil(packs)));
  return form;
}

namespace detail {

// The way in which the pass deals with a result.
enum class cuda_sink {
  stored,         // each element has its place
  kept,           // summed along dimensions outside of rows alone: each element has its place in partial sums
  along_rows,     // partial sums for each element of a row, over the rows of a block
  across_a_row,   // a partial sum for each row, over the lanes of a block
  over_the_block  // one partial sum for each block
};

inline cuda_sink cuda_sink_of(const cuda_form& walk, std::size_t operand) {
  if (walk.is_flat(operand)) return cuda_sink::stored;
  const bool inside = walk.rank > 1 && walk.advances_along(operand, walk.rank - 1);
  const bool below = walk.rank > 1 && walk.advances_along(operand, walk.rank - 2);
  return inside ? (below ? cuda_sink::kept : cuda_sink::along_rows)
                : (below ? cuda_sink::across_a_row : cuda_sink::over_the_block);
}

// The members of a pass's argument, in order; see for_each_member of a map.
template <class Visitor>
void for_each_gradient_member(const scalar::program& p, const cuda_form& walk, Visitor& visit) {
  for (std::size_t k = 0; k < walk.operands(); ++k) visit.operand(k);
  for (const char* const name : {"rows", "inner", "chunk", "chunks", "tiles"}) visit.number(name);
  if (walk.rank == 1) visit.number("vectors");
  for (int d = 1; d + 2 < walk.rank; ++d) visit.extent(d);
  for (std::size_t k = 0; k < walk.operands(); ++k)
    for (int d = 0; d + 1 < walk.rank; ++d)
      if (!walk.is_flat(k) && walk.advances_along(k, d) && k < p.inputs) visit.stride(k, d);
  if (!p.literals.empty()) visit.literals();
}

// Writes the text of a pass.
class cuda_gradient_writer : cuda_writer {
 public:
  cuda_gradient_writer(const scalar::program& p, const cuda_gradient_form& form)
      : cuda_writer(p, form.walk), lanes_(form.lanes), rows_(form.rows()) {
    for (std::size_t k = 0; k < p.results.size(); ++k) sinks_.push_back(cuda_sink_of(form.walk, p.inputs + k));
  }

  std::string write(std::string_view name) {
    open(name);
    text_ += "\nstruct argument {\n";
    for_each_gradient_member(p_, form_, *this);
    text_ += "};\n";
    text_ += fmt::format("\nextern \"C\" __global__ void __launch_bounds__({}) {}", cuda_launch::threads, name);
    text_ += "(const __grid_constant__ argument a) {\n";
    write_place();
    write_sums();
    write_rows();
    write_ends();
    text_ += "}\n";
    return close();
  }

  using cuda_writer::literals;
  using cuda_writer::operand;
  using cuda_writer::stride;
  void number(const char* name) { line("index {};", name); }
  void extent(int d) { line("index extent{};", d); }

 private:
  std::string_view type(std::size_t result) const { return types_[inputs_ + result]; }
  template <class F>
  void for_each_result(cuda_sink sink, F f) {
    for (std::size_t k = 0; k < sinks_.size(); ++k)
      if (sinks_[k] == sink) f(k);
  }

  // The place of the block, which has some rows of a tile of a group, and of the thread in it.
  void write_place() {
    line("enum {{ Count = {}, lanes = {}, below = {} }};", form_.width, lanes_, rows_);
    line("const int lane = threadIdx.x % lanes, row_of_block = threadIdx.x / lanes;");
    line("const index tile = blockIdx.x % a.tiles, chunk = blockIdx.x / a.tiles % a.chunks;");
    line("const index outer = blockIdx.x / a.tiles / a.chunks;");
    line("const index pack_at = tile * lanes + lane;");
    std::string left = "outer";
    for (int d = form_.rank - 3; d > 0; --d) {
      line("const index i{} = {} % a.extent{}, rest{} = {} / a.extent{};", d, left, d, d, left, d);
      left = fmt::format("rest{}", d);
    }
    if (form_.rank > 2) line("const index i0 = {};", left);
    if (form_.rank > 1) line("const index i{} = pack_at;", form_.rank - 1);
    line("const index first = chunk * a.chunk, end = first + a.chunk < a.rows ? first + a.chunk : a.rows;");
  }
  void write_sums() {
    for_each_result(cuda_sink::along_rows, [&](std::size_t k) { line("pack<{}, Count> sum{} = {{}};", type(k), k); });
    for_each_result(cuda_sink::over_the_block, [&](std::size_t k) { line("{} sum{} = 0;", type(k), k); });
  }

  void write_rows() {
    line("for (index base = first; base < end; base += below) {{");
    ++depth_;
    line("const index row = base + row_of_block;");
    line("const index at = (outer * a.rows + row) * a.inner + pack_at;");
    if (form_.rank > 1) line("const index i{} = row;", form_.rank - 2);
    for (std::size_t k = 0; k < sinks_.size(); ++k) line("pack<{}, Count> y{} = {{}};", type(k), k);
    line("const bool is_inside = row < end && {};", form_.rank > 1 ? "pack_at < a.inner" : "at < a.vectors");
    line("if (is_inside) {{");
    ++depth_;
    write_loads();
    write_elements();
    for (const cuda_sink sink : {cuda_sink::stored, cuda_sink::kept})
      for_each_result(sink, [&](std::size_t k) { line("store<Count>(a.out{} + at * Count, y{});", k, k); });
    --depth_;
    line("}}");
    for_each_result(cuda_sink::along_rows,
                    [&](std::size_t k) { line("for (int i = 0; i < Count; ++i) sum{}.at[i] += y{}.at[i];", k, k); });
    for_each_result(cuda_sink::over_the_block, [&](std::size_t k) { line("sum{} += sum_of(y{});", k, k); });
    for_each_result(cuda_sink::across_a_row, [&](std::size_t k) {
      line("const {} row{} = sum_of_lanes<lanes>(sum_of(y{}));", type(k), k, k);
      line("if (lane == 0 && row < end) a.out{}[(outer * a.rows + row) * a.tiles + tile] = row{};", k, k);
    });
    --depth_;
    line("}}");
  }

  // The sums that rows of the block, or all its threads, have between them.
  void write_ends() {
    for_each_result(cuda_sink::along_rows, [&](std::size_t k) {
      line("add_rows<lanes, below>(sum{}, lane, row_of_block);", k);
      line("if (row_of_block == 0 && pack_at < a.inner)");
      line("  store<Count>(a.out{} + ((outer * a.chunks + chunk) * a.inner + pack_at) * Count, sum{});", k, k);
    });
    for_each_result(cuda_sink::over_the_block, [&](std::size_t k) {
      line("pack<{}, 1> all{} = {{{{sum_of_lanes<lanes>(sum{})}}}};", type(k), k, k);
      line("add_rows<1, below>(all{}, lane, row_of_block);", k);
      line("if (threadIdx.x == 0) a.out{}[(outer * a.chunks + chunk) * a.tiles + tile] = all{}.at[0];", k, k);
    });
  }

  const int lanes_, rows_;
  std::vector<cuda_sink> sinks_;
};

}  // namespace detail

PINION_DECL std::string cuda_gradient_text(const scalar::program& p, const cuda_gradient_form& form,
                                           std::string_view name) {
  return detail::cuda_gradient_writer(p, form).write(name);
}

PINION_DECL std::string cuda_sum_text(dtype type, std::string_view name) {
  static constexpr char body[] = R"(
struct argument {{
  const {1}* from;
  {1}* to;
  unsigned long long results, terms, lanes;
  dimensions kept, summed;
}};

extern "C" __global__ void __launch_bounds__({2}) {0}(const __grid_constant__ argument a) {{
  const unsigned lanes = static_cast<unsigned>(a.lanes), lane = threadIdx.x % lanes;
  const unsigned long long result = (blockIdx.x * {2}ull + threadIdx.x) / lanes;
  {1} sum = 0;
  if (result < a.results) {{
    const {1}* const from = a.from + offset_in(a.kept, result);
    for (unsigned long long term = lane; term < a.terms; term += lanes) sum += from[offset_in(a.summed, term)];
  }}
  sum = sum_of_lanes<32>(sum);
  if (lanes > 32) {{
    pack<{1}, 1> all = {{{{sum}}}};
    add_rows<1, {2} / 32>(all, threadIdx.x % 32, threadIdx.x / 32);
    sum = all.at[0];
  }}
  if (lane == 0 && result < a.results) a.to[result] = sum;
}}
)";
  return fmt::format("\nnamespace pinion {{ namespace {} {{\n", name) +
         fmt::format(body, name, scalar::cuda_type(type), cuda_launch::threads) + "\n}}  // namespace\n";
}

PINION_DECL cuda_gradient_run::cuda_gradient_run(const scalar::program& p, const broadcast_walk& walk,
                                                 const cuda_gradient_form& form)
    : program_(&p), walk_(walk), form_(form) {
  constexpr std::int64_t enough_blocks = 2048;
  const auto rounded_up = [](std::int64_t n, std::int64_t by) { return (n + by - 1) / by; };
  const std::int64_t packs = walk_.inner() / form_.walk.width, rank = form_.walk.rank;
  inner_ = rank > 1 ? packs : form_.lanes;
  rows_ = rank > 1 ? walk_.extents[static_cast<std::size_t>(rank - 2)] : rounded_up(packs, inner_);
  outer_ = rank > 1 ? walk_.outer() / rows_ : 1;
  tiles_ = rounded_up(inner_, form_.lanes);
  const std::int64_t most = rounded_up(rows_, form_.rows());
  chunk_ = rounded_up(most, std::clamp<std::int64_t>(enough_blocks / (outer_ * tiles_), 1, most)) * form_.rows();
  chunks_ = rounded_up(rows_, chunk_);
  for (std::size_t k = 0; k < p.results.size(); ++k) parts_.push_back(part_of(k));
}

PINION_DECL cuda_gradient_run::part cuda_gradient_run::part_of(std::size_t result) const {
  const std::size_t k = program_->inputs + result;
  const detail::cuda_sink sink = detail::cuda_sink_of(form_.walk, k);
  if (sink == detail::cuda_sink::stored) return {};
  const bool below = sink == detail::cuda_sink::kept || sink == detail::cuda_sink::across_a_row;
  const bool inside = sink == detail::cuda_sink::kept || sink == detail::cuda_sink::along_rows;
  part all;
  for (int d = 0; d + 2 < form_.walk.rank; ++d)
    all.dimensions.push_back({walk_.extents[static_cast<std::size_t>(d)], form_.walk.advances_along(k, d)});
  all.dimensions.push_back({below ? rows_ : chunks_, below});
  all.dimensions.push_back({inside ? inner_ * form_.walk.width : tiles_, inside});
  std::int64_t summed = 1;
  all.count = 1;
  for (const dimension& d : all.dimensions) {
    all.count *= d.extent;
    summed *= d.is_kept ? 1 : d.extent;
  }
  if (summed == 1) all.count = 0;  // they are the result
  return all;
}

namespace detail {

class cuda_gradient_packer : cuda_program_packer {
 public:
  // `numbers` are the members of that name, in order.
  cuda_gradient_packer(const scalar::program& p, const broadcast_walk& walk, const cuda_form& form,
                       std::span<const void* const> addresses, std::span<const std::int64_t> numbers)
      : cuda_program_packer(p, walk, form, addresses), numbers_(numbers) {}

  std::vector<std::byte> pack() {
    for_each_gradient_member(p_, form_, *this);
    return take();
  }
  using cuda_program_packer::literals;
  using cuda_program_packer::operand;
  using cuda_program_packer::stride;
  void number(const char*) { put_index(numbers_[next_++]); }
  void extent(int d) { put_index(walk_.extents[static_cast<std::size_t>(d)]); }

 private:
  const std::span<const std::int64_t> numbers_;
  std::size_t next_ = 0;
};

}  // namespace detail

PINION_DECL cuda_launch cuda_gradient_run::pass(std::span<const void* const> addresses) const {
  const std::int64_t numbers[] = {rows_, inner_, chunk_, chunks_, tiles_, walk_.inner() / form_.walk.width};
  return {detail::cuda_gradient_packer(*program_, walk_, form_.walk, addresses, numbers).pack(),
          static_cast<unsigned>(outer_ * chunks_ * tiles_)};
}

PINION_DECL cuda_launch cuda_gradient_run::sum(std::size_t result, const void* partial_sums, void* to) const {
  constexpr std::uint64_t most_of_short = std::uint64_t{1} << 32, few_results = 1024, threads = cuda_launch::threads;
  struct dimensions {
    std::int32_t rank = 0;
    std::uint64_t extent[shape::max_rank + 1] = {}, stride[shape::max_rank + 1] = {};  // the innermost first
    std::uint64_t count = 1;

    void add(std::int64_t extents, std::uint64_t strides) {
      extent[rank] = static_cast<std::uint64_t>(extents);
      stride[rank++] = strides;
      count *= static_cast<std::uint64_t>(extents);
    }
  } kept, summed;
  std::uint64_t stride = 1;
  const auto& all = parts_[result].dimensions;
  for (auto d = all.rbegin(); d != all.rend(); stride *= static_cast<std::uint64_t>(d++->extent))
    (d->is_kept ? kept : summed).add(d->extent, stride);
  detail::cuda_packer argument(true);
  argument.put(partial_sums);
  argument.put(static_cast<const void*>(to));
  argument.put(kept.count);
  argument.put(summed.count);
  // A warp adds up each result; where they are few, a block does.
  const std::uint64_t lanes = kept.count < few_results && summed.count > 64 ? threads : 32;
  argument.put(lanes);
  for (const dimensions& d : {kept, summed}) {
    argument.put(d.rank);
    argument.put(std::int32_t{!form_.walk.is_wide && stride < most_of_short});
    for (const std::uint64_t e : d.extent) argument.put(e);
    for (const std::uint64_t s : d.stride) argument.put(s);
  }
  return {argument.take(), static_cast<unsigned>((kept.count * lanes + threads - 1) / threads)};
}

}}}  // namespace pinion::v0::op
