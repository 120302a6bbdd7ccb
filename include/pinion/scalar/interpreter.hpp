// The block interpreter: it runs any scalar program over tiles that fit into the cache, also a program that this binary
// has never seen as a type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/scalar/isa.hpp>
#include <pinion/scalar/program.hpp>
#include <pinion/scalar/strip.hpp>
#include <pinion/scalar/tile.hpp>

namespace pinion { inline namespace v0 { namespace scalar {

// A program made ready to run. Immutable, so any thread may run it. The scratch memory belongs to the thread: the first
// run that needs it allocates it, and it is kept until the thread ends.
class interpreted {
 public:
  // Copies what it needs of `p`, the values of its literals included. Requires: `p` is executable (it has no
  // `partial`).
  explicit interpreted(const program& p, int isa = isa::best());

  // Runs the program over a strip of whole vectors, as a compiled kernel does.
  void operator()(const strip& s) const;

 private:
  // A vector of equal numbers.
  struct alignas(64) number_vector {
    std::byte lanes[widest * 8];
  };
  struct frame;
  class preparation;

  std::uint32_t direct_results(const strip& s) const;
  void run_tile(const frame& f) const;
  void write(const frame& f, std::size_t k) const;
  void finish_sums(const frame& f) const;

  std::int64_t element_ = 0;  // bytes of a number
  std::int64_t length_ = 0;   // elements of a tile
  std::int64_t rows_ = 0;     // of scratch memory, each with room for a tile
  tile_function add_ = nullptr, sum_ = nullptr, total_ = nullptr;
  std::vector<number_vector> numbers_;
  std::vector<tile_step> steps_;
  std::vector<tile_result> results_;
};

}}}  // namespace pinion::v0::scalar

#if PINION_HEADER_ONLY
#include <pinion/scalar/interpreter.ipp>
#endif
