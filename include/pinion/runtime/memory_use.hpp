// The memory that a session holds.
#pragma once

#include <cstdint>
#include <string>

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

// Bytes on the CPU devices of a session. A value. Variables and arenas are the session's alone; the pool is the
// process's, and lends memory for values that leave their steps, such as fetched tensors and values in queues.
//
//   fmt::print("{}\n", pn::to_string(sess.memory()));
struct memory_use {
  std::int64_t variables = 0;  // their values now
  std::int64_t arenas = 0;     // held for the values within steps, now; those of bodies of control flow are not counted
  std::int64_t live = 0;       // of values that are in use at once in one run, of the step that needs the most
  std::int64_t pool = 0;       // of the process, in use or kept for later steps

  // The least that training needs, and all that it takes.
  std::int64_t peak() const { return variables + live; }
  std::int64_t held() const { return variables + arenas; }
};

// "variables 1.2 MB, arenas 0.8 MB for 0.8 MB in use at once; the pool of the process 0.1 MB"
std::string to_string(const memory_use& m);

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/runtime/memory_use.ipp>
#endif
