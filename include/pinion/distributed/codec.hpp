// What Cereal needs to ship graphs, steps and values, and the checks on what comes in.
#pragma once

#include <pinion/distributed/codec/graph.hpp>
#include <pinion/distributed/codec/program.hpp>
#include <pinion/distributed/codec/step.hpp>
#include <pinion/distributed/codec/subgraph.hpp>
#include <pinion/distributed/codec/values.hpp>
