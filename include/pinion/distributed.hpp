// Runs graphs on a cluster: servers, and the sessions that target them. A program that includes this header can make
// sessions with a target "pinion://host:port".
#pragma once

#include <pinion/base/config.hpp>
#if !PINION_HAS_DISTRIBUTED
#error \
    "pinion/distributed.hpp needs Asio, Cereal and OpenSSL (Debian, Ubuntu: apt-get install libasio-dev libcereal-dev libssl-dev)"
#endif

#include <pinion/base/log.hpp>
#include <pinion/distributed/client/sessions.hpp>
#include <pinion/distributed/server/local_cluster.hpp>
#include <pinion/distributed/server/server.hpp>
#include <pinion/distributed/status/inspect.hpp>
#include <pinion/distributed/status/metrics_server.hpp>
#include <pinion/distributed/status/metrics_text.hpp>
#include <pinion/session.hpp>
