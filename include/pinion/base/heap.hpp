// The memory of the heap that is free, and how the system gets it back.
//
// glibc has a heap for about each thread, and keeps what is free at the end of one: its malloc_trim() returns only what
// is free before that. The end goes back when a block is freed there, if it is long enough. So this keeps a block in
// each heap that was marked, and frees most of it for a moment. With other libraries of C these functions do nothing.
#pragma once

#include <pinion/base/config.hpp>

namespace pinion { inline namespace v0 {

// Marks the heap from which this thread allocates. A thread that makes or frees large structures of many small blocks
// calls it once, at its beginning. Thread-safe.
void mark_heap();

// Returns to the system what is free in all heaps before their ends, and at the ends of those that are marked.
// Thread-safe. It takes milliseconds, in which others wait for their heaps. From the first call on glibc no longer
// adapts its limits: blocks of more than 32 MiB are mapped each on its own, and 64 MiB may be free at the end of a heap
// until the next call, as if the program had freed the largest blocks for which it adapts them. A program that sets
// MALLOC_TRIM_THRESHOLD_, MALLOC_TOP_PAD_ or GLIBC_TUNABLES in its environment keeps its own limits.
void give_heap_back();

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/base/heap.ipp>
#endif
