// Building graphs: device specs, tensors, scopes, expressions, gradients. Brings no threads and no network.
#pragma once

// First, so that what a compiler says about them is not preceded by ten lines of who includes whom.
#include <pinion/base/dtype.hpp>
#include <pinion/tensor/tensor.hpp>

#include <pinion/dsl/operators.hpp>

#include <fmt/format.h>

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>
#include <pinion/dsl/batch_norm.hpp>
#include <pinion/dsl/control.hpp>
#include <pinion/dsl/embedding.hpp>
#include <pinion/dsl/gradients.hpp>
#include <pinion/dsl/images.hpp>
#include <pinion/dsl/layers.hpp>
#include <pinion/dsl/layout.hpp>
#include <pinion/dsl/linear.hpp>
#include <pinion/dsl/local_variables.hpp>
#include <pinion/dsl/math.hpp>
#include <pinion/dsl/nn.hpp>
#include <pinion/dsl/partitioned_variable.hpp>
#include <pinion/dsl/place.hpp>
#include <pinion/dsl/queue_list.hpp>
#include <pinion/dsl/queues.hpp>
#include <pinion/dsl/random.hpp>
#include <pinion/dsl/sources.hpp>
#include <pinion/dsl/split_layers.hpp>
#include <pinion/dsl/static_cluster.hpp>
#include <pinion/graph/device_guard.hpp>
#include <pinion/graph/scopes.hpp>
#include <pinion/placement/cost/cost_placer.hpp>
#include <pinion/placement/cost/heft_placer.hpp>
#include <pinion/placement/cost/plain_placers.hpp>
#include <pinion/placement/make_plan.hpp>
#include <pinion/placement/plan/diff.hpp>
#include <pinion/placement/policy/by_op.hpp>
#include <pinion/placement/policy/first_of.hpp>
#include <pinion/placement/policy/replica_device_setter.hpp>
#include <pinion/placement/policy/round_robin_over.hpp>
#include <pinion/placement/policy/variables_on.hpp>
#include <pinion/placement/sim_machine.hpp>
#include <pinion/placement/simple_placer.hpp>
#include <pinion/spec/cluster_spec.hpp>
#include <pinion/spec/device_spec.hpp>
#include <pinion/spec/place.hpp>
#include <pinion/tensor/text.hpp>
