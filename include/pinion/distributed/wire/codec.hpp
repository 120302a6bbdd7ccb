// The functions through which Cereal ships graphs, steps and values, and the checks on incoming ones.
#pragma once

#include <pinion/distributed/wire/graph.hpp>
#include <pinion/distributed/wire/program.hpp>
#include <pinion/distributed/wire/step.hpp>
#include <pinion/distributed/wire/subgraph.hpp>
#include <pinion/distributed/wire/values.hpp>
