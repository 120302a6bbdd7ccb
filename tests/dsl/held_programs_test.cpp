// The kernels that pinion::compiled holds are those that units of users leave to it.
#include <catch2/catch.hpp>

#include <pinion/op/elementwise/op.hpp>
#include <pinion/op/elementwise/program_kernels.hpp>
#include <pinion/session.hpp>

#include <span>

namespace {

using namespace pinion;
using dsl::literal_argument;
using dsl::mapped;
using dsl::number_argument;
namespace functor = scalar::functor;

template <class P>
bool has_kernel() {
  return scalar::find_compiled(scalar::convert_program<scalar::program>(P::executable)) != nullptr;
}

template <class P>
void check_held() {
  INFO(scalar::to_string(scalar::convert_program<scalar::program>(P::executable)));
  CHECK(dsl::held_by_library<P>);
  CHECK(has_kernel<P>() == scalar::compiles_kernels);
  if constexpr (dsl::has_gradient_kernel<P>()) CHECK(has_kernel<dsl::gradient_of<P>>() == scalar::compiles_kernels);
}
template <class... P>
void check_all_held(dsl::program_list<P...>) {
  (check_held<P>(), ...);
}

// Is the kernel of a node's program one of the library's?
bool runs_in(std::span<const scalar::compiled_kernel> table, const node& n) {
  const auto* found = scalar::find_compiled(scalar::executable(op::program_of(n.attrs)));
  return found && found >= table.data() && found < table.data() + table.size();
}

}  // namespace

TEMPLATE_TEST_CASE("the library has every kernel that it says it holds", "", float, double, std::int32_t, std::int64_t,
                   std::uint8_t, bool) {
  check_all_held(dsl::single_programs<TestType>{});
  if constexpr (std::is_floating_point_v<TestType>) check_all_held(dsl::fused_programs<TestType>{});
}

TEST_CASE("a program that is on no list is left to the unit that writes it") {
  using sum = mapped<functor::add, float, float, number_argument, number_argument>;
  CHECK(dsl::held_by_library<mapped<functor::relu, float, float, sum>>);
  CHECK_FALSE(dsl::held_by_library<mapped<functor::sine, float, float, sum>>);
}

TEST_CASE("a unit has the programs of the gradient of a program that ends in a cast") {
  using fused = mapped<functor::identity, float, double,
                       mapped<functor::hyperbolic_tangent, float, float,
                              mapped<functor::multiply, float, float, number_argument, number_argument>>>;
  const auto is_program_of = [](const auto& p, const node& n) {
    return scalar::same_structure(p, scalar::executable(op::program_of(n.attrs)));
  };
  graph g;
  const auto use = g.as_default();
  const auto x = placeholder<float>({3}), w = placeholder<float>({3});
  const expr<double> y = cast<double>(tanh(x * w));
  CHECK(is_program_of(fused::executable, y.node()));
  const auto [dx] = gradients(reduce_sum(y), x);
  CHECK(is_program_of(dsl::gradient_of<fused>::executable, dx.node()));
  CHECK(is_program_of(dsl::cast_back_of<fused>::type::executable, g[dx.node().inputs.back().node]));
}

TEST_CASE("a layer and its gradient run in kernels of the library") {
  if (!scalar::compiles_kernels) return;
  graph g;
  const auto use = g.as_default();
  const auto x = placeholder<float>({2, 3}), b = placeholder<float>({3});
  const expr<float> y = elu(bias_add(x, b));
  const auto [dx] = gradients(reduce_sum(y), x);
  const auto table = scalar::held_kernels::of_fusions_in_float();
  CHECK(runs_in(table, y.node()));
  CHECK(dx.op() == "MapGrad");
  CHECK(runs_in(table, dx.node()));
}
