// The part of pinion::compiled that holds the bodies of what tasks tell each other.
#include <pinion/base/config.hpp>
#if PINION_HAS_DISTRIBUTED
#include <pinion/distributed/codec/admission.ipp>
#include <pinion/distributed/codec/graph.ipp>
#include <pinion/distributed/codec/program.ipp>
#include <pinion/distributed/codec/step.ipp>
#include <pinion/distributed/codec/subgraph.ipp>
#include <pinion/distributed/codec/values.ipp>
#include <pinion/distributed/messages.hpp>

#define PINION_HOLD_MESSAGE(M)                          \
  template message encode(const distributed::M& value); \
  template void read_all(reader& in, distributed::M& value);
namespace pinion::inline v0::rpc {
PINION_EACH_MESSAGE(PINION_HOLD_MESSAGE)
}
#endif
