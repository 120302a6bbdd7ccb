// Bodies of <pinion/op/ctc/functions.hpp>.
#pragma once

#include <string>

#include <pinion/op/ctc/functions.hpp>
#include <pinion/opkit/build.hpp>

namespace pinion { inline namespace v0 { namespace dsl {

PINION_DECL output make_ctc_loss(graph& g, output labels, output logits, const ctc_loss_options& options,
                                 source_location where) {
  std::vector<output> inputs{labels, logits};
  attributes attrs{{"blank", options.blank}};
  if (options.zero_infinity) attrs.set("zero_infinity", true);
  const auto add_lengths = [&](const char* attribute, const any_expr& lengths) {
    if (lengths.empty()) return;
    inputs.push_back(endpoint_of(lengths, where).endpoint(g));
    attrs.set(attribute, true);
  };
  add_lengths("label_lengths", options.label_lengths);
  add_lengths("logit_lengths", options.logit_lengths);
  const node_id made = build(g, {.op = std::string(op::ctc_loss::name),
                                 .base_name = std::string(options.name.empty() ? op::ctc_loss::name : options.name),
                                 .inputs = std::move(inputs),
                                 .attrs = std::move(attrs),
                                 .where = where});
  return {made, 0};
}

PINION_DECL output make_ctc_decoder(graph& g, output logits, const ctc_decoder_options& options,
                                    source_location where) {
  using decoder = op::ctc_greedy_decoder;
  std::vector<output> inputs{logits};
  if (!options.logit_lengths.empty()) inputs.push_back(endpoint_of(options.logit_lengths, where).endpoint(g));
  const node_id made = build(g, {.op = std::string(decoder::name),
                                 .base_name = std::string(options.name.empty() ? decoder::name : options.name),
                                 .inputs = std::move(inputs),
                                 .attrs = {{"blank", options.blank}, {"merge_repeated", options.merge_repeated}},
                                 .where = where});
  return {made, 0};
}

}}}  // namespace pinion::v0::dsl
