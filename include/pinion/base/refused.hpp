// Overloads that exist to be refused, so that a wrong call gets a sentence from the compiler.
#pragma once

#include <pinion/base/fixed_string.hpp>

// PINION_REFUSED("sentence") operator+(...) PINION_REFUSAL declares a function that cannot be called, neither by a
// caller nor in a concept; the sentence is in the compiler's first error. g++ takes a function that is merely
// unavailable for a callable one in a concept, so there the function is deleted and the sentence is its return type.
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
// PINION_REFUSED for constructors, which have no return type. In a concept, g++ takes such a constructor for a callable
// one.
#define PINION_REFUSED_CONSTRUCTOR(sentence) __attribute__((unavailable(sentence)))

namespace pinion { inline namespace v0 {

// A return type that shows a sentence.
template <fixed_string Sentence>
struct nothing_because {};

}}  // namespace pinion::v0
