// expect within 5 of 15: the element types are float, double, integers of 8 to 64 bits, bool, std::string, pn::half and pn::bfloat16
// A dataset of pairs, one of which is a char.
#include <pinion/data/dataset.hpp>

#ifdef ACCEPT
pinion::data::dataset<float, int>* value;
#else
pinion::data::dataset<float, char>* value;
#endif
