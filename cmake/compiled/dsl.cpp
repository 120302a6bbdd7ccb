// The part of pinion::compiled that holds the bodies of dsl.
#include <pinion/dsl/batch_norm.ipp>
#include <pinion/dsl/control.ipp>
#include <pinion/dsl/expr.ipp>
#include <pinion/dsl/images.ipp>
#include <pinion/dsl/initializers.ipp>
#include <pinion/dsl/layout.ipp>
#include <pinion/dsl/local_variables.ipp>
#include <pinion/dsl/map.ipp>
#include <pinion/dsl/node_call.ipp>
#include <pinion/dsl/partitioned_variable.ipp>
#include <pinion/dsl/partitioners.ipp>
#include <pinion/dsl/queue_list.ipp>
#include <pinion/dsl/queues.ipp>
#include <pinion/dsl/random.ipp>
#include <pinion/dsl/sources.ipp>
#include <pinion/dsl/trace.ipp>
#include <pinion/dsl/variable_slices.ipp>
