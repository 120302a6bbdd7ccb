// expect: texts are not counted by their value; a comparison makes bools
// Texts of which none is empty.
#include <pinion/graph.hpp>

auto counted(pinion::expr<std::string> names) {
#ifdef ACCEPT
  return count_nonzero(shape_of(names));
#else
  return count_nonzero(names);
#endif
}
