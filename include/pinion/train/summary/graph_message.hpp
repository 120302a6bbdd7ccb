// Graphs in the form that TensorBoard shows: GraphDef messages. Source: TensorFlow's graph.proto, node_def.proto,
// attr_value.proto. A build without protozero throws unimplemented.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/graph_view.hpp>
#include <pinion/placement/plan/plan.hpp>

namespace pinion { inline namespace v0 { namespace train {

// The message of a graph: every node with its inputs, its attributes, the shapes of its outputs and the device that
// `device` returns for it, if it returns one. Tensors and texts of more than 1024 bytes are told by dtype and shape, or
// by size, without their contents: weights are not for looking at.
std::string graph_message(graph_view g, const std::function<std::string(const node&)>& device);

// The message with the devices that were asked for, in the words of the requests.
std::string graph_message(graph_view g);
// The message with the devices of a list: each request becomes the full name of the first device that meets it, or
// stays as it is where none does.
std::string graph_message(graph_view g, const std::vector<device_info>& devices);
// The message with the devices that were asked for, by full names as far as no session is needed to know them. If no
// request names a job, the job is localhost and its task is 0; a replica beside a task is 0, and so is an index beside
// a type.
std::string graph_message_of_requests(graph_view g);
// The message with the devices of a plan. A node outside of the plan that asks for a device gets the first device of
// the plan that meets its request; a node that stands with a node of the plan gets that node's device. Thus each device
// has one name only.
std::string graph_message(graph_view g, const plan& p);

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/summary/graph_message.ipp>
#endif
