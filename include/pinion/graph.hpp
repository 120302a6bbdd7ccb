// Builds graphs: device specs, tensors, scopes, expressions, gradients and plans. It starts no thread and brings no
// network library, so a file that only describes a model includes this header and not <pinion/pinion.hpp>.
#pragma once

// These come first, so that compilers report errors in them without ten lines of "In file included from".
#include <pinion/base/dtype.hpp>
#include <pinion/tensor/tensor.hpp>

#include <pinion/dsl/operators.hpp>

#include <fmt/format.h>

#include <pinion/autodiff/functions.hpp>
#include <pinion/autodiff/recompute.hpp>
#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>
#include <pinion/graph/device_guard.hpp>
#include <pinion/graph/scopes.hpp>
#include <pinion/nn/attention.hpp>
#include <pinion/nn/batch_norm.hpp>
#include <pinion/nn/convolutions.hpp>
#include <pinion/nn/embedding.hpp>
#include <pinion/nn/layers.hpp>
#include <pinion/nn/norms.hpp>
#include <pinion/nn/partitioned_variable.hpp>
#include <pinion/nn/positions.hpp>
#include <pinion/nn/recurrent.hpp>
#include <pinion/nn/split_layers.hpp>
#include <pinion/op/attention/functions.hpp>
#include <pinion/op/band/functions.hpp>
#include <pinion/op/control/functions.hpp>
#include <pinion/op/conv/functions.hpp>
#include <pinion/op/einsum/functions.hpp>
#include <pinion/op/elementwise/functions.hpp>
#include <pinion/op/elementwise/maths.hpp>
#include <pinion/op/gather/functions.hpp>
#include <pinion/op/layout/functions.hpp>
#include <pinion/op/nn/functions.hpp>
#include <pinion/op/norm/functions.hpp>
#include <pinion/op/norm/group_norm.hpp>
#include <pinion/op/order/functions.hpp>
#include <pinion/op/order/samples.hpp>
#include <pinion/op/queue/functions.hpp>
#include <pinion/op/queue/queue_list.hpp>
#include <pinion/op/random/functions.hpp>
#include <pinion/op/recurrent/functions.hpp>
#include <pinion/op/reduce/functions.hpp>
#include <pinion/op/reduce/global_pool.hpp>
#include <pinion/op/reduce/statistics.hpp>
#include <pinion/op/resize/functions.hpp>
#include <pinion/op/scatter/functions.hpp>
#include <pinion/op/search/functions.hpp>
#include <pinion/op/slice/functions.hpp>
#include <pinion/op/source/functions.hpp>
#include <pinion/op/strided/functions.hpp>
#include <pinion/op/variable/functions.hpp>
#include <pinion/op/variable/local_variables.hpp>
#include <pinion/place/place.hpp>
#include <pinion/place/static_cluster.hpp>
#include <pinion/placement/cost/cost_placer.hpp>
#include <pinion/placement/cost/heft_placer.hpp>
#include <pinion/placement/cost/plain_placers.hpp>
#include <pinion/placement/cost/sim_machine.hpp>
#include <pinion/placement/plan/diff.hpp>
#include <pinion/placement/plan/make_plan.hpp>
#include <pinion/placement/policy/by_op.hpp>
#include <pinion/placement/policy/first_of.hpp>
#include <pinion/placement/policy/replica_device_setter.hpp>
#include <pinion/placement/policy/round_robin_over.hpp>
#include <pinion/placement/policy/variables_on.hpp>
#include <pinion/placement/simple_placer.hpp>
#include <pinion/spec/cluster_spec.hpp>
#include <pinion/spec/device_spec.hpp>
#include <pinion/spec/place.hpp>
#include <pinion/tensor/convert.hpp>
#include <pinion/tensor/text.hpp>
