// Graphs as TensorBoard shows them: GraphDef messages. Source: TensorFlow's graph.proto, node_def.proto,
// attr_value.proto.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/graph/graph.hpp>
#include <pinion/placement/plan/plan.hpp>

namespace pinion { inline namespace v0 { namespace train {

// Every node with its inputs, attributes and the shapes of its outputs, on the device that `device` names, or on none.
// Of a tensor of more than 1024 bytes, and of text as long, only dtype and shape are told: weights are not for looking
// at.
std::string graph_message(const graph& g, const std::function<std::string(const node&)>& device);

// On the devices that were asked for, as far as they were, in the words of the requests.
std::string graph_message(const graph& g);
// On the devices of a list: each request by the full name of the first that meets it, or in its own words.
std::string graph_message(const graph& g, const std::vector<device_info>& devices);
// On the devices that were asked for, by full names as far as no session is needed to know them: a job that no request
// of the graph names is localhost, whose task is 0; a replica is 0 beside a task, and an index 0 beside a type.
std::string graph_message_of_requests(const graph& g);
// On the devices of a plan. Of nodes that are not in it, those that asked for a device stand on the first of the plan's
// that meets the request (what stands with a node of the plan on that node's), so that a device has one name only.
std::string graph_message(const graph& g, const plan& p);

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/summary/graph_message.ipp>
#endif
