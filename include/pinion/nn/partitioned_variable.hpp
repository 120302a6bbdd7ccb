// A partitioned variable: the rows of one table in several variables, which guards and policies spread over devices.
//
//   table/part_0   rows 0, 1, 2  on /job:ps/task:0        gather(table, {6, 1}):  6 -> part_2, its row 1
//   table/part_1   rows 3, 4     on /job:ps/task:1                                1 -> part_0, its row 1
//   table/part_2   rows 5, 6     on /job:ps/task:2        only these two rows travel, and only their gradients back
//
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/scopes.hpp>
#include <pinion/nn/initializers.hpp>
#include <pinion/nn/partitioners.hpp>
#include <pinion/op/gather/functions.hpp>
#include <pinion/op/layout/functions.hpp>
#include <pinion/op/slice/functions.hpp>
#include <pinion/op/variable/slices.hpp>

namespace pinion { inline namespace v0 {

// Options of partitioned_variable. The default partitioner makes one part. `trainable` and `local` hold for all parts,
// as in variable_options.
struct partitioned_variable_options {
  std::string name = "PartitionedVariable";
  partitioner partition = fixed_size_partitioner{1};
  bool trainable = true;
  std::string shared_name = "";  // part i has it with "/part_i"; empty: its name
  bool local = false;            // true: its parts are not global variables
};

namespace dsl {

// A partitioned variable without its element type: its parts, and the nodes that work on all of them.
struct variable_parts {
  graph_ref graph;
  std::string name;
  shape extent;
  std::vector<any_variable> each;
  node_id initializer = no_node, read = no_node;
};
// Makes the initial value of a part from its rows, the shape of these, and the part's name. The shape is that of the
// part, and the name that of its node, without "/initial_value".
using part_initializer = std::function<output(const row_range&, const shape&, const std::string&)>;
// Makes the parts and the nodes that work on all of them, in the default graph.
variable_parts make_parts(dtype type, const shape& extent, const partitioned_variable_options& o, source_location where,
                          const part_initializer& initial);
// The initial value of a part as the rows `rows` of an expression.
output rows_of(const any_expr& whole, const row_range& rows, const shape& extent, const std::string& part,
               source_location where);
// The whole value: the shared read, or parts read anew inside control_dependencies.
any_expr read_parts(const variable_parts& all, source_location where);
std::vector<std::pair<std::string, std::int64_t>> bytes_by_device(const variable_parts& all);
std::string text_of(const variable_parts& all);

}  // namespace dsl

// One tensor in several variables: NAME/part_0, NAME/part_1, ... hold its rows, in order. The parts are ordinary
// variables: each is placed separately, an optimizer makes slots beside each, and operations on all variables include
// them. As an operand a partitioned variable is its whole value, so all parts travel to the consumer; gather() moves
// only the rows that are asked for. A saver writes one tensor NAME, whatever the number of parts.
//
// A handle, and a value; refers to a graph that must outlive it. The state lives in the tasks that run the parts. The
// constructors throw invalid_argument where the shape is not known or has no rows, and where the partitioner asks for
// less than one part, or for more parts than there are rows. Spread the parts by a guard around the constructor. A
// policy is asked for each part in turn:
//
//   pn::device on{pn::replica_device_setter{{.ps_tasks = 3}}};
//   pn::partitioned_variable<float> table({1000, 64}, pn::nn::glorot_uniform_initializer(7),
//                                         {.name = "table", .partition = pn::fixed_size_partitioner{3}});
//   auto rows = pn::gather(table, ids);                      // ids [n] -> [n, 64]
//
// Gradients are taken by its parts(), and optimizers find them in the collection of trainable variables.
template <class T>
requires(detail::are_elements<T>(PINION_ELEMENT_TYPES)) class partitioned_variable : public dsl::operators {
 public:
  using value_type = T;

  partitioned_variable() = default;
  // The initial value is a host tensor. The parts' constants are copies of its rows.
  explicit partitioned_variable(const tensor<T>& initial, const partitioned_variable_options& options = {},
                                source_location where = source_location::current()) {
    take(initial.shape(), options, where, [&](const row_range& rows, const pinion::shape& extent, const auto& part) {
      const std::int64_t row = extent.count() / rows.count;
      const std::span<const T> elements(initial.data() + rows.first * row, static_cast<std::size_t>(rows.count * row));
      return dsl::make_constant(tensor<T>(extent, elements).untyped(), part + "/initial_value", where);
    });
  }
  // The initial value is an expression, of which each part takes its rows. The expression runs in each step that
  // initialises a part, and its rows travel to the parts. A random one draws all parts from one tensor only where one
  // step initialises them together.
  template <dsl::expression E>
  requires std::is_same_v<dsl::value_of<E>, T>
  explicit partitioned_variable(const E& initial, const partitioned_variable_options& options = {},
                                source_location where = source_location::current()) {
    const any_expr whole = dsl::endpoint_of(initial);
    take(initial.shape(), options, where, [&](const row_range& rows, const pinion::shape& extent, const auto& part) {
      return dsl::rows_of(whole, rows, extent, part, where);
    });
  }
  // The initial value comes from an initialiser, part by part, so no task ever holds the whole. With a seed other than
  // 0, the values are those of an unpartitioned variable, whatever the number of parts.
  partitioned_variable(const pinion::shape& extent, const nn::initializer& first,
                       const partitioned_variable_options& options = {},
                       source_location where = source_location::current()) {
    take(extent, options, where, [&](const row_range& rows, const pinion::shape&, const auto& part) {
      const name_scope inside{part + "/"};
      return first.rows_of<T>(extent, rows.first, rows.count, where).endpoint(default_graph());
    });
  }

  // True for a handle that was never assigned.
  bool empty() const { return all_.graph.empty(); }
  // The graph of the parts.
  graph& owner() const { return *all_.graph; }
  // With one part it is the read of that part.
  node_id id() const { return all_.read; }  // the node of its value
  const std::string& name() const { return all_.name; }
  const pinion::shape& shape() const { return all_.extent; }  // of the whole table
  // The parts, in the order of their rows.
  const std::vector<variable_handle<T>>& parts() const { return parts_; }
  const dsl::variable_parts& untyped() const { return all_; }
  // An operation that gives all parts their initial values. pn::global_variables_initializer() includes the parts, so a
  // program seldom needs it.
  operation initializer() const { return {*all_.graph, all_.initializer}; }

  // The parts put together. One node, made with the variable on the device that was asked for then, serves all
  // consumers. Inside control_dependencies each call makes reads of its own, which see the effects of those
  // dependencies.
  expr<T> read(source_location where = source_location::current()) const {
    return dsl::as_typed<expr<T>>(dsl::read_parts(all_, where));
  }
  operator expr<T>() const { return read({}); }

  // The number of bytes that guards and policies asked to put on each device, in the order of the parts. The device is
  // "" where neither asked for one: a plan tells where the placer puts those, and plan::totals() has the bytes of all
  // variables for each device.
  //
  //   for (const auto& [device, bytes] : table.bytes_by_device()) fmt::print("{}: {} B\n", device, bytes);
  std::vector<std::pair<std::string, std::int64_t>> bytes_by_device() const { return dsl::bytes_by_device(all_); }

  // Tells how it is spread: "table [7, 2] in 3 parts: 24 B on /job:ps/task:0, 16 B on /job:ps/task:1, ...".
  friend std::string to_string(const partitioned_variable& v) { return dsl::text_of(v.all_); }

 private:
  template <class Initial>
  void take(const pinion::shape& extent, const partitioned_variable_options& o, source_location where,
            const Initial& initial) {
    all_ = dsl::make_parts(dtype_of<T>, extent, o, where, initial);
    for (const any_variable& part : all_.each) parts_.push_back(variable_handle<T>(part));
  }

  dsl::variable_parts all_;
  std::vector<variable_handle<T>> parts_;  // the parts in all_, with their type
};

template <dsl::expression E>
partitioned_variable(const E&, const partitioned_variable_options& = {}, source_location = {})
    -> partitioned_variable<dsl::value_of<E>>;

namespace dsl {
template <class T>
inline constexpr bool made_as_operand<partitioned_variable<T>> = true;
}

// Rows of a partitioned variable: each part gathers its own rows on its device, and the results are put in the order of
// the indices. The gradient is sparse for each part. An index outside fails the step. Along another axis than 0, the
// whole value is gathered from. The indices are numbers of rows of the whole table, of any shape [...]; the result is
// [..., columns]. The step fails with invalid_argument, and the index is named.
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
  graph& g = cut.owner();
  const auto output_of_cut = [&](std::size_t i) { return index(g, {cut.id(g), static_cast<int>(i)}); };
  std::vector<expr<T>> found;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const any_expr part = dsl::endpoint_of(table.parts()[i], where);
    const colocate_with near{operation(part)};
    found.push_back(gather(dsl::as_typed<expr<T>>(part), output_of_cut(i), {}, where));
  }
  const auto all = concat(found, 0, {}, where);
  return gather(all, output_of_cut(rows.size()), options, where);
}

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/nn/partitioned_variable.ipp>
#endif
