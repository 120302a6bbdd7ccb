// What neural networks are made of: losses, class scores, look-ups.
#pragma once

#include <string_view>
#include <utility>

#include <pinion/dsl/node_call.hpp>

namespace pinion::inline v0 {

// Along the last axis: e^x / sum(e^x), and its logarithm.
template <dsl::graph_operand A>
auto softmax(A&& x, std::string_view name = {}, source_location where = source_location::current()) {
  return dsl::node_call<op::softmax, dsl::value_of<A>>(name, where, {}, std::forward<A>(x));
}
template <dsl::graph_operand A>
auto log_softmax(A&& x, std::string_view name = {}, source_location where = source_location::current()) {
  return dsl::node_call<op::log_softmax, dsl::value_of<A>>(name, where, {}, std::forward<A>(x));
}

// Labels [n, c] as distributions, logits [n, c] -> the loss of each row, [n].
template <dsl::graph_operand L, dsl::graph_operand A>
auto softmax_cross_entropy_with_logits(L&& labels, A&& logits, std::string_view name = {},
                                       source_location where = source_location::current()) {
  static_assert(dsl::same_dtype<dsl::value_of<L>, dsl::value_of<A>>,
                "labels and logits have different dtypes; pn::cast<T>(x) converts one of them");
  return dsl::node_call<op::softmax_cross_entropy, dsl::value_of<A>>(name, where, {}, std::forward<L>(labels),
                                                                     std::forward<A>(logits));
}
// Labels [n] as class numbers, int32 or int64.
template <dsl::graph_operand L, dsl::graph_operand A>
auto sparse_softmax_cross_entropy_with_logits(L&& labels, A&& logits, std::string_view name = {},
                                              source_location where = source_location::current()) {
  static_assert(is_integer(dtype_of<dsl::value_of<L>>),
                "labels are class numbers, int32 or int64; pn::cast<int>(x) converts");
  return dsl::node_call<op::sparse_softmax_cross_entropy, dsl::value_of<A>>(name, where, {}, std::forward<L>(labels),
                                                                            std::forward<A>(logits));
}
// Is the target among the k greatest predictions of its row? [n, c] and [n] -> bool [n].
template <dsl::graph_operand A, dsl::graph_operand L>
auto in_top_k(A&& predictions, L&& targets, std::int64_t k = 1, std::string_view name = {},
              source_location where = source_location::current()) {
  return dsl::node_call<op::in_top_k, bool>(name, where, {{"k", k}}, std::forward<A>(predictions),
                                            std::forward<L>(targets));
}

}  // namespace pinion::inline v0
