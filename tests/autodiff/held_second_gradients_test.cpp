// Second-order gradients run compiled, as plans tell: those of each op alone but a power of two expressions, and of
// activations of a sum.
#include <catch2/catch.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <pinion/graph.hpp>
#include <pinion/session.hpp>

#include "support/ends.hpp"
#include "support/interpreted.hpp"
#include "support/own_graph.hpp"

namespace {

using namespace pinion;

template <class T>
using function = std::function<expr<T>(const expr<T>&, const expr<T>&)>;
template <class T>
using functions = std::vector<std::pair<std::string, function<T>>>;

template <class T>
functions<T> of_one_operand() {
  using x = expr<T>;
  return {{"neg", [](const x& a, const x&) { return x(-a); }},
          {"abs", [](const x& a, const x&) { return x(abs(a)); }},
          {"exp", [](const x& a, const x&) { return x(exp(a)); }},
          {"log", [](const x& a, const x&) { return x(log(a)); }},
          {"log1p", [](const x& a, const x&) { return x(log1p(a)); }},
          {"sqrt", [](const x& a, const x&) { return x(sqrt(a)); }},
          {"rsqrt", [](const x& a, const x&) { return x(rsqrt(a)); }},
          {"square", [](const x& a, const x&) { return x(square(a)); }},
          {"tanh", [](const x& a, const x&) { return x(tanh(a)); }},
          {"erf", [](const x& a, const x&) { return x(erf(a)); }},
          {"erfc", [](const x& a, const x&) { return x(erfc(a)); }},
          {"sin", [](const x& a, const x&) { return x(sin(a)); }},
          {"cos", [](const x& a, const x&) { return x(cos(a)); }},
          {"relu", [](const x& a, const x&) { return x(relu(a)); }},
          {"elu", [](const x& a, const x&) { return x(elu(a)); }},
          {"sigmoid", [](const x& a, const x&) { return x(sigmoid(a)); }},
          {"softplus", [](const x& a, const x&) { return x(softplus(a)); }}};
}

template <class T>
functions<T> of_two_operands() {
  using x = expr<T>;
  return {{"add", [](const x& a, const x& b) { return x(a + b); }},
          {"sub", [](const x& a, const x& b) { return x(a - b); }},
          {"mul", [](const x& a, const x& b) { return x(a * b); }},
          {"div", [](const x& a, const x& b) { return x(a / b); }},
          {"min", [](const x& a, const x& b) { return x(minimum(a, b)); }},
          {"max", [](const x& a, const x& b) { return x(maximum(a, b)); }},
          {"select",
           [](const x& a, const x& b) {
             const auto mask = placeholder<bool>({8}, "mask");
             return x(select(mask, a, b));
           }},
          {"relu of a sum", [](const x& a, const x& b) { return x(relu(a + b)); }},
          {"elu of a sum", [](const x& a, const x& b) { return x(elu(a + b)); }},
          {"tanh of a sum", [](const x& a, const x& b) { return x(tanh(a + b)); }},
          {"sigmoid of a sum", [](const x& a, const x& b) { return x(sigmoid(a + b)); }},
          {"softplus of a sum", [](const x& a, const x& b) { return x(softplus(a + b)); }}};
}

template <class T>
functions<T> beside_a_number() {
  using x = expr<T>;
  return {{"x + n", [](const x& a, const x&) { return x(a + T(3)); }},
          {"x - n", [](const x& a, const x&) { return x(a - T(3)); }},
          {"n - x", [](const x& a, const x&) { return x(T(3) - a); }},
          {"x * n", [](const x& a, const x&) { return x(a * T(3)); }},
          {"x / n", [](const x& a, const x&) { return x(a / T(3)); }},
          {"n / x", [](const x& a, const x&) { return x(T(3) / a); }},
          {"pow(x, n)", [](const x& a, const x&) { return x(pow(a, T(3))); }},
          {"pow(n, x)", [](const x& a, const x&) { return x(pow(T(3), a)); }},
          {"max(x, n)", [](const x& a, const x&) { return x(maximum(a, T(3))); }},
          {"min(x, n)", [](const x& a, const x&) { return x(minimum(a, T(3))); }}};
}

// Plans the second-order gradients of f(x, y) by x, by y, and by the weights of the first ones.
template <class T>
void check_second_gradients(const std::string& name, const function<T>& f, bool by_both) {
  own_graph own;
  const auto x = placeholder<T>({8}, "x"), y = placeholder<T>({8}, "y"), weights = placeholder<T>({8}, "weights");
  const auto loss = reduce_sum(f(x, y) * weights);
  std::vector<expr<T>> first{std::get<0>(gradients(loss, x))};
  if (by_both) {
    first.push_back(std::get<0>(gradients(loss, y)));
    const auto [dx, dy] = gradients(loss, x, y);
    first.push_back(dx + dy);
  }
  std::vector<output> by{end_of(x), end_of(weights)};
  if (by_both) by.push_back(end_of(y));
  for (const expr<T>& d : first)
    for (const auto& second : autodiff::differentiate(own.g, {end_of(d)}, by)) {
      INFO(name);
      if (second) CHECK(interpreted_in(session().plan(expr<T>(own.g, second->dense))) == "");
    }
}

template <class T>
void check_all() {
  for (const auto& [name, f] : of_one_operand<T>()) check_second_gradients<T>(name, f, false);
  for (const auto& [name, f] : beside_a_number<T>()) check_second_gradients<T>(name, f, false);
  for (const auto& [name, f] : of_two_operands<T>()) check_second_gradients<T>(name, f, true);
}

}  // namespace

TEST_CASE("second-order gradients of elementwise ops are computed by compiled programs") {
  check_all<float>();
  check_all<double>();
}
