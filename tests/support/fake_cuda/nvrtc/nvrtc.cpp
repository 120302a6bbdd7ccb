// A stand-in for NVRTC: it compiles CUDA C as C++ for the host. Its machine code is a shared object, which the stand-in
// for CUDA opens.
#include <nvrtc.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <string_view>

struct _nvrtcProgram {
  std::string text, name, log, code;
};

namespace {

constexpr std::array architectures{75, 80, 86, 89, 90, 100, 120};

std::atomic<int> compilations = 0;

// A folder of one compilation, which goes with it.
class folder {
 public:
  folder() {
    char path[] = "/tmp/pinion_fake_nvrtc_XXXXXX";
    if (mkdtemp(path)) path_ = path;
  }
  folder(const folder&) = delete;
  ~folder() { std::filesystem::remove_all(path_); }

  std::string path(const std::string& name) const { return path_ + "/" + name; }
  std::string read(const std::string& name) const {
    std::ifstream in(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::string path_;
};

// The name of a kernel, and the type of its one argument.
const std::regex kernel(
    R"re(extern "C" __global__ void (?:__launch_bounds__\(\d+\) )?(\w+)\(const __grid_constant__ (\w+) )re");

// What the stand-in for CUDA looks up: the variables of the unit, and of each kernel a thread and its argument's size.
std::string entries(const std::string& text) {
  constexpr std::string_view exported = "extern \"C\" __attribute__((visibility(\"default\"))) ";
  std::string all;
  const auto add = [&](const std::string& line) { all += std::string(exported) + line + "\n"; };
  add("fake_cuda::variables fake_cuda_variables() { return fake_cuda::own_variables(); }");
  for (std::sregex_iterator at(text.begin(), text.end(), kernel), end; at != end; ++at) {
    const std::string name = (*at)[1], type = "pinion::" + name + "::" + std::string((*at)[2]);
    add("const unsigned long fake_cuda_size_of_" + name + " = sizeof(" + type + ");");
    add("void fake_cuda_thread_of_" + name + "(const void* a) { pinion::" + name + "::" + name +
        "(*static_cast<const " + type + "*>(a)); }");
  }
  return all;
}

// True if a test wants this text to be refused: PINION_FAKE_NVRTC_REFUSES is a part of it.
bool is_refused(const std::string& text) {
  const char* const part = std::getenv("PINION_FAKE_NVRTC_REFUSES");
  return part && *part && text.find(part) != std::string::npos;
}

// True if a test wants the compiler itself to fail: PINION_FAKE_NVRTC_FAILS.
bool is_broken() {
  return std::getenv("PINION_FAKE_NVRTC_FAILS") != nullptr;
}

bool is_architecture(std::string_view option) {
  const auto at = option.find_last_of('_');
  return at != option.npos && std::any_of(architectures.begin(), architectures.end(), [&](int known) {
           return option.substr(at + 1, option.find_last_not_of("af") - at) == std::to_string(known);
         });
}

nvrtcResult give(const std::string& text, char* to) {
  if (text.empty()) return NVRTC_ERROR_INVALID_PROGRAM;
  std::copy(text.begin(), text.end(), to);
  return NVRTC_SUCCESS;
}

nvrtcResult give_size(const std::string& text, std::size_t* size) {
  *size = text.size();
  return text.empty() ? NVRTC_ERROR_INVALID_PROGRAM : NVRTC_SUCCESS;
}

}  // namespace

extern "C" {

// The compilations of this process, for tests: int (*)().
int fake_nvrtc_compilations() {
  return compilations;
}

const char* nvrtcGetErrorString(nvrtcResult result) {
  switch (result) {
    case NVRTC_SUCCESS: return "NVRTC_SUCCESS";
    case NVRTC_ERROR_INVALID_INPUT: return "NVRTC_ERROR_INVALID_INPUT";
    case NVRTC_ERROR_INVALID_PROGRAM: return "NVRTC_ERROR_INVALID_PROGRAM";
    case NVRTC_ERROR_INVALID_OPTION: return "NVRTC_ERROR_INVALID_OPTION";
    case NVRTC_ERROR_COMPILATION: return "NVRTC_ERROR_COMPILATION";
    case NVRTC_ERROR_BUILTIN_OPERATION_FAILURE: return "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE";
    default: return "NVRTC_ERROR unknown";
  }
}

nvrtcResult nvrtcVersion(int* major, int* minor) {
  *major = FAKE_NVRTC_VERSION / 1000, *minor = FAKE_NVRTC_VERSION % 1000 / 10;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetNumSupportedArchs(int* count) {
  *count = static_cast<int>(architectures.size());
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetSupportedArchs(int* all) {
  std::copy(architectures.begin(), architectures.end(), all);
  return NVRTC_SUCCESS;
}

// Headers are not known here.
nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* text, const char* name, int headers,
                               const char* const*, const char* const*) {
  if (!program || !text || headers != 0) return NVRTC_ERROR_INVALID_INPUT;
  *program = new _nvrtcProgram{text, name ? name : "default_program", {}, {}};
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
  if (!program || !*program) return NVRTC_ERROR_INVALID_PROGRAM;
  delete *program;
  *program = nullptr;
  return NVRTC_SUCCESS;
}

// Options but the architecture mean nothing here.
nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char* const* options) {
  ++compilations;
  for (int k = 0; k < count; ++k) {
    const std::string_view option = options[k];
    if ((option.starts_with("-arch=") || option.starts_with("--gpu-architecture=")) && !is_architecture(option)) {
      program->log = "nvrtc: error: invalid value for --gpu-architecture (-arch)\n";
      return NVRTC_ERROR_INVALID_OPTION;
    }
  }
  if (is_broken()) {
    program->log = "nvrtc: error: failed to open libnvrtc-builtins.so.\n";
    return NVRTC_ERROR_BUILTIN_OPERATION_FAILURE;
  }
  if (is_refused(program->text)) {
    program->log = program->name + "(1): error: the test wants this text to be refused\n";
    return NVRTC_ERROR_COMPILATION;
  }
  const folder here;
  std::ofstream(here.path("unit.cpp")) << "#line 1 \"" << program->name << "\"\n"
                                       << program->text << entries(program->text);
  const std::string command = FAKE_NVRTC_COMPILER " " + here.path("unit.cpp") + " -o " + here.path("unit.so") + " > " +
                              here.path("log") + " 2>&1";
  const bool is_good = std::system(command.c_str()) == 0;
  program->log = here.read("log");
  if (is_good) program->code = here.read("unit.so");
  return is_good ? NVRTC_SUCCESS : NVRTC_ERROR_COMPILATION;
}

// A text's size counts the zero behind it.
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, std::size_t* size) {
  *size = program->log.size() + 1;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* log) {
  std::memcpy(log, program->log.c_str(), program->log.size() + 1);
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, std::size_t* size) {
  return give_size(program->code, size);
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* code) {
  return give(program->code, code);
}

nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, std::size_t* size) {
  return give_size(program->code, size);
}

nvrtcResult nvrtcGetPTX(nvrtcProgram program, char* code) {
  return give(program->code, code);
}

}  // extern "C"
