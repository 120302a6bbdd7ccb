// How accurate the functions of maths.hpp are: the greatest error over every float, and over samples of double.
//
//   maths_ulp [--quick] [--step=N] [name...]      --step=N takes every Nth float, --quick every 257th
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "../tests/scalar/maths_table.hpp"

namespace {

using namespace pinion_test;
namespace isa = pinion::scalar::isa;

std::vector<worst<float>> over_all_floats(const maths_function<float>& f, std::uint64_t step) {
  constexpr std::uint64_t end = std::uint64_t(1) << 32;
  auto result = measure(f, special_values<float>(), special_values<float>());
  std::vector<float> x(1 << 14);
  for (std::uint64_t bits = 0; bits < end;) {
    for (float& value : x) {
      const auto low = static_cast<std::uint32_t>(std::min(bits, end - 1));
      std::memcpy(&value, &low, sizeof low);
      bits += step;
    }
    result = measure(f, x, x, result);
  }
  return result;
}

template <class T>
std::vector<worst<T>> over_samples(const maths_function<T>& f, std::size_t count) {
  std::vector<worst<T>> result;
  for (unsigned seed = 0; seed < count >> 14; ++seed) {
    auto x = sample_values<T>(1 << 14, f.reach, 2 * seed + 1);
    auto y = f.binary ? sample_values<T>(1 << 14, 10, 2 * seed + 2) : x;
    std::rotate(y.begin(), y.begin() + seed % y.size(), y.end());  // pairs the special values with each other
    result = measure(f, x, y, result);
  }
  return result;
}

template <class T>
void print(const char* type, const maths_function<T>& f, const std::vector<worst<T>>& result) {
  for (std::size_t i = 0; i < result.size(); ++i) {
    std::printf("%-6s %-6s %-8s %8.3f ulp at %-14.9g (%a)", f.name, type, isa::name(int(i)).data(), result[i].error,
                double(result[i].x), double(result[i].x));
    if (f.binary) std::printf(", %.9g", double(result[i].x2));
    std::printf("%s\n", result[i].error > f.bound ? "   EXCEEDS ITS BOUND" : "");
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  bool quick = false;
  std::uint64_t step = 1;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.rfind("--", 0) != 0) {
      names.push_back(word);
    } else if (word.rfind("--step=", 0) == 0) {
      step = std::stoull(word.substr(7));
    } else {
      quick = true, step = 257;
    }
  }
  const auto wanted = [&](const char* name) {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
  };
  const std::size_t samples = std::size_t(1) << (quick ? 20 : 24);
  for (const auto& f : maths_functions<float>()) {
    if (wanted(f.name)) print("float", f, f.binary ? over_samples(f, samples) : over_all_floats(f, step));
  }
  for (const auto& f : maths_functions<double>()) {
    if (wanted(f.name)) print("double", f, over_samples(f, samples));
  }
}
