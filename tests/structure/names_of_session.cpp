// Public names that <pinion/session.hpp> brings by itself, beside those of graph.hpp.
#include <pinion/session.hpp>

namespace names_of_session::of_pinion {

using pinion::add_registered;
using pinion::address_of_target;
using pinion::binding;
using pinion::body_compiler;
using pinion::bound_body;
using pinion::call;
using pinion::callable;
using pinion::cancellation;
using pinion::cell;
using pinion::completion;
using pinion::cuda_available;
using pinion::device_tensor;
using pinion::fed_value;
using pinion::feed;
using pinion::feed_list;
using pinion::feeds;
using pinion::fetch_list;
using pinion::fetches;
using pinion::file_path;
using pinion::find_registered;
using pinion::gpu_options;
using pinion::handed_over;
using pinion::kernel;
using pinion::kernel_context;
using pinion::kernel_maker;
using pinion::kernel_setup;
using pinion::log_placement;
using pinion::loop_body;
using pinion::make_function_kernel;
using pinion::make_waiting_kernel;
using pinion::memory_sample;
using pinion::memory_use;
using pinion::nested_step;
using pinion::of_this_process;
using pinion::one_result;
using pinion::outcome;
using pinion::outcome_of;
using pinion::process_mark;
using pinion::product_precision;
using pinion::register_op;
using pinion::registered_op;
using pinion::registered_ops;
using pinion::registered_without_cuda;
using pinion::rendezvous;
using pinion::resource;
using pinion::resource_manager;
using pinion::run_request;
using pinion::security_options;
using pinion::session;
using pinion::session_link;
using pinion::session_options;
using pinion::shared_error;
using pinion::step_trace;
using pinion::step_tracer;
using pinion::step_watch;
using pinion::table_of_this_process;
using pinion::take_tuple;
using pinion::target_list;
using pinion::targets;
using pinion::task_services;
using pinion::text_sink;
using pinion::thread_pool;
using pinion::trace_event;
using pinion::transfer_key;
using pinion::value_on_device;

}  // namespace names_of_session::of_pinion

namespace names_of_session::of_pinion_sim {

using pinion::sim::accelerator;
using pinion::sim::gpu;
using pinion::sim::machine;
using pinion::sim::visible;

}  // namespace names_of_session::of_pinion_sim
