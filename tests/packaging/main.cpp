// A program of two units that include everything.
#include <cstdio>
#include <string>

using function = std::string (*)();
extern "C" function touch_of_a_unit();
extern "C" function touch_of_another_unit();

int main() {
  const std::string said = touch_of_a_unit()();
  std::printf("%s\n", said.c_str());
  return touch_of_a_unit() == touch_of_another_unit() && said == touch_of_another_unit()() ? 0 : 1;
}
