// All of pinion: graphs, sessions and training; and clusters where Asio, Cereal and OpenSSL are there.
#pragma once

#include <pinion/graph.hpp>
#include <pinion/session.hpp>
#include <pinion/train.hpp>
#if PINION_HAS_DISTRIBUTED
#include <pinion/distributed.hpp>
#endif
