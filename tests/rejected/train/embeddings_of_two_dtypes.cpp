// expect: the embeddings have different dtypes; pn::cast<T>(x) converts one of them
// A batch of float is told from one of double.
#include <pinion/train/embedding_losses.hpp>

auto loss_of(pinion::expr<float> a, pinion::expr<double> b) {
#ifdef ACCEPT
  return pinion::train::info_nce(a, pinion::cast<float>(b));
#else
  return pinion::train::info_nce(a, b);
#endif
}
