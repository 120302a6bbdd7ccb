// NVRTC, opened while the tests run: CUDA C to code for a GPU, without a GPU.
#pragma once

#include <optional>
#include <string>
#include <vector>

#if PINION_TEST_HAS_NVRTC
#include <dlfcn.h>
#include <nvrtc.h>

#include <stdexcept>
#endif

// A unit compiled for one architecture: its PTX, and the words of the assembler behind it.
struct compiled_unit {
  std::string ptx, log;
};

// Compiles a unit for "sm_90" or the like, with the registers of each kernel in the log; nothing where this build has
// no NVRTC. Throws what the compiler says.
inline std::optional<compiled_unit> compile_for_gpu(const std::string& text, const std::string& architecture) {
#if PINION_TEST_HAS_NVRTC
  static void* const library = dlopen(PINION_TEST_NVRTC, RTLD_NOW | RTLD_LOCAL);
  if (!library) throw std::runtime_error(dlerror());
#define PINION_NVRTC(name) const auto name = reinterpret_cast<decltype(&::name)>(dlsym(library, #name))
  PINION_NVRTC(nvrtcVersion);
  PINION_NVRTC(nvrtcCreateProgram);
  PINION_NVRTC(nvrtcCompileProgram);
  PINION_NVRTC(nvrtcGetProgramLogSize);
  PINION_NVRTC(nvrtcGetProgramLog);
  PINION_NVRTC(nvrtcGetPTXSize);
  PINION_NVRTC(nvrtcGetPTX);
  PINION_NVRTC(nvrtcDestroyProgram);
#undef PINION_NVRTC
  nvrtcProgram program = nullptr;
  if (nvrtcCreateProgram(&program, text.c_str(), "unit.cu", 0, nullptr, nullptr) != NVRTC_SUCCESS)
    throw std::runtime_error("NVRTC makes no program");
  const auto read = [&](auto size_of, auto get) {
    std::size_t size = 0;
    size_of(program, &size);
    std::string all(size, '\0');
    get(program, all.data());
    return all;
  };
  const std::string target = "-arch=" + architecture;
  std::vector<const char*> options{target.c_str(), "-std=c++17", "--ptxas-options=-v", "-w"};
  int major = 0, minor = 0;
  nvrtcVersion(&major, &minor);
  if (major >= 13) options.push_back("-minimal");  // as the library does
  const bool good = nvrtcCompileProgram(program, static_cast<int>(options.size()), options.data()) == NVRTC_SUCCESS;
  compiled_unit unit;
  unit.log = read(nvrtcGetProgramLogSize, nvrtcGetProgramLog);
  if (good) unit.ptx = read(nvrtcGetPTXSize, nvrtcGetPTX);
  nvrtcDestroyProgram(&program);
  if (!good) throw std::runtime_error(unit.log);
  return unit;
#else
  (void)text, (void)architecture;
  return std::nullopt;
#endif
}
