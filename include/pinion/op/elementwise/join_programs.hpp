// Joins the scalar programs of two elementwise nodes, of which one reads a result of the other, to one program.
#pragma once

#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/scalar/program.hpp>

namespace pinion { inline namespace v0 { namespace op {

// The numbers that the inputs of two programs have in the joined one.
struct joint_inputs {
  static constexpr int computed = -1;  // an input of the consumer that the producer yields
  static constexpr int unread = -2;    // an input that no instruction reads, and that the joined program does not have

  std::vector<int> of_consumer, of_producer;
};

// Returns the program of a consumer that computes result `k` of a producer itself. Its results are those of the
// consumer. The order of its instructions is one in which the DSL writes such a program, so that the kernel of an
// expression is found for it; where there is no kernel for any, its inputs come first. Requires: both compute in the
// same arithmetic type; each of the numbers of inputs is that of one input.
scalar::program join_programs(const scalar::program& consumer, const scalar::program& producer, std::size_t k,
                              const joint_inputs& inputs);

}}}  // namespace pinion::v0::op

#if PINION_HEADER_ONLY
#include <pinion/op/elementwise/join_programs.ipp>
#endif
