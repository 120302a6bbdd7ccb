// A variable in parts: rows of one table, spread over devices by whatever places variables.
//
//   table/part_0   rows 0, 1, 2  on /job:ps/task:0        gather(table, {6, 1}):  6 -> part_2, its row 1
//   table/part_1   rows 3, 4     on /job:ps/task:1                                1 -> part_0, its row 1
//   table/part_2   rows 5, 6     on /job:ps/task:2        only these two rows travel, and only their gradients back
//
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include <pinion/dsl/initializers.hpp>
#include <pinion/dsl/layout.hpp>
#include <pinion/dsl/partitioners.hpp>
#include <pinion/dsl/variable_slices.hpp>
#include <pinion/graph/scopes.hpp>

namespace pinion::inline v0 {

struct partitioned_variable_options {
  std::string name = "PartitionedVariable";
  partitioner partition = fixed_size_partitioner{1};
  bool trainable = true;
  std::string shared_name = "";  // of part i: that and "/part_i"; "" means its own name
  bool local = false;            // its parts are not counted among the global variables
};

// Several variables that are one: NAME/part_0, NAME/part_1, ... hold the rows of a tensor, in order. The parts are
// ordinary variables, each placed for itself, with slots of its own beside it where it is trained; what works on all
// variables works on them. As an operand it is its whole value, which takes all parts to where it is used; gather()
// takes only the rows that are asked for. A saver writes it as one tensor NAME, whatever the number of parts.
//
// A value: a handle, as that of a variable; the state lives in the tasks that run the parts. Making one throws
// invalid_argument where the shape is not known or has no rows, and where the partitioner asks for no part, or for more
// than there are rows.
template <class T>
requires(detail::are_elements<T>(PINION_ELEMENT_TYPES)) class partitioned_variable : public dsl::operators {
 public:
  using value_type = T;

  partitioned_variable() = default;
  // With a host tensor as its initial value.
  explicit partitioned_variable(const tensor<T>& initial, const partitioned_variable_options& options = {},
                                source_location where = source_location::current()) {
    const auto constant = [&](const row_range& rows, const pinion::shape& extent, const std::string& part) -> output {
      const std::int64_t row = extent.count() / rows.count;
      const std::span<const T> elements(initial.data() + rows.first * row, static_cast<std::size_t>(rows.count * row));
      auto request = dsl::constant_request(tensor<T>(extent, elements).untyped(), "", where);
      request.exact_name = part + "/initial_value";
      return {build(*graph_, std::move(request)), 0};
    };
    make_parts(initial.shape(), options, where, constant);
  }
  // Initialised by an expression, of which each part takes its rows.
  template <dsl::expression E>
  requires std::is_same_v<dsl::value_of<E>, T>
  explicit partitioned_variable(const E& initial, const partitioned_variable_options& options = {},
                                source_location where = source_location::current()) {
    const output whole = dsl::endpoint_of(initial).endpoint();
    const auto slice = [&](const row_range& rows, const pinion::shape& extent, const std::string& part) -> output {
      integers begin(static_cast<std::size_t>(extent.rank()), 0), size(extent.dims().begin(), extent.dims().end());
      begin[0] = rows.first;
      return {build(*graph_, {.op = op::slice::name,
                              .inputs = {whole},
                              .attrs = {{"begin", std::move(begin)}, {"size", std::move(size)}},
                              .where = where,
                              .exact_name = part + "/initial_value"}),
              0};
    };
    make_parts(initial.shape(), options, where, slice);
  }
  // Of a shape, initialised part by part, so that the whole need never be in one place. The values are those that an
  // unpartitioned variable would begin with, whatever the number of parts; of seed 0 they are random anyhow.
  partitioned_variable(const pinion::shape& extent, const nn::initializer& first,
                       const partitioned_variable_options& options = {},
                       source_location where = source_location::current()) {
    const auto draw = [&](const row_range& rows, const pinion::shape&, const std::string& part) -> output {
      const name_scope inside{part + "/"};
      return first.rows_of<T>(extent, rows.first, rows.count, where).endpoint();
    };
    make_parts(extent, options, where, draw);
  }

  bool empty() const { return graph_.empty(); }
  graph& owner() const { return *graph_; }
  node_id id() const { return read_; }  // of its value
  const std::string& name() const { return name_; }
  const pinion::shape& shape() const { return shape_; }  // of the whole
  const std::vector<variable_handle<T>>& parts() const { return parts_; }
  // Gives all parts their initial values.
  operation initializer() const { return {*graph_, initializer_}; }

  // The parts put together, as one node that was made with the variable, on the device that the guards asked for then;
  // inside control_dependencies reads of their own, which see their effects.
  expr<T> read(source_location where = source_location::current()) const {
    if (parts_.size() == 1) return parts_[0].read(where);
    if (scope_state::current().control) return concat(reads(where), 0, name_ + "/read", where);
    dsl::body_trace* const t = dsl::body_trace::current();
    if (t && t->waits_outside()) return t->outside([&] { return read(where); });
    return {*graph_, {read_, 0}};
  }
  operator expr<T>() const { return read({}); }

  // How many bytes of it were asked to stand where, in the order of its parts. Where no guard and no policy said
  // anything it is "": a plan tells where those go (plan::totals() has the bytes of all variables of each device).
  std::vector<std::pair<std::string, std::int64_t>> bytes_by_device() const {
    std::vector<std::pair<std::string, std::int64_t>> all;
    for (const auto& part : parts_) {
      const std::string device = to_string(part.requested_device());
      auto at = std::find_if(all.begin(), all.end(), [&](const auto& known) { return known.first == device; });
      if (at == all.end()) at = all.insert(at, {device, 0});
      at->second += graph_->type_of(part.reference()).bytes();
    }
    return all;
  }

 private:
  // A part's initial value is what initial(rows, shape, name of the part) makes.
  template <class Initial>
  void make_parts(const pinion::shape& extent, const partitioned_variable_options& o, source_location where,
                  const Initial& initial) {
    const std::vector<row_range> ranges = cut(extent, o);
    graph_ = graph_ref(default_graph());
    shape_ = extent;
    name_ = dsl::variable_name(o.name);
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      const std::string suffix = "/part_" + std::to_string(i), part = graph_->unique_name(name_ + suffix);
      pinion::shape own = extent;
      own.set(0, ranges[i].count);
      const variable_options options{.name = part,
                                     .trainable = o.trainable,
                                     .shared_name = o.shared_name.empty() ? "" : o.shared_name + suffix,
                                     .local = o.local};
      parts_.push_back(dsl::make_variable<T>(initial(ranges[i], own, part), part, options, where));
      note_slice(*graph_, parts_.back().id(), {name_, extent, ranges[i].first});
    }
    put_together(where);
  }
  static std::vector<row_range> cut(const pinion::shape& extent, const partitioned_variable_options& o) {
    const std::string culprit = "partitioned variable '" + o.name + "' of shape " + to_string(extent) + ": ";
    if (!extent.known() || extent.rank() == 0 || extent[0] == 0)
      throw error(errc::invalid_argument, culprit + "its shape must be known, and have rows");
    if (!o.partition) throw error(errc::invalid_argument, culprit + "it has no partitioner");
    try {
      return cut_rows(extent[0], o.partition(extent, dtype_of<T>));
    } catch (...) {
      const error e = current_error();
      throw error(e.code(), culprit + e.sentence());
    }
  }
  // The nodes that stand for all parts.
  void put_together(source_location where) {
    node_request all{.op = op::no_op::name, .where = where, .exact_name = name_ + "/Assign"};
    for (const auto& part : parts_) all.control_inputs.push_back(part.initializer().id());
    initializer_ = build(*graph_, std::move(all));
    read_ = parts_[0].read_id();
    if (parts_.size() == 1) return;
    node_request whole{
        .op = op::concat::name, .attrs = {{"axis", std::int64_t{0}}}, .where = where, .exact_name = name_ + "/read"};
    for (const auto& part : parts_) whole.inputs.push_back({part.read_id(), 0});
    read_ = build(*graph_, std::move(whole));
  }
  std::vector<expr<T>> reads(source_location where) const {
    std::vector<expr<T>> all;
    for (const auto& part : parts_) all.push_back(part.read(where));
    return all;
  }

  graph_ref graph_;
  std::string name_;
  pinion::shape shape_;
  std::vector<variable_handle<T>> parts_;
  node_id initializer_ = no_node, read_ = no_node;
};

template <dsl::expression E>
partitioned_variable(const E&, const partitioned_variable_options& = {}, source_location = {})
    -> partitioned_variable<dsl::value_of<E>>;

namespace dsl {
template <class T>
inline constexpr bool made_as_operand<partitioned_variable<T>> = true;
}

// How it is spread: "table [7, 2] in 3 parts: 24 B on /job:ps/task:0, 16 B on /job:ps/task:1, 16 B on /job:ps/task:2".
template <element T>
std::string to_string(const partitioned_variable<T>& v) {
  std::string text = v.name() + " " + to_string(v.shape()) + " in " + std::to_string(v.parts().size()) +
                     (v.parts().size() == 1 ? " part" : " parts");
  const char* before = ": ";
  for (const auto& [device, bytes] : v.bytes_by_device()) {
    text += std::exchange(before, ", ") + std::to_string(bytes) + " B ";
    text += device.empty() ? "wherever the placer puts them" : "on " + device;
  }
  return text;
}

// Rows of a partitioned variable: gather(table, indices), where each part gathers its own on its device. The gradient
// is sparse for each part. An index outside fails the step. Along another axis than the first it is that of the whole.
template <element T, dsl::graph_operand I>
expr<T> gather(const partitioned_variable<T>& table, I&& indices, const gather_options& options = {},
               source_location where = source_location::current()) {
  static_assert(is_integer(dtype_of<dsl::value_of<I>>), "indices are int32 or int64; pn::cast<int>(x) converts");
  using index = expr<dsl::value_of<I>>;
  if (options.axis != 0) return gather(table.read(where), std::forward<I>(indices), options, where);
  if (table.parts().size() == 1) return gather(table.parts()[0], std::forward<I>(indices), options, where);
  integers rows;
  for (const auto& part : table.parts()) rows.push_back(part.shape()[0]);
  const auto cut =
      dsl::node_call<op::partition_indices, dsl::value_of<I>>({}, where, {{"rows", rows}}, std::forward<I>(indices));
  const auto output_of_cut = [&](std::size_t i) { return index(cut.owner(), {cut.id(), static_cast<int>(i)}); };
  std::vector<expr<T>> found;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const any_expr part = dsl::endpoint_of(table.parts()[i], where);
    const colocate_with near{operation(part)};
    found.push_back(gather(expr<T>(part.owner(), part.endpoint()), output_of_cut(i), {}, where));
  }
  const auto all = concat(found, 0, {}, where);
  return gather(all, output_of_cut(rows.size()), options, where);
}

}  // namespace pinion::inline v0
