// The part of pinion::compiled that holds the bodies of workers.
#include <pinion/base/config.hpp>
#if PINION_HAS_DISTRIBUTED
#include <pinion/distributed/worker/active_runs.ipp>
#include <pinion/distributed/worker/awaited_values.ipp>
#include <pinion/distributed/worker/builders.ipp>
#include <pinion/distributed/worker/credit_account.ipp>
#include <pinion/distributed/worker/early_values.ipp>
#include <pinion/distributed/worker/exchange.ipp>
#include <pinion/distributed/worker/kept_graphs.ipp>
#include <pinion/distributed/worker/kept_steps.ipp>
#include <pinion/distributed/worker/offers.ipp>
#include <pinion/distributed/worker/recent_failures.ipp>
#include <pinion/distributed/worker/remote_rendezvous.ipp>
#include <pinion/distributed/worker/run_table.ipp>
#include <pinion/distributed/worker/sender_channels.ipp>
#include <pinion/distributed/worker/step_counts.ipp>
#include <pinion/distributed/worker/step_registrar.ipp>
#include <pinion/distributed/worker/unsettled_parts.ipp>
#include <pinion/distributed/worker/worker.ipp>
#endif
