// Defines the name by which units of the compiled mode know each other.
#include <pinion/base/config.hpp>

extern "C" {
__thread char pinion_units_of_header_only_and_compiled_mode_do_not_link = 0;
}
