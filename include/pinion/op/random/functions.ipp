// Bodies of <pinion/op/random/functions.hpp>.
#pragma once

#include <pinion/op/random/functions.hpp>

namespace pinion { inline namespace v0 { namespace dsl {

PINION_DECL attributes random_attributes(const uniform_options& o) {
  attributes attrs{{"minval", o.minval}, {"maxval", o.maxval}, {"seed", o.seed}};
  if (o.first) attrs.set("first", o.first);
  return attrs;
}

PINION_DECL attributes random_attributes(const normal_options& o) {
  attributes attrs{{"mean", o.mean}, {"stddev", o.stddev}, {"seed", o.seed}};
  if (o.first) attrs.set("first", o.first);
  return attrs;
}

}}}  // namespace pinion::v0::dsl
