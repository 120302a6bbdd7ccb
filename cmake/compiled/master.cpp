// The part of pinion::compiled that holds the bodies of masters and their clients.
#include <pinion/base/config.hpp>
#if PINION_HAS_DISTRIBUTED
#include <pinion/distributed/known_tasks.ipp>
#include <pinion/distributed/local_cluster.ipp>
#include <pinion/distributed/local_masters.ipp>
#include <pinion/distributed/master.ipp>
#include <pinion/distributed/master_session.ipp>
#include <pinion/distributed/remote_session.ipp>
#include <pinion/distributed/session_run.ipp>
#include <pinion/distributed/session_step.ipp>
#include <pinion/distributed/sessions.ipp>
#endif
