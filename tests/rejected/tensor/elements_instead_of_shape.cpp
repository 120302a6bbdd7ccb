// expect within 5 of 15: tensor<T>::of({2, 3}) has these elements; tensor<T>({2, 3}) is of that shape, and zero
// Numbers without inner braces are neither a shape nor elements.
#include <pinion/graph.hpp>

auto make() {
#ifdef ACCEPT
  pinion::tensor<int>{{50}}, pinion::tensor<int>({2, 3}), pinion::tensor<float>{{2, 3}}, pinion::tensor<float>(3.0f);
  return pinion::tensor<float>::of({2, 3});
#else
  return pinion::tensor<float>{2, 3};
#endif
}
