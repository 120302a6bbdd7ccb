// The part of pinion::compiled that holds the bodies of servers.
#include <pinion/base/config.hpp>
#if PINION_HAS_DISTRIBUTED
#include <pinion/distributed/server/calls.ipp>
#include <pinion/distributed/server/draining.ipp>
#include <pinion/distributed/server/kept_file.ipp>
#include <pinion/distributed/server/kept_variables.ipp>
#include <pinion/distributed/server/local_cluster.ipp>
#include <pinion/distributed/server/master_service.ipp>
#include <pinion/distributed/server/membership.ipp>
#include <pinion/distributed/server/quotas.ipp>
#include <pinion/distributed/server/request_reader.ipp>
#include <pinion/distributed/server/server.ipp>
#include <pinion/distributed/server/spare_memory.ipp>
#include <pinion/distributed/server/task_server.ipp>
#include <pinion/distributed/server/task_setup.ipp>
#include <pinion/distributed/server/worker_service.ipp>
#endif
