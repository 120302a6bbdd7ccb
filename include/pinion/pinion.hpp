// All of pinion but the CUDA back end; clusters where Asio, Cereal and OpenSSL are there.
#pragma once

#include <pinion/graph.hpp>
#include <pinion/session.hpp>
#include <pinion/train.hpp>
#if PINION_HAS_DISTRIBUTED
#include <pinion/distributed.hpp>
#endif
