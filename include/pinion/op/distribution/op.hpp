// Random numbers of distributions whose parameters are tensors: gamma and Poisson.
//
// Each has a tensor of parameters as input, and draws a tensor of attribute "shape" for each of them: the result has
// this shape with that of the input behind it. Element i of execution e is a function of ("seed", e, i) and of its
// parameter alone, as in op/random. Seed 0 stands for another one each time.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/opkit/attribute_list.hpp>
#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 { namespace op {

// alpha -> numbers of the gamma distribution of that shape parameter and scale 1, of the dtype of alpha. NaN for an
// alpha that is negative or NaN.
struct random_gamma {
  static constexpr std::string_view name = "RandomGamma";
  static constexpr input_count inputs = 1;
  static constexpr attribute_list attrs{attr::shape("shape"), attr::integer("seed").optional()};
  static constexpr kernel_set kernels{.cpu = dtypes::floating, .gpu = {}};
  static constexpr bool stateful = true;
  static constexpr std::string_view no_gradient =
      "numbers that random_gamma draws are not differentiated by alpha; they are by beta";
  static void infer(shape_context& c);
  static double work(const work_context& c);
};

// Rates, float or double -> numbers of the Poisson distributions of these means, of attribute "dtype". A rate that is
// negative or NaN yields NaN, and fails the step where the numbers are integers.
struct random_poisson {
  static constexpr std::string_view name = "RandomPoissonV2";
  static constexpr input_count inputs = 1;
  static constexpr attribute_list attrs{attr::shape("shape"), attr::dtype("dtype"), attr::integer("seed").optional()};
  static constexpr dtype_set types = dtypes::floating | dtypes::signed_integers;
  static constexpr kernel_set kernels{.cpu = types, .gpu = {}};
  static constexpr bool stateful = true;
  static constexpr std::string_view no_gradient =
      "numbers that random_poisson draws are whole, and do not change with the rate little by little";
  static void infer(shape_context& c);
  static double work(const work_context& c);
};

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/distribution/op.ipp>
#endif
