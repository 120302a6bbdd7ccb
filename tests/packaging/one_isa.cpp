// Kernels of one instruction set alone (PINION_INSTRUCTION_SETS): says which it is that a body runs in, or why none is.
#include <pinion/scalar/isa.hpp>

#include <cstdio>
#include <string>
#include <string_view>

namespace {

struct tell_name {
  template <class Isa>
  static PINION_INLINE void run(std::string_view* name) {
    *name = Isa::name;
  }
};

}  // namespace

int main() try {
  std::string_view name;
  pinion::scalar::dispatch<tell_name>(&name);
  std::printf("%s\n", std::string(name).c_str());
} catch (const pinion::error& e) {
  std::printf("%s\n", std::string(e.sentence()).c_str());
}
