// The part of pinion::compiled that holds what <pinion/train/summary_writer.hpp>, the event files and graphs as text
// leave out.
#define PINION_DEFINE_RUNTIME 1
#include <pinion/train/event_file_reader.hpp>
#include <pinion/train/graph_text.hpp>
#include <pinion/train/summary_writer.hpp>
