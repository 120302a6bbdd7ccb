// The part of pinion::compiled that holds the bodies of rpc and distributed.
#include <pinion/base/config.hpp>
#if PINION_HAS_DISTRIBUTED
#include <pinion/distributed/local_cluster.ipp>
#include <pinion/distributed/server.ipp>
#include <pinion/distributed/sessions.ipp>
#include <pinion/distributed/task_server.ipp>
#endif
