// expect: batch_norm takes its flag by name: batch_norm(x, {.training = training})
// The flag is an option.
#include <pinion/graph.hpp>

auto normal(const pinion::expr<float>& x, const pinion::expr<bool>& training) {
#ifdef ACCEPT
  return pinion::nn::batch_norm(x, {.training = training});
#else
  return pinion::nn::batch_norm(x, training);
#endif
}
