// A unit that includes everything. A program links it twice, once under another name: its units share one definition of
// each function.
#include "use.hpp"

using function = std::string (*)();
extern "C" function touch_of_a_unit() {
  return use::touch;
}
