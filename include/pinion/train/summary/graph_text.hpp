// Graphs as text files: the text form of GraphDef messages, which protobuf and TensorBoard's graph page read.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/graph/graph.hpp>

namespace pinion { inline namespace v0 { namespace train {

// Of a message that graph_message made: a field a line, as protobuf prints it.
std::string graph_text(std::string_view graph_message);

// A graph on the devices that were asked for, as DIR/NAME, which is there whole or not at all; the folder is made if it
// is not there. Errors of the file are those of files::output_file; unimplemented in a build without protozero.
void write_graph(const graph& g, const std::filesystem::path& dir, std::string_view name = "graph.pbtxt");

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/summary/graph_text.ipp>
#endif
