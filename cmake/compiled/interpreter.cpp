// The part of pinion::compiled that holds the interpreter of scalar programs.
#include <pinion/scalar/interpreter.ipp>
#include <pinion/scalar/tile_plan.ipp>
