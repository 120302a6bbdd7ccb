// The part of pinion::compiled that holds what <pinion/train/summary_writer.hpp> and the event files leave out.
#define PINION_DEFINE_RUNTIME 1
#include <pinion/train/event_file_reader.hpp>
#include <pinion/train/summary_writer.hpp>
