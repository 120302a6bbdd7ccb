// All of pinion that a program of one process needs.
#pragma once

#include <pinion/graph.hpp>
#include <pinion/session.hpp>
#include <pinion/train.hpp>
