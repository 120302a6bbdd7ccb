// What programs do that CUDA forbids, in sentences.
#pragma once

#include <string>

namespace fake_cuda {

// Tells of a misuse: a line on stderr, and a sentence for take_misuses(). Any thread may call it.
void report(const std::string& sentence);

}  // namespace fake_cuda
