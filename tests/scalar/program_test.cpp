// Scalar programs: recorded from functors, composed, made executable, compared and printed.
#include <catch2/catch.hpp>

#include <pinion/op/elementwise/program.hpp>
#include <pinion/scalar/functors.hpp>
#include <pinion/scalar/record.hpp>

namespace {

using namespace pinion;
using namespace pinion::scalar;
using part = scalar::operand<program>;

template <class F>
program of(dtype type = dtype::float32, dtype result = dtype::float32) {
  return record<program, F>(type, result);
}
program elu_of_sum() {
  const program sum = of<functor::add>();
  return compose<program, 1>(of<functor::elu>(), {part{part::absorbed, {}, &sum}});
}

// The same, as the compiler knows it.
using sum_type = dsl::mapped<functor::add, float, float, dsl::number_argument, dsl::number_argument>;
using elu_type = dsl::mapped<functor::elu, float, float, sum_type>;
using cube_type = dsl::mapped<functor::multiply, float, float,
                              dsl::mapped<functor::squared, float, float, dsl::number_argument>, dsl::literal_argument>;

static_assert(elu_type::extent.operations == 9);
static_assert(elu_type::extent.leaves == 2);

template <class P>
constexpr bool extent_is_right() {
  return P::extent.operations == operation_count(P::recorded) && P::extent.leaves == P::recorded.inputs &&
         P::extent.instructions == P::recorded.code.size() && P::extent.literals == P::recorded.literals.size() &&
         P::extent.constants == P::recorded.constants.size();
}
static_assert(extent_is_right<sum_type>() && extent_is_right<elu_type>() && extent_is_right<cube_type>());
static_assert(
    extent_is_right<dsl::mapped<functor::selection, float, float, dsl::mask_argument, elu_type, cube_type>>());
static_assert(operation_count(elu_type::executable) == 5, "a stated derivative is no part of the kernel");
static_assert(fingerprint(elu_type::recorded) != fingerprint(elu_type::executable));
static_assert(fingerprint(elu_type::recorded) != fingerprint(sum_type::recorded));
static_assert(same_structure(elu_type::recorded, elu_type::recorded));
static_assert(!same_structure(elu_type::recorded, sum_type::recorded));

}  // namespace

TEST_CASE("a functor run on symbols writes its program down") {
  CHECK(to_string(of<functor::multiply>()) == "%0 = input 0\n%1 = input 1\n%2 = mul %0 %1\nreturn %2:float");
  CHECK(to_string(of<functor::relu>()) ==
        "%0 = input 0\n%1 = constant 0\n%2 = le %0 %1\n%3 = constant 0\n%4 = select %2 %3 %0\n%5 = constant 0\n"
        "%6 = lt %5 %0\n%7 = constant 1\n%8 = constant 0\n%9 = select %6 %7 %8\n%10 = partial %4 %0 %9\n"
        "return %10:float");
  CHECK(to_string(of<functor::greater>(dtype::int32, dtype::boolean)) ==
        "%0 = input 0\n%1 = input 1\n%2 = lt %1 %0\nreturn %2:bool");
  CHECK(to_string(of<functor::logical_not>(dtype::boolean, dtype::boolean)) ==
        "%0 = mask 0\n%1 = not %0\nreturn %1:bool");
  CHECK(to_string(of<functor::selection>()) ==
        "%0 = mask 0\n%1 = input 1\n%2 = input 2\n%3 = select %0 %1 %2\nreturn %3:float");
}

TEST_CASE("operands are put in place and inputs numbered from left to right") {
  const program product = of<functor::multiply>();
  const program whole = compose<program, 2>(of<functor::subtract>(), {part{}, part{part::absorbed, {}, &product}});
  CHECK(to_string(whole) ==
        "%0 = input 0\n%1 = input 1\n%2 = input 2\n%3 = mul %1 %2\n%4 = sub %0 %3\nreturn %4:float");
}

TEST_CASE("a literal is a part of the program") {
  const program p = compose<program, 2>(of<functor::multiply>(), {part{part::number_literal, 2.5f, nullptr}, part{}});
  CHECK(to_string(p) == "%0 = literal 2.5\n%1 = input 0\n%2 = mul %0 %1\nreturn %2:float");
}

TEST_CASE("literals of any value have one fingerprint, constants have their own") {
  const auto times = [](number n) {
    return compose<program, 2>(of<functor::multiply>(), {part{part::number_literal, n, nullptr}, part{}});
  };
  CHECK(fingerprint(times(2)) == fingerprint(times(3)));
  CHECK(same_structure(times(2), times(3)));
  program a = of<functor::relu>(), b = a;
  b.constants[0] = 1;
  CHECK(fingerprint(a) != fingerprint(b));
  CHECK(!same_structure(a, b));
}

TEST_CASE("the arithmetic type, the result type and the order of operands are in the fingerprint") {
  CHECK(fingerprint(of<functor::add>(dtype::float32)) != fingerprint(of<functor::add>(dtype::float64)));
  CHECK(fingerprint(of<functor::identity>(dtype::float32, dtype::int32)) != fingerprint(of<functor::identity>()));
  CHECK(fingerprint(of<functor::less>(dtype::float32, dtype::boolean)) !=
        fingerprint(of<functor::greater>(dtype::float32, dtype::boolean)));
}

TEST_CASE("the compiler and the run-time record the same program") {
  CHECK(same_structure(elu_type::recorded, elu_of_sum()));
  CHECK(fingerprint(elu_type::recorded) == fingerprint(elu_of_sum()));
  CHECK(fingerprint(elu_type::executable) == fingerprint(executable(elu_of_sum())));
  CHECK(to_string(convert_program<program>(elu_type::executable)) == to_string(executable(elu_of_sum())));
  CHECK(fingerprint(dsl::gradient_of<elu_type>::executable) == fingerprint(executable(derive_for_node(elu_of_sum()))));
  CHECK(to_string(convert_program<program>(cube_type::recorded)) ==
        "%0 = input 0\n%1 = mul %0 %0\n%2 = literal 0\n%3 = mul %1 %2\nreturn %3:float");
}

TEST_CASE("what is executed holds no stated derivative and no dead value") {
  CHECK(to_string(executable(elu_of_sum())) ==
        "%0 = input 0\n%1 = input 1\n%2 = add %0 %1\n%3 = constant 0\n%4 = min %2 %3\n%5 = constant 0\n"
        "%6 = lt %5 %2\n%7 = expm1 %4\n%8 = select %6 %2 %7\nreturn %8:float");
  program p;
  p.arithmetic = dtype::float32;
  const auto x = p.emit_input(false), unused = p.emit_input(false);
  p.emit(opcode::exp, unused);
  const auto two = p.emit_literal(2);
  p.results.push_back({p.emit(opcode::multiply, x, two), dtype::float32});
  CHECK(to_string(executable(p)) == "%0 = input 0\n%1 = input 1\n%2 = literal 2\n%3 = mul %0 %2\nreturn %3:float");
}

TEST_CASE("numbers of integer programs print as integers") {
  const program p = compose<program, 2>(of<functor::add>(dtype::int64, dtype::int64),
                                        {part{}, part{part::number_literal, std::int64_t{9007199254740993}, nullptr}});
  CHECK(to_string(p) == "%0 = input 0\n%1 = literal 9007199254740993\n%2 = add %0 %1\nreturn %2:int64");
}
