// The part of pinion::compiled that holds the bodies of dsl.
#include <pinion/nn/batch_norm.ipp>
#include <pinion/op/control/spelling.ipp>
#include <pinion/dsl/expr.ipp>
#include <pinion/op/conv/spelling.ipp>
#include <pinion/nn/initializers.ipp>
#include <pinion/op/layout/spelling.ipp>
#include <pinion/op/variable/local_variables.ipp>
#include <pinion/op/elementwise/map.ipp>
#include <pinion/dsl/node_call.ipp>
#include <pinion/nn/partitioned_variable.ipp>
#include <pinion/nn/partitioners.ipp>
#include <pinion/op/queue/queue_list.ipp>
#include <pinion/op/queue/spelling.ipp>
#include <pinion/op/random/spelling.ipp>
#include <pinion/op/source/spelling.ipp>
#include <pinion/dsl/trace.ipp>
#include <pinion/op/variable/slices.ipp>
