// The part of pinion::compiled that holds the bodies of runtime, but for its passes over graphs.
#include <pinion/runtime/backend.ipp>
#include <pinion/runtime/compiled_step.ipp>
#include <pinion/runtime/cost_recorder.ipp>
#include <pinion/runtime/direct_session.ipp>
#include <pinion/runtime/feed_check.ipp>
#include <pinion/runtime/fetches.ipp>
#include <pinion/runtime/local_partial_run.ipp>
#include <pinion/runtime/memory_use.ipp>
#include <pinion/runtime/options.ipp>
#include <pinion/runtime/partial_run.ipp>
#include <pinion/runtime/resource_manager.ipp>
#include <pinion/runtime/running_steps.ipp>
#include <pinion/runtime/session.ipp>
#include <pinion/runtime/session_bodies.ipp>
#include <pinion/runtime/step/arena.ipp>
#include <pinion/runtime/step/binder.ipp>
#include <pinion/runtime/step/bound_sequence.ipp>
#include <pinion/runtime/step/bound_step.ipp>
#include <pinion/runtime/step/executable.ipp>
#include <pinion/runtime/step/executor.ipp>
#include <pinion/runtime/step/lane_choice.ipp>
#include <pinion/runtime/step/lane_plan.ipp>
#include <pinion/runtime/step/lane_run.ipp>
#include <pinion/runtime/step/life_recorder.ipp>
#include <pinion/runtime/step/memory_plan.ipp>
#include <pinion/runtime/step/partial.ipp>
#include <pinion/runtime/step/partition.ipp>
#include <pinion/runtime/step/placed_steps.ipp>
#include <pinion/runtime/step/planned_memory.ipp>
#include <pinion/runtime/step/receive_late.ipp>
#include <pinion/runtime/step/rendezvous.ipp>
#include <pinion/runtime/step/replay_memory.ipp>
#include <pinion/runtime/step/segment.ipp>
#include <pinion/runtime/step/segments_of.ipp>
#include <pinion/runtime/step/signature.ipp>
#include <pinion/runtime/step/step_state.ipp>
#include <pinion/runtime/step/step_trace.ipp>
#include <pinion/runtime/step/step_tracer.ipp>
#include <pinion/runtime/step/timeline.ipp>

#include <pinion/runtime/step/value_lives.ipp>
#include <pinion/runtime/step/wrong_values.ipp>
#include <pinion/runtime/task.ipp>
#if PINION_HAS_DISTRIBUTED
#include <pinion/distributed/client/sessions.hpp>  // every session links this unit: it fills the scheme pinion:// too
#endif
