// Bodies of <pinion/dsl/node_call.hpp>.
#pragma once

#include <string>
#include <utility>

#include <pinion/dsl/node_call.hpp>
#include <pinion/opkit/build.hpp>

namespace pinion { inline namespace v0 { namespace dsl {

PINION_DECL output make_node(graph& g, std::string_view op, std::string_view name, source_location where,
                             attributes attrs, std::initializer_list<output> inputs) {
  return {build(g, {.op = op,
                    .base_name = std::string(name.empty() ? op : name),
                    .inputs = inputs,
                    .attrs = std::move(attrs),
                    .where = where}),
          0};
}

}}}  // namespace pinion::v0::dsl
