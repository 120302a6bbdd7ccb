// The whole library in one include. Clusters are part of it where Asio, Cereal and OpenSSL are installed
// (PINION_HAS_DISTRIBUTED).
#pragma once

#include <pinion/graph.hpp>
#include <pinion/session.hpp>
#include <pinion/train.hpp>
#if PINION_HAS_DISTRIBUTED
#include <pinion/distributed.hpp>
#endif
