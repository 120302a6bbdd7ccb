// How Catch prints tensors: as pinion does. (They convert to their one element, which most have not.)
#pragma once

#include <catch2/catch.hpp>

#include <pinion/tensor/text.hpp>

template <class T>
struct Catch::StringMaker<pinion::tensor<T>> {
  static std::string convert(const pinion::tensor<T>& t) { return pinion::to_string(t); }
};
