// Two units of one program include everything; they share one definition of each function.
#include "use.hpp"

#include <cstdio>

std::string (*touch_of_other_unit())();

int main() {
  std::printf("%s\n", use::touch().c_str());
  return use::touch == touch_of_other_unit() && use::touch() == touch_of_other_unit()() ? 0 : 1;
}
