// The optimizers: each one a rule over the elements of a variable, its slots and its gradient.
#pragma once

#include <pinion/train/adagrad.hpp>
#include <pinion/train/adam.hpp>
#include <pinion/train/gradient_descent.hpp>
#include <pinion/train/momentum.hpp>
#include <pinion/train/rmsprop.hpp>
