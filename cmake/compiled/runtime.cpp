// The part of pinion::compiled that holds the bodies of runtime.
#include <pinion/runtime/backend.ipp>
#include <pinion/runtime/compiled_step.ipp>
#include <pinion/runtime/cost_recorder.ipp>
#include <pinion/runtime/direct_session.ipp>
#include <pinion/runtime/executable.ipp>
#include <pinion/runtime/executor.ipp>
#include <pinion/runtime/optimize.ipp>
#include <pinion/runtime/optimize/compose_maps.ipp>
#include <pinion/runtime/optimize/draft.ipp>
#include <pinion/runtime/optimize/fold_constants.ipp>
#include <pinion/runtime/optimize/fold_transposes.ipp>
#include <pinion/runtime/optimize/share_common.ipp>
#include <pinion/runtime/options.ipp>
#include <pinion/runtime/partition.ipp>
#include <pinion/runtime/rendezvous.ipp>
#include <pinion/runtime/resource_manager.ipp>
#include <pinion/runtime/session.ipp>
#include <pinion/runtime/session_bodies.ipp>
#include <pinion/runtime/signature.ipp>
#include <pinion/runtime/step_trace.ipp>
#include <pinion/runtime/step_tracer.ipp>
#include <pinion/runtime/task.ipp>
#include <pinion/runtime/timeline.ipp>
#include <pinion/runtime/transfer_key.ipp>
#if PINION_HAS_DISTRIBUTED
#include <pinion/distributed/sessions.hpp>  // every session links this unit: it fills the scheme pinion:// too
#endif
