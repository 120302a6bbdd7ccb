// Bodies of <pinion/op/convert/op.hpp>.
#pragma once

#include <string>

#include <pinion/op/convert/op.hpp>
#include <pinion/opkit/shape_context.hpp>

namespace pinion { inline namespace v0 { namespace op {

PINION_DECL void convert::infer(shape_context& c) {
  const dtype from = c.dtype(0), to = c.attrs().get<dtype>("dtype");
  const std::string between = std::string(to_string(from)) + " to " + std::string(to_string(to));
  if (!dtypes::moved.has(from) || !dtypes::moved.has(to)) c.fail("a conversion of " + between + " is not defined");
  if (!dtypes::stored.has(from) && !dtypes::stored.has(to))
    c.fail("Convert is from or to a dtype that is stored, such as half; Cast converts " + between);
  c.output(to, c.shape(0));
}

}}}  // namespace pinion::v0::op
