// Running graphs on a cluster: servers, and sessions that target them.
#pragma once

#include <pinion/base/config.hpp>
#if !PINION_HAS_DISTRIBUTED
#error \
    "pinion/distributed.hpp needs Asio, Cereal and OpenSSL (Debian, Ubuntu: apt-get install libasio-dev libcereal-dev libssl-dev)"
#endif

#include <pinion/distributed/client/sessions.hpp>
#include <pinion/distributed/server/local_cluster.hpp>
#include <pinion/distributed/server/server.hpp>
#include <pinion/session.hpp>
