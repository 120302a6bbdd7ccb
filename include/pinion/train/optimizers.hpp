// All optimizers. Each is a rule that updates every element of a variable and of its slots by the element of its
// gradient.
//
//   gradient_descent   w -= rate g                                                  no slots
//   momentum           w -= rate a, a accumulates g                                 "momentum"
//   adagrad            w -= rate g / sqrt(a), a accumulates g^2                     "accumulator"
//   rmsprop            the step is divided by a moving root mean square of g        "rms", "mg", "momentum"
//   adam               moving means of g and g^2, both corrected for their start    "m", "v"
#pragma once

#include <pinion/train/optimizers/adagrad.hpp>
#include <pinion/train/optimizers/adam.hpp>
#include <pinion/train/optimizers/gradient_descent.hpp>
#include <pinion/train/optimizers/momentum.hpp>
#include <pinion/train/optimizers/rmsprop.hpp>
