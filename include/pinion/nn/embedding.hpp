// Embeddings: a table of rows, looked up by number.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <pinion/graph/scopes.hpp>
#include <pinion/nn/initializers.hpp>
#include <pinion/nn/partitioned_variable.hpp>
#include <pinion/op/gather/spelling.hpp>
#include <pinion/op/layout/spelling.hpp>
#include <pinion/op/slice/spelling.hpp>

namespace pinion { inline namespace v0 { namespace nn {

struct embedding_options {
  std::int64_t seed = 0;
  std::optional<nn::initializer> initializer = {};  // empty: uniform in +-.05
  partitioner partition = {};                       // empty: one variable
  std::string_view name = "embedding";
};

// Numbers in [0, rows), int32 or int64, of any shape -> their rows, [.., width], of the variable NAME/table [rows,
// width]; with a partitioner, of the partitioned variable of that name. Its gradient is sparse: a step touches the rows
// that it looked up alone.
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
