// Running graphs in this process: sessions, plans, the CPU and simulated devices.
#pragma once

#include <pinion/graph.hpp>

#include <pinion/dsl/own_op.hpp>
#include <pinion/runtime/session.hpp>
