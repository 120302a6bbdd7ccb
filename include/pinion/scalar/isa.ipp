// Bodies of <pinion/scalar/isa.hpp>.
#pragma once

#include <cstdlib>
#include <string>

#include <pinion/base/error.hpp>
#include <pinion/scalar/isa.hpp>

namespace pinion { inline namespace v0 { namespace scalar { namespace isa {

#if defined(__x86_64__)
PINION_DECL bool avx2::supported() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

PINION_DECL bool avx512::supported() {
  __builtin_cpu_init();
  return avx2::supported() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}
#endif

PINION_DECL std::string_view name(int index) {
  std::string_view found;
  for_each([&]<class Isa>(int i) { found = i == index ? Isa::name : found; });
  return found;
}

PINION_DECL int bytes(int index) {
  int found = 0;
  for_each([&]<class Isa>(int i) { found = i == index ? Isa::bytes : found; });
  return found;
}

}}}}  // namespace pinion::v0::scalar::isa

namespace pinion { inline namespace v0 { namespace scalar { namespace isa { namespace detail {

PINION_DECL int choose(std::string_view limit) {
  int best = -1;
  bool below_limit = true;
  std::string names;
  for_each([&]<class Isa>(int i) {
    if (is_compiled<Isa>) names += (names.empty() ? "" : ", ") + std::string(Isa::name);
    if (is_compiled<Isa> && below_limit && Isa::supported()) best = i;
    if (Isa::name == limit) below_limit = false;
  });
  if (best >= 0) return best;
  throw error(errc::failed_precondition,
              "the kernels of this program are for machines that have " + names + ", and this machine has no such " +
                  "instructions, or PINION_ISA keeps them from use; PINION_INSTRUCTION_SETS=all, where pinion is " +
                  "built, makes kernels for all machines");
}

}}}}}  // namespace pinion::v0::scalar::isa::detail

namespace pinion { inline namespace v0 { namespace scalar { namespace isa {

PINION_DECL void refuse_missing(int index) {
  throw error(errc::failed_precondition,
              "a unit of this program was compiled for other instruction sets than the rest (PINION_INSTRUCTION_SET), "
              "and has no kernels for " +
                  std::string(name(index)) + "; compile all units with the same, or with none");
}

PINION_DECL int best() {
  static const int chosen = [] {
    const char* limit = std::getenv("PINION_ISA");
    return detail::choose(limit ? limit : "");
  }();
  return chosen;
}

}}}}  // namespace pinion::v0::scalar::isa
