// Bodies of <pinion/device/cuda/compiler.hpp>.
#pragma once

#include <nvrtc.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include <pinion/base/error.hpp>
#include <pinion/base/process.hpp>
#include <pinion/device/cuda/compiler.hpp>

namespace pinion { inline namespace v0 { namespace cuda {

// NVRTC's functions, under the prototypes of its header.
struct compiler::functions {
  explicit functions(const shared_library& from) {
#define PINION_NVRTC(name) name = from.symbol<decltype(::nvrtc##name)>("nvrtc" #name), all &= name != nullptr
    PINION_NVRTC(Version);
    PINION_NVRTC(GetErrorString);
    PINION_NVRTC(GetNumSupportedArchs);
    PINION_NVRTC(GetSupportedArchs);
    PINION_NVRTC(CreateProgram);
    PINION_NVRTC(DestroyProgram);
    PINION_NVRTC(CompileProgram);
    PINION_NVRTC(GetProgramLogSize);
    PINION_NVRTC(GetProgramLog);
    PINION_NVRTC(GetCUBINSize);
    PINION_NVRTC(GetCUBIN);
    PINION_NVRTC(GetPTXSize);
    PINION_NVRTC(GetPTX);
#undef PINION_NVRTC
  }

  bool all = true, knows_minimal = false;
#define PINION_NVRTC(name) decltype(::nvrtc##name)* name = nullptr
  PINION_NVRTC(Version);
  PINION_NVRTC(GetErrorString);
  PINION_NVRTC(GetNumSupportedArchs);
  PINION_NVRTC(GetSupportedArchs);
  PINION_NVRTC(CreateProgram);
  PINION_NVRTC(DestroyProgram);
  PINION_NVRTC(CompileProgram);
  PINION_NVRTC(GetProgramLogSize);
  PINION_NVRTC(GetProgramLog);
  PINION_NVRTC(GetCUBINSize);
  PINION_NVRTC(GetCUBIN);
  PINION_NVRTC(GetPTXSize);
  PINION_NVRTC(GetPTX);
#undef PINION_NVRTC

  // The newest architecture that it knows and that a GPU of `wanted` runs, such as 90; 0: none.
  int best_for(int wanted) const {
    int count = 0;
    if (GetNumSupportedArchs(&count)) return 0;
    std::vector<int> known(static_cast<std::size_t>(std::max(count, 1)));
    if (GetSupportedArchs(known.data())) return 0;
    int best = 0;
    for (const int one : known)
      if (one <= wanted) best = std::max(best, one);
    return best;
  }
  template <class SizeOf, class Get>
  static std::string text_of(nvrtcProgram program, SizeOf size_of, Get get) {
    std::size_t size = 0;
    size_of(program, &size);
    std::string all(size, '\0');
    if (size > 0) get(program, all.data());
    return all;
  }
};

namespace detail {

// The first line of a log that tells of an error, or the first of all.
inline std::string telling_line(const std::string& log) {
  const auto at = log.find("error");
  const auto begin = at == log.npos ? 0 : log.rfind('\n', at) + 1;
  return log.substr(begin, log.find_first_of(std::string("\n\0", 2), begin) - begin);
}

}  // namespace detail

PINION_DECL const compiler& compiler::of_this_program() {
  return of_this_process<compiler>();
}

PINION_DECL compiler::compiler() : library_({"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}) {
  problem_ = std::getenv("PINION_CUDA_INTERPRET") ? "PINION_CUDA_INTERPRET is set" : library_.problem();
  if (!problem_.empty()) return;
  const auto call = std::make_shared<functions>(library_);
  int major = 0, minor = 0;
  if (!call->all || call->Version(&major, &minor)) {
    problem_ = library_.path() + " is no NVRTC of version 12 or newer";
    return;
  }
  call->knows_minimal = major >= 13;
  version_ = std::to_string(major) + "." + std::to_string(minor);
  builtins_ = shared_library({"libnvrtc-builtins.so." + version_}, library_.folder());
  call_ = call;
}

PINION_DECL std::string compiler::problem() const {
  const shared_error failed = failure();
  return failed ? failed->sentence() : problem_;
}

PINION_DECL shared_error compiler::failure() const {
  std::lock_guard hold(mutex_);
  return failure_;
}

PINION_DECL bool compiler::has_news() const {
  return failure() && !is_told_.exchange(true);
}

PINION_DECL void compiler::fail(const std::string& how) const {
  const std::string cure = builtins_.is_open() ? "is the installation whole, and of one version?"
                                               : "it needs libnvrtc-builtins.so." + version_ + " in its folder " +
                                                     library_.folder() + ", or in one of PINION_CUDA_LIBS";
  std::lock_guard hold(mutex_);
  if (!failure_)
    failure_ = std::make_shared<const error>(
        errc::unavailable, "NVRTC " + version_ + " itself fails (" + how + "), so GPUs interpret programs; " + cure);
  throw *failure_;
}

PINION_DECL std::string compiler::compile(const std::string& unit, int major, int minor) const {
  if (!call_) throw error(errc::unimplemented, "no CUDA C can be compiled: " + problem_);
  if (const shared_error failed = failure()) throw *failed;
  const int wanted = 10 * major + minor, best = call_->best_for(wanted);
  const bool is_exact = best == wanted;
  nvrtcProgram program = nullptr;
  if (const nvrtcResult failed = call_->CreateProgram(&program, unit.c_str(), "pinion.cu", 0, nullptr, nullptr))
    throw error(errc::resource_exhausted, std::string("NVRTC makes no program: ") + call_->GetErrorString(failed));
  const std::shared_ptr<_nvrtcProgram> ends(program, [this](nvrtcProgram p) { call_->DestroyProgram(&p); });
  const std::string target = (is_exact ? "-arch=sm_" : "-arch=compute_") + std::to_string(best);
  // Without textures and the like, of which no kernel here knows, a unit takes less time; old versions refuse that.
  const char* const options[] = {target.c_str(), "-std=c++17", "-w", "-minimal"};
  if (const nvrtcResult failed = call_->CompileProgram(program, call_->knows_minimal ? 4 : 3, options)) {
    const std::string log = functions::text_of(program, call_->GetProgramLogSize, call_->GetProgramLog);
    if (failed == NVRTC_ERROR_OUT_OF_MEMORY) throw error(errc::resource_exhausted, "NVRTC has no memory for a kernel");
    if (failed != NVRTC_ERROR_COMPILATION) fail(call_->GetErrorString(failed) + (": " + detail::telling_line(log)));
    throw error(errc::invalid_argument, std::string("NVRTC refuses a kernel (") + call_->GetErrorString(failed) +
                                            "): " + detail::telling_line(log));
  }
  return is_exact ? functions::text_of(program, call_->GetCUBINSize, call_->GetCUBIN)
                  : functions::text_of(program, call_->GetPTXSize, call_->GetPTX);
}

}}}  // namespace pinion::v0::cuda
