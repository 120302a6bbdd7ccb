// The optimizers: each one a rule over the elements of a variable, its slots and its gradient.
#pragma once

#include <pinion/train/optimizers/adagrad.hpp>
#include <pinion/train/optimizers/adam.hpp>
#include <pinion/train/optimizers/gradient_descent.hpp>
#include <pinion/train/optimizers/momentum.hpp>
#include <pinion/train/optimizers/rmsprop.hpp>
