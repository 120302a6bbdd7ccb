// Building graphs: device specs, tensors, scopes, expressions, gradients. Brings no threads and no network.
#pragma once

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>
#include <pinion/dsl/gradients.hpp>
#include <pinion/dsl/layout.hpp>
#include <pinion/dsl/linear.hpp>
#include <pinion/dsl/math.hpp>
#include <pinion/dsl/nn.hpp>
#include <pinion/dsl/place.hpp>
#include <pinion/dsl/random.hpp>
#include <pinion/dsl/sources.hpp>
#include <pinion/graph/device_guard.hpp>
#include <pinion/graph/scopes.hpp>
#include <pinion/placement/make_plan.hpp>
#include <pinion/placement/replica_device_setter.hpp>
#include <pinion/placement/simple_placer.hpp>
#include <pinion/spec/cluster_spec.hpp>
#include <pinion/spec/device_spec.hpp>
#include <pinion/spec/place.hpp>
#include <pinion/tensor/tensor.hpp>
#include <pinion/tensor/text.hpp>
