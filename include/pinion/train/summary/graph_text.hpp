// Graphs as text files: the text form of GraphDef messages, which protobuf and TensorBoard's graph page read.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/graph/graph_view.hpp>

namespace pinion { inline namespace v0 { namespace train {

// The text of a message that graph_message made: one field a line, as protobuf prints it. Throws unimplemented in a
// build without protozero.
std::string graph_text(std::string_view graph_message);

// Writes a graph, with the devices that were asked for, as DIR/NAME, and makes the folder if it does not exist. The
// file is there whole or not at all. Errors of the disk are those of files::output_file; a build without protozero
// throws unimplemented.
//
//   tr::write_graph(pn::default_graph(), "logs");       // logs/graph.pbtxt
void write_graph(graph_view g, const std::filesystem::path& dir, std::string_view name = "graph.pbtxt");

}}}  // namespace pinion::v0::train

#if PINION_HEADER_ONLY
#include <pinion/train/summary/graph_text.ipp>
#endif
