// The part of pinion::compiled that holds the bodies of runtime.
#include <pinion/runtime/backend.ipp>
#include <pinion/runtime/options.ipp>
#include <pinion/runtime/session.ipp>
#include <pinion/runtime/signature.ipp>
#include <pinion/runtime/step_trace.ipp>
#include <pinion/runtime/step_tracer.ipp>
#include <pinion/runtime/timeline.ipp>
#if PINION_HAS_DISTRIBUTED
#include <pinion/distributed/sessions.hpp>  // every session links this unit: it fills the scheme pinion:// too
#endif
