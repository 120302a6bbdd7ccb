// The part of pinion::compiled that holds the bodies of workers and servers.
#include <pinion/base/config.hpp>
#if PINION_HAS_DISTRIBUTED
#include <pinion/distributed/builders.ipp>
#include <pinion/distributed/calls.ipp>
#include <pinion/distributed/exchange.ipp>
#include <pinion/distributed/kept_steps.ipp>
#include <pinion/distributed/party.ipp>
#include <pinion/distributed/peers.ipp>
#include <pinion/distributed/remote_rendezvous.ipp>
#include <pinion/distributed/server.ipp>
#include <pinion/distributed/server_core.ipp>
#include <pinion/distributed/task_name.ipp>
#include <pinion/distributed/task_server.ipp>
#include <pinion/distributed/users.ipp>
#include <pinion/distributed/waiting.ipp>
#include <pinion/distributed/worker.ipp>
#endif
