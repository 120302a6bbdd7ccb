// Public names that <pinion/train.hpp> brings by itself, beside those of session.hpp: those of README, and more.
#include <pinion/train.hpp>

namespace names_of_train::of_pinion {

using pinion::page_locked;
using pinion::page_locked_tensor;

}  // namespace names_of_train::of_pinion

namespace names_of_train::of_pinion_train {

using pinion::train::accuracy;
using pinion::train::adagrad;
using pinion::train::adam;
using pinion::train::checkpoint_saver;
using pinion::train::clip_by_global_norm;
using pinion::train::clip_by_value;
using pinion::train::coordinator;
using pinion::train::early_stopping;
using pinion::train::event;
using pinion::train::feed_fn;
using pinion::train::final_ops;
using pinion::train::get_or_create_global_step;
using pinion::train::get_total_loss;
using pinion::train::global_step_waiter;
using pinion::train::gradient_descent;
using pinion::train::latest_checkpoint;
using pinion::train::listed_checkpoints;
using pinion::train::logging_tensor;
using pinion::train::mean;
using pinion::train::momentum;
using pinion::train::monitored_session_options;
using pinion::train::monitored_training_session;
using pinion::train::nan_tensor;
using pinion::train::optimizer;
using pinion::train::profiler;
using pinion::train::progress_bar;
using pinion::train::queue_runner;
using pinion::train::reduction;
using pinion::train::replicate;
using pinion::train::restore_options;
using pinion::train::rmsprop;
using pinion::train::run_context;
using pinion::train::run_in_threads;
using pinion::train::saved_as;
using pinion::train::saver;
using pinion::train::saver_options;
using pinion::train::scaffold;
using pinion::train::silent;
using pinion::train::softmax_cross_entropy;
using pinion::train::ssp;
using pinion::train::step_counter;
using pinion::train::stop_at_step;
using pinion::train::summary_saver;
using pinion::train::summary_writer;
using pinion::train::sync_replicas;
using pinion::train::to_device;

}  // namespace names_of_train::of_pinion_train

namespace names_of_train::of_pinion_train_summary {

using pinion::train::summary::histogram;
using pinion::train::summary::image;
using pinion::train::summary::merge;
using pinion::train::summary::merge_all;
using pinion::train::summary::scalar;
using pinion::train::summary::text;

}  // namespace names_of_train::of_pinion_train_summary
