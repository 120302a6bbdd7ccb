// The part of pinion::compiled that holds the bodies of masters.
#include <pinion/base/config.hpp>
#if PINION_HAS_DISTRIBUTED
#include <pinion/distributed/master/deadlines.ipp>
#include <pinion/distributed/master/known_tasks.ipp>
#include <pinion/distributed/master/local_masters.ipp>
#include <pinion/distributed/master/master.ipp>
#include <pinion/distributed/master/master_session.ipp>
#include <pinion/distributed/master/session_graph.ipp>
#include <pinion/distributed/master/session_partial_run.ipp>
#include <pinion/distributed/master/session_quota.ipp>
#include <pinion/distributed/master/session_run.ipp>
#include <pinion/distributed/master/session_runs.ipp>
#include <pinion/distributed/master/session_step.ipp>
#include <pinion/distributed/master/users.ipp>
#endif
