// Embeddings: a table of rows that is looked up by row number.
//
//   auto words = pn::nn::embedding(ids, 10000, 64, {.name = "words"});   // ids [n, k] -> [n, k, 64]
//
// A lookup costs as much as the rows that it takes, whatever the size of the table, and so does a training step by an
// optimizer that updates only rows with a gradient (train::adam: with .lazy).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <pinion/graph/scopes.hpp>
#include <pinion/nn/initializers.hpp>
#include <pinion/nn/partitioned_variable.hpp>
#include <pinion/op/gather/functions.hpp>
#include <pinion/op/layout/functions.hpp>
#include <pinion/op/slice/functions.hpp>

namespace pinion { inline namespace v0 { namespace nn {

// Options of embedding. The seed is that of the default initialiser and has no effect beside one of one's own. A
// partitioner cuts the table into parts along its rows, which guards and policies put on several tasks.
struct embedding_options {
  std::int64_t seed = 0;
  std::optional<nn::initializer> initializer = {};  // default: uniform in [-.05, .05)
  partitioner partition = {};                       // default: one variable
  std::string_view name = "embedding";
};

// Looks rows up: numbers in [0, rows), int32 or int64, of any shape [...] -> [..., width]. The table is the variable
// NAME/table [rows, width], or a partitioned variable of that name where a partitioner is given. The gradient is
// sparse, so a training step writes only the rows that it looked up. Throws invalid_argument unless rows and width are
// positive. The dtype of the table is float unless T is given: embedding<double>(...). A number outside of the rows
// fails the step with invalid_argument. No gradient flows to the numbers. TensorFlow: tf.nn.embedding_lookup of a
// variable made here.
//
//   auto mean = pn::reduce_mean(pn::nn::embedding(ids, 10000, 64), {.axes = {1}});       // a bag of words, [n, 64]
template <element T = float, dsl::graph_operand I>
expr<T> embedding(I&& numbers, std::int64_t rows, std::int64_t width, const embedding_options& options = {},
                  source_location where = source_location::current()) {
  static_assert(is_integer(dtype_of<dsl::value_of<I>>), "an embedding is looked up by int32 or int64");
  if (rows < 1 || width < 1)
    throw error(errc::invalid_argument, "an embedding of " + std::to_string(rows) + " rows of " +
                                            std::to_string(width) + "; both are positive");
  const name_scope scope{options.name};
  const initializer first = options.initializer.value_or(random_uniform_initializer(-.05, .05, options.seed));
  if (options.partition) {
    const partitioned_variable<T> table({rows, width}, first, {.name = "table", .partition = options.partition}, where);
    return gather(table, std::forward<I>(numbers), {}, where);
  }
  const auto table = variable(first.of<T>({rows, width}, where), {.name = "table"}, where);
  return gather(table, std::forward<I>(numbers), {}, where);
}

}}}  // namespace pinion::v0::nn
