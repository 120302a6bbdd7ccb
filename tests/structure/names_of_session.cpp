// Public names that <pinion/session.hpp> brings by itself, beside those of graph.hpp: those of README, and more.
#include <pinion/session.hpp>

namespace names_of_session::of_pinion {

using pinion::call;
using pinion::callable;
using pinion::cuda_available;
using pinion::feed;
using pinion::feeds;
using pinion::fetches;
using pinion::kernel;
using pinion::kernel_context;
using pinion::product_precision;
using pinion::register_op;
using pinion::session;
using pinion::session_options;
using pinion::step_trace;
using pinion::targets;

}  // namespace names_of_session::of_pinion

namespace names_of_session::of_pinion_sim {

using pinion::sim::accelerator;
using pinion::sim::gpu;
using pinion::sim::machine;

}  // namespace names_of_session::of_pinion_sim
