// Overloads that are there to be refused: a call that would find none is answered with a sentence.
#pragma once

#include <pinion/base/fixed_string.hpp>

// PINION_REFUSED("sentence") operator+(...) PINION_REFUSAL: nothing that can be called, to a concept as to a caller;
// the sentence stands in the first error. For g++, which calls whatever is merely unavailable callable in a concept, it
// is the type that a deleted function yields.
#if defined(__clang__)
#define PINION_REFUSED(sentence) __attribute__((unavailable(sentence))) void
#define PINION_REFUSAL
#elif defined(__CUDACC__)
#define PINION_REFUSED(sentence) void
#define PINION_REFUSAL = delete
#else
#define PINION_REFUSED(sentence) pinion::nothing_because<sentence>
#define PINION_REFUSAL = delete
#endif
// PINION_REFUSED for constructors, which yield nothing. To a concept, g++ still has such a constructor.
#define PINION_REFUSED_CONSTRUCTOR(sentence) __attribute__((unavailable(sentence)))

namespace pinion { inline namespace v0 {

template <fixed_string Sentence>
struct nothing_because {};

}}  // namespace pinion::v0
