// The feeds, fetches and targets of a step: the key under which a session keeps it compiled.
#pragma once

#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/node.hpp>

namespace pinion { inline namespace v0 { namespace runtime {

// The feeds, fetches and targets of a step. Equal signatures share one compiled step.
struct step_signature {
  std::vector<output> feeds;
  std::vector<output> fetches;
  std::vector<node_id> targets;
  std::vector<std::string> feed_devices = {};  // device that holds each feed; "" or an empty list: host memory
  bool check_values = false;                   // does the step look for NaN and infinities? See runtime/check
  friend bool operator==(const step_signature&, const step_signature&) = default;
};

// The signature of the same step, which checks values.
step_signature checking(step_signature s);

struct signature_hash {
  std::size_t operator()(const step_signature& s) const;
};

}}}  // namespace pinion::v0::runtime

#if PINION_HEADER_ONLY
#include <pinion/runtime/step/signature.ipp>
#endif
