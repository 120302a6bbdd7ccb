// The part of pinion::compiled that holds what the headers of pinion/train/summary leave out: event files, graphs as text.
#define PINION_DEFINE_RUNTIME 1
#include <pinion/train/summary/event_file_reader.hpp>
#include <pinion/train/summary/graph_text.hpp>
#include <pinion/train/summary/summary_writer.hpp>
