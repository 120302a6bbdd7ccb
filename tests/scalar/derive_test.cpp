// The derivative of a program is a program.
#include <catch2/catch.hpp>

#include <algorithm>

#include <pinion/scalar/derive.hpp>
#include <pinion/scalar/functors.hpp>
#include <pinion/scalar/record.hpp>

namespace {

using namespace pinion;
using namespace pinion::scalar;
using part = scalar::operand<program>;
using value = symbol<program>;

template <class F>
program of() {
  return record<program, F>(dtype::float32, dtype::float32);
}
// The derivative of a formula of one variable, as it is executed.
template <class Formula>
std::string derivative(Formula formula) {
  program p;
  p.arithmetic = dtype::float32;
  const value x{&p, p.emit_input(false)};
  p.results.push_back({formula(x).id, dtype::float32});
  return to_string(executable(derive(p)));
}

}  // namespace

TEST_CASE("the derivative of elu(x + b) asks for one exponential and no more") {
  const program sum = of<functor::add>();
  const program p = compose<program, 1>(of<functor::elu>(), {part{part::absorbed, {}, &sum}});
  CHECK(to_string(executable(derive(p))) ==
        "%0 = input 0\n%1 = input 1\n%2 = add %0 %1\n%3 = constant 0\n%4 = min %2 %3\n%5 = constant 0\n"
        "%6 = lt %5 %2\n%7 = expm1 %4\n%8 = select %6 %2 %7\n%9 = constant 0\n%10 = le %9 %8\n"
        "%11 = constant 1\n%12 = add %8 %11\n%13 = constant 1\n%14 = select %10 %13 %12\n%15 = input 2\n"
        "%16 = mul %15 %14\nreturn %16:float %16:float");
}

TEST_CASE("the gradient of a node of elu(x + b) takes its output, and computes no exponential") {
  const program sum = of<functor::add>();
  const program p = compose<program, 1>(of<functor::elu>(), {part{part::absorbed, {}, &sum}});
  CHECK(to_string(executable(derive_for_node(p))) ==
        "%0 = input 0\n%1 = input 1\n%2 = input 2\n%3 = constant 0\n%4 = le %3 %2\n%5 = constant 1\n"
        "%6 = add %2 %5\n%7 = constant 1\n%8 = select %4 %7 %6\n%9 = input 3\n%10 = mul %9 %8\n"
        "return %10:float %10:float");
}

TEMPLATE_TEST_CASE("the gradients of these functions compute no real function where the output is there", "",
                   functor::elu, functor::sigmoid, functor::hyperbolic_tangent, functor::exponential,
                   functor::square_root, functor::reciprocal_square_root) {
  const program d = derive_for_node(of<TestType>());
  CHECK(d.inputs == 3);
  CHECK(std::none_of(d.code.begin(), d.code.end(), [](const auto& in) { return is_real_function(in.op); }));
}

TEMPLATE_TEST_CASE("a gradient that the output saves nothing does not take it", "", functor::logarithm, functor::sine,
                   functor::softplus, functor::multiply, functor::relu) {
  CHECK(to_string(derive_for_node(of<TestType>())) == to_string(derive(of<TestType>())));
}

TEST_CASE("primitives are differentiated by their rules") {
  CHECK(derivative([](value x) { return sin(x); }) ==
        "%0 = input 0\n%1 = input 1\n%2 = cos %0\n%3 = mul %1 %2\nreturn %3:float");
  CHECK(derivative([](value x) { return exp(x); }) ==
        "%0 = input 0\n%1 = exp %0\n%2 = input 1\n%3 = mul %2 %1\nreturn %3:float");
  CHECK(derivative([](value x) { return -x; }) == "%0 = input 0\n%1 = input 1\n%2 = neg %1\nreturn %2:float");
}

TEST_CASE("a value used twice gathers both adjoints") {
  CHECK(derivative([](value x) { return x * x; }) ==
        "%0 = input 0\n%1 = input 1\n%2 = mul %1 %0\n%3 = mul %1 %0\n%4 = add %2 %3\nreturn %4:float");
}

TEST_CASE("a stated derivative is taken at its word") {
  CHECK(derivative([](value x) { return with_derivative(x * x, x, sin(x)); }) ==
        "%0 = input 0\n%1 = sin %0\n%2 = input 1\n%3 = mul %2 %1\nreturn %3:float");
}

TEST_CASE("a stated derivative of 1 or 0 chooses: what is infinite is not multiplied by 0") {
  CHECK(derivative([](value x) { return functor::relu::apply(x); }) ==
        "%0 = input 0\n%1 = constant 0\n%2 = lt %1 %0\n%3 = input 1\n%4 = constant 0\n%5 = select %2 %3 %4\n"
        "return %5:float");
}

TEST_CASE("a chain of stated derivatives has one for each operand") {
  program p;
  p.arithmetic = dtype::float32;
  const value x{&p, p.emit_input(false)}, y{&p, p.emit_input(false)};
  const value product = x * y, by_x = cos(x), by_y = sin(y);
  p.results.push_back({with_derivative(with_derivative(product, x, by_x), y, by_y).id, dtype::float32});
  CHECK(to_string(executable(derive(p))) ==
        "%0 = input 0\n%1 = input 1\n%2 = cos %0\n%3 = sin %1\n%4 = input 2\n%5 = mul %4 %3\n%6 = mul %4 %2\n"
        "return %6:float %5:float");
}

TEST_CASE("nothing flows through masks and steps") {
  CHECK(derivative([](value x) { return floor(x); }) == "%0 = input 0\n%1 = input 1\n%2 = constant 0\nreturn %2:float");
  CHECK(derivative([](value x) { return select(x > 1.0, 2.0, 3.0); }) ==
        "%0 = input 0\n%1 = input 1\n%2 = constant 0\nreturn %2:float");
  CHECK(to_string(executable(derive(of<functor::selection>()))) ==
        "%0 = mask 0\n%1 = input 1\n%2 = input 2\n%3 = input 3\n%4 = constant 0\n%5 = select %0 %3 %4\n"
        "%6 = constant 0\n%7 = select %0 %6 %3\n%8 = constant 0\nreturn %8:float %5:float %7:float");
}

TEST_CASE("a derivative has a derivative") {
  const program first = derive(of<functor::exponential>()), second = derive(first);
  CHECK(second.inputs == 3);
  CHECK(to_string(executable(second)) ==
        "%0 = input 0\n%1 = exp %0\n%2 = input 1\n%3 = input 2\n%4 = mul %3 %1\n%5 = mul %3 %2\n%6 = mul %5 %1\n"
        "return %6:float %4:float");
}
