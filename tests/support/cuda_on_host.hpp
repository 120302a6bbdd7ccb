// CUDA C that runs on the host: texts of kernels, compiled as C++ by the compiler of the tests into a shared object.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

#include <pinion/op/elementwise/cuda_map.hpp>

#include "support/fake_cuda/grid.hpp"
#include "support/temporary_folder.hpp"

// One unit of kernels. The threads of a block run on the calling thread, one after the other between barriers.
class cuda_on_host {
 public:
  // `prelude` is the beginning that all kernels share.
  explicit cuda_on_host(std::string_view prelude) : text_(prelude) {
    text_ += "extern \"C\" fake_cuda::variables variables_of_unit() { return fake_cuda::own_variables(); }\n";
  }
  cuda_on_host(const cuda_on_host&) = delete;
  ~cuda_on_host() {
    if (library_) dlclose(library_);
  }

  // Adds the text of a kernel whose argument is pinion::<name>::argument.
  void add(std::string_view text, const std::string& name) {
    text_ += text;
    text_ += "extern \"C\" void thread_of_" + name + "(const void* argument) {\n";
    text_ +=
        "  pinion::" + name + "::" + name + "(*static_cast<const pinion::" + name + "::argument*>(argument));\n}\n";
  }

  // Compiles and loads the unit. Throws what the compiler says.
  void build() {
    std::ofstream(folder_.path("unit.cpp")) << text_;
    const std::string command = std::string(PINION_TEST_CXX) + " -std=c++17 -O1 -ffp-contract=off " +
                                "-fno-strict-aliasing -fPIC -shared -w -include " PINION_TEST_SOURCE_DIR
                                "/tests/support/fake_cuda/kernel_words.hpp " +
                                folder_.path("unit.cpp") + " -o " + folder_.path("unit.so") + " > " +
                                folder_.path("log") + " 2>&1";
    if (std::system(command.c_str()) != 0) throw std::runtime_error(command + "\n" + read("log"));
    library_ = dlopen(folder_.path("unit.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library_) throw std::runtime_error(dlerror());
  }

  // Runs a kernel. Requires: the unit is built.
  void run(const std::string& name, const pinion::op::cuda_launch& launch) const {
    const auto thread = symbol<void(const void*)>("thread_of_" + name);
    const fake_cuda::grid work{{launch.blocks, 1, 1},
                               {pinion::op::cuda_launch::threads, 1, 1},
                               symbol<fake_cuda::variables()>("variables_of_unit"),
                               [&] { thread(launch.argument.data()); }};
    fake_cuda::run(work, fake_cuda::thread_order::forward);
  }

 private:
  std::string read(const std::string& name) const {
    std::ifstream in(folder_.path(name));
    return {std::istreambuf_iterator<char>(in), {}};
  }

  template <class F>
  F* symbol(const std::string& name) const {
    void* const found = dlsym(library_, name.c_str());
    if (!found) throw std::runtime_error("the unit has no " + name);
    return reinterpret_cast<F*>(found);
  }

  temporary_folder folder_;
  std::string text_;
  void* library_ = nullptr;
};
