// expect within 5 of 15: the element types are float, double, std::int32_t, std::int64_t, std::uint8_t, bool and std::string
// A dataset of pairs, one of which is a char.
#include <pinion/data/dataset.hpp>

#ifdef ACCEPT
pinion::data::dataset<float, int>* value;
#else
pinion::data::dataset<float, char>* value;
#endif
