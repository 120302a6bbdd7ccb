// What programs do that CUDA forbids, in sentences.
#pragma once

#include <string>
#include <vector>

namespace fake_cuda {

// Tells of a misuse: a line on stderr, and a sentence for take_misuses(). Any thread may call it.
void report(const std::string& sentence);

// The misuses since the last call, in sentences.
std::vector<std::string> take_misuses();

}  // namespace fake_cuda
