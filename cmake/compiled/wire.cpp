// The part of pinion::compiled that holds the bodies of what tasks tell each other.
#include <pinion/base/config.hpp>
#if PINION_HAS_DISTRIBUTED
#include <pinion/distributed/wire/admission.ipp>
#include <pinion/distributed/wire/fingerprint.ipp>
#include <pinion/distributed/wire/graph.ipp>
#include <pinion/distributed/wire/messages.hpp>
#include <pinion/distributed/wire/patient_mutex.ipp>
#include <pinion/distributed/wire/peers.ipp>
#include <pinion/distributed/wire/program.ipp>
#include <pinion/distributed/wire/step.ipp>
#include <pinion/distributed/wire/subgraph.ipp>
#include <pinion/distributed/wire/task_name.ipp>
#include <pinion/distributed/wire/task_searches.ipp>
#include <pinion/distributed/wire/values.ipp>
#include <pinion/distributed/wire/waiting.ipp>

#define PINION_HOLD_MESSAGE(M)                          \
  template message encode(const distributed::M& value); \
  template void read_all(reader& in, distributed::M& value);
namespace pinion { inline namespace v0 { namespace rpc {
PINION_EACH_MESSAGE(PINION_HOLD_MESSAGE)
}}}  // namespace pinion::v0::rpc
#endif
