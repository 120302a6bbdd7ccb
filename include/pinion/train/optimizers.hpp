// All optimizers. Each is a rule that updates every element of a variable and of its slots by the element of its
// gradient.
#pragma once

#include <pinion/train/optimizers/adagrad.hpp>
#include <pinion/train/optimizers/adam.hpp>
#include <pinion/train/optimizers/gradient_descent.hpp>
#include <pinion/train/optimizers/momentum.hpp>
#include <pinion/train/optimizers/rmsprop.hpp>
