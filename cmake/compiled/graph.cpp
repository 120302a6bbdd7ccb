// The part of pinion::compiled that holds what <pinion/graph.hpp> leaves out.
#define PINION_DEFINE_GRAPH 1
#include <pinion/graph.hpp>
