// The second unit.
#include "use.hpp"

std::string (*touch_of_other_unit())() {
  return use::touch;
}
