// The part of pinion::compiled that holds the bodies of graph and autodiff.
#include <pinion/autodiff/gradients.ipp>
#include <pinion/graph/attribute.ipp>
#include <pinion/graph/body.ipp>
#include <pinion/graph/called_from.ipp>
#include <pinion/graph/device_guard.ipp>
#include <pinion/graph/device_scope.ipp>
#include <pinion/graph/graph.ipp>
#include <pinion/graph/graph_ref.ipp>
#include <pinion/graph/graph_view.ipp>
#include <pinion/graph/node.ipp>
#include <pinion/graph/same_device.ipp>
#include <pinion/graph/scope_state.ipp>
#include <pinion/graph/scopes.ipp>
#include <pinion/graph/text.ipp>
#include <pinion/graph/traverse.ipp>
