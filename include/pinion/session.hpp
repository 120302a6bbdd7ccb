// Runs graphs in this process: sessions, plans, the CPU, simulated devices and the op definitions a program may add. It
// needs no network library.
#pragma once

#include <pinion/graph.hpp>

#include <pinion/device/cuda/available.hpp>
#include <pinion/dsl/own_op.hpp>
#include <pinion/runtime/session.hpp>
