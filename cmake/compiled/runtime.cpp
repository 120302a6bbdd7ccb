// The part of pinion::compiled that holds the bodies of runtime.
#include <pinion/runtime/backend.ipp>
#include <pinion/runtime/compiled_step.ipp>
#include <pinion/runtime/cost_recorder.ipp>
#include <pinion/runtime/direct_session.ipp>
#include <pinion/runtime/fetches.ipp>
#include <pinion/runtime/optimize/compose_maps.ipp>
#include <pinion/runtime/optimize/draft.ipp>
#include <pinion/runtime/optimize/fold_constants.ipp>
#include <pinion/runtime/optimize/fold_transposes.ipp>
#include <pinion/runtime/optimize/optimize.ipp>
#include <pinion/runtime/optimize/share_common.ipp>
#include <pinion/runtime/options.ipp>
#include <pinion/runtime/resource_manager.ipp>
#include <pinion/runtime/running_steps.ipp>
#include <pinion/runtime/session.ipp>
#include <pinion/runtime/session_bodies.ipp>
#include <pinion/runtime/step/executable.ipp>
#include <pinion/runtime/step/executor.ipp>
#include <pinion/runtime/step/lane_choice.ipp>
#include <pinion/runtime/step/lane_plan.ipp>
#include <pinion/runtime/step/lane_run.ipp>
#include <pinion/runtime/step/partition.ipp>
#include <pinion/runtime/step/placed_steps.ipp>
#include <pinion/runtime/step/rendezvous.ipp>
#include <pinion/runtime/step/signature.ipp>
#include <pinion/runtime/step/step_trace.ipp>
#include <pinion/runtime/step/step_tracer.ipp>
#include <pinion/runtime/step/timeline.ipp>
#include <pinion/runtime/step/transfer_key.ipp>
#include <pinion/runtime/task.ipp>
#if PINION_HAS_DISTRIBUTED
#include <pinion/distributed/client/sessions.hpp>  // every session links this unit: it fills the scheme pinion:// too
#endif
