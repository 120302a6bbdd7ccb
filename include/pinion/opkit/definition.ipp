// Bodies of <pinion/opkit/definition.hpp>.
#pragma once

#include <memory>
#include <string>

#include <pinion/opkit/definition.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL void check_input_count(const definition& def, const node& n) {
  input_count takes = def.inputs;
  if (takes.says_program()) takes = n.attrs.get<std::shared_ptr<const scalar::program>>("program")->inputs;
  const int given = static_cast<int>(n.inputs.size());
  if (given >= takes.least && given <= takes.most) return;
  const bool exactly = takes.least == takes.most || given > takes.most;
  if (given > takes.most) takes.least = takes.most;
  throw error(errc::invalid_argument, std::string(def.name) + " takes " + (exactly ? "" : "at least ") +
                                          std::to_string(takes.least) + (takes.least == 1 ? " input" : " inputs") +
                                          ", not " + std::to_string(given));
}

PINION_DECL int states_of(const definition& def, const node& n) {
  if (def.states != states_of_attribute) return def.states;
  const std::int64_t given = n.attrs.get<std::int64_t>("states");
  if (given <= 0 || given >= static_cast<std::int64_t>(n.inputs.size()))
    throw error(errc::invalid_argument, std::string(def.name) + " has no state or no gradient");
  return static_cast<int>(given);
}

}}  // namespace pinion::v0
