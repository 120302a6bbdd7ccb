// The unit that the shared precompiled header hangs on (CMake makes none for a target whose every unit skips it).
#include "precompiled.hpp"
