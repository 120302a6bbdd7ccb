// Copies within the memory of a GPU that are made together.
#include "device_array.hpp"

#include <deque>

#include <pinion/op/variable/cuda_kernels.hpp>

namespace {

using kernels::device_array, kernels::some_elements;
using pinion::cuda::bytes_copy, pinion::cuda::copies_of_launch;

// Bytes in the memory of a GPU, and room for them elsewhere in it.
struct copied_bytes {
  std::vector<std::uint8_t> bytes;
  device_array<std::uint8_t> from, to;

  copied_bytes(const kernels::stream& in, std::int64_t n, int from_behind, int to_behind)
      : bytes(some_elements<std::uint8_t>(n, static_cast<std::uint64_t>(n) + 1)),
        from(in, bytes, from_behind),
        to(in, n, to_behind) {}
  bytes_copy copy() const { return {to.data(), from.data(), bytes.size()}; }
};

bool are_copied(const kernels::stream& stream, const std::deque<copied_bytes>& all) {
  std::vector<bytes_copy> copies;
  for (const copied_bytes& one : all) copies.push_back(one.copy());
  pinion::cuda::copy_each(stream, copies);
  bool good = true;
  for (const copied_bytes& one : all) good &= one.to.read() == one.bytes;
  return good;
}

}  // namespace

TEST_CASE("copies that are made together each take all their bytes, of any number and wherever they begin") {
  const kernels::stream stream;
  for (const int from_behind : {0, 1, 16})
    for (const int to_behind : {0, 4, 16}) {
      INFO("from " << from_behind << " bytes behind an aligned address to " << to_behind << " behind one");
      std::deque<copied_bytes> all;
      for (const std::int64_t n : {0, 1, 15, 16, 17, 4096, 70001, 3, 0})
        all.emplace_back(stream, n, from_behind, to_behind);
      CHECK(are_copied(stream, all));
    }
}

TEST_CASE("any number of copies is made together") {
  const kernels::stream stream;
  for (const std::size_t number :
       {std::size_t{0}, std::size_t{1}, copies_of_launch, copies_of_launch + 1, 3 * copies_of_launch}) {
    INFO(number << " copies");
    std::deque<copied_bytes> all;
    for (std::size_t i = 0; i < number; ++i) all.emplace_back(stream, static_cast<std::int64_t>(7 * i), 0, 0);
    CHECK(are_copied(stream, all));
  }
}
