// Random choices: of classes, of yes or no, of an order. Each is a few nodes of other ops around one of random_uniform,
// so a seed yields the same choices on every device and with any number of threads.
//
//   auto words = pn::multinomial(logits, 5, {.seed = 1});       // [n, c] -> [n, 5], class numbers
//   auto rows = pn::shuffle(x);                                 // the rows of x in another order in each run
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>
#include <pinion/op/elementwise/functions.hpp>
#include <pinion/op/gather/functions.hpp>
#include <pinion/op/layout/functions.hpp>
#include <pinion/op/order/functions.hpp>
#include <pinion/op/random/functions.hpp>
#include <pinion/op/reduce/functions.hpp>

namespace pinion { inline namespace v0 {

// Options of random choices. The numbers are those of random_uniform with this seed.
struct sample_options {
  std::int64_t seed = 0;  // 0: another one in each session
  std::string_view name = {};
};

namespace dsl {
// The dtype of the numbers that decide by a probability, which is a number or an expression.
template <class P>
struct deciding {
  static_assert(std::is_arithmetic_v<P>, "a probability is a number, or an expression of float or double");
  using type = float;
};
template <graph_operand P>
struct deciding<P> {
  using type = value_of<P>;
};

// The numbers below n, or below the extent of the first axis of `parts`, in a random order.
expr<int> random_order(std::int64_t n, std::int64_t seed, source_location where);
expr<int> random_order(const expr<double>& parts, std::int64_t seed, source_location where);
}  // namespace dsl

// Class numbers, int64 [m, n], drawn for each row of logits [m, c] by the probabilities softmax(logits): the class
// whose logit and a Gumbel variable, -log(-log(u)), have the greatest sum (Gumbel 1954). A class of logit -infinity is
// never drawn, and one of NaN always. The step holds m n c numbers. float, double; no gradient flows through it. Throws
// invalid_argument for logits of another rank. TensorFlow: tf.random.categorical, tf.multinomial; the draws are others.
template <dsl::graph_operand A>
auto multinomial(const A& logits, std::int64_t n, const sample_options& o = {},
                 source_location where = source_location::current()) {
  dsl::check_floating<A>();
  using T = dsl::value_of<A>;
  const expr<T> rows = logits;
  if (rows.shape().has_rank() && rows.shape().rank() != 2)
    throw error(errc::invalid_argument, "multinomial takes a row of logits for each draw, [m, c], but '" + rows.name() +
                                            "' has shape " + to_string(rows.shape()));
  const expr<T> each = add(expand_dims(rows, 1, {}, where), zeros<T>({n, 1}, {}, where), {}, where);
  const expr<T> u = dsl::random_like<op::random_uniform>(each, {{"seed", o.seed}}, where);
  const expr<T> gumbel = log(negative(log(u, {}, where), {}, where), {}, where);
  return argmax(subtract(each, gumbel, {}, where), 2, o.name.empty() ? "multinomial" : o.name, where);
}

// Bools of a shape, each true with probability p, which is a number, or an expression that broadcasts to the shape. No
// gradient flows to p. A p of 0 or less is never, and one of 1 or more always.
//
//   auto kept = pn::bernoulli(.9, {32, 64}, {.seed = 1});
template <class P>
auto bernoulli(const P& p, const shape& extent, const sample_options& o = {},
               source_location where = source_location::current()) {
  if constexpr (dsl::graph_operand<P>) dsl::check_floating<P>();
  using T = typename dsl::deciding<P>::type;
  const auto u = random_uniform<T>(extent, {.seed = o.seed}, where);
  if constexpr (dsl::graph_operand<P>)
    return dsl::map_compare<op::less>(o.name, where, u, p);
  else
    return dsl::map_compare<op::less>(o.name, where, u, static_cast<T>(p));
}

// x with its parts along the first axis in a random order, each order with the same probability. Any dtype. The
// gradient goes back to where the parts were. Throws invalid_argument for a scalar, and for texts whose number is not
// known. TensorFlow: tf.random.shuffle; the orders are others.
template <dsl::graph_operand A>
expr<dsl::value_of<A>> shuffle(const A& x, const sample_options& o = {},
                               source_location where = source_location::current()) {
  using T = dsl::value_of<A>;
  const expr<T> rows = x;
  const shape& s = rows.shape();
  if (!s.has_rank() || s.rank() == 0 || (s[0] < 0 && std::is_same_v<T, std::string>))
    throw error(errc::invalid_argument,
                "shuffle needs an axis of parts, of a known number where they are texts, but '" + rows.name() +
                    "' has shape " + to_string(s));
  const gather_options named{.name = o.name.empty() ? "shuffle" : o.name};
  if constexpr (!std::is_same_v<T, std::string>) {
    if (s[0] < 0)
      return gather(rows, dsl::random_order(cast<double>(zeros_like(rows, {}, where), {}, where), o.seed, where), named,
                    where);
  }
  return gather(rows, dsl::random_order(s[0], o.seed, where), named, where);
}

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/op/order/samples.ipp>
#endif
