// Lets libFuzzer drive the one target that this program is linked with. After
//
//   cmake --preset fuzz && cmake --build --preset fuzz
//
// a target runs for ten minutes with
//
//   mkdir -p build/fuzz/corpus/npy
//   build/fuzz/tests/pinion_fuzz_npy -max_total_time=600 build/fuzz/corpus/npy tests/fuzz/corpus/npy
//
// which writes the seeds into the first folder, then adds to it what reaches new code, and leaves an input that breaks
// a law in crash-*. Such an input goes to tests/fuzz/corpus/npy, where the suite replays it, under a name that says
// what was wrong. Other options are libFuzzer's: -help=1 lists them.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fuzz/run.hpp>

extern "C" {
// A step that asks for more memory than there is fails, and the next goes on.
const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}

std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

int LLVMFuzzerInitialize(int* count, char*** arguments) {
  const auto is_folder = [](const char* a) { return *a != '-' && std::filesystem::is_directory(a); };
  char **const end = *arguments + *count, **const folder = std::find_if(*arguments + 1, end, is_folder);
  if (folder == end) return 0;
  int i = 0;
  for (const std::string& seed : fuzz::targets().front().seeds())
    std::ofstream(std::filesystem::path(*folder) / ("seed-" + std::to_string(i++)), std::ios::binary) << seed;
  return 0;
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::run(fuzz::targets().front(), {reinterpret_cast<const char*>(data), size});
  return 0;
}

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  const auto& change = fuzz::targets().front().change;
  fuzz::dice random(seed);
  const auto way = change ? random(3) : 0;  // bytes, bytes and terms, terms
  if (way < 2) size = LLVMFuzzerMutate(data, size, most);
  if (way == 0) return size;
  const std::string made = change({reinterpret_cast<const char*>(data), size}, random);
  if (made.size() > most) return size;
  std::memcpy(data, made.data(), made.size());
  return made.size();
}
}
