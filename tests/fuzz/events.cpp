// Event files: what is read and written again is read as the same, and summaries are read or refused.
#include <cmath>

#include <pinion/op/summary/message.hpp>
#include <pinion/train/summary/event_file_reader.hpp>
#include <pinion/train/summary/event_file_writer.hpp>
#include <pinion/train/summary/record.hpp>

#include <fuzz/files.hpp>
#include <fuzz/target.hpp>

namespace fuzz { namespace {

using train::event, train::event_kind;

void read_event(const event& e) {
  if (std::isfinite(e.wall_time)) law(train::decode_event(train::encode(e)) == e, "an event changes as it is written");
  train::scalars_of(e);
  const std::string_view body = e.body;
  if (e.kind == event_kind::summary) op::merged_message({&body, 1});
}

void read(std::string_view input) {
  static const memory_file file;
  train::event_file_reader events(file.holding(input));
  for (std::uint64_t before = 0; const auto e = events.next(); before = events.offset()) {
    law(events.offset() > before && events.offset() <= input.size(), "a record ends before it begins, or too late");
    read_event(*e);
  }
}

// The records again with the checksums that they should have; the last one takes what is left.
std::string change(std::string input, dice& random) {
  std::string made;
  for (std::string_view left = input; left.size() > train::record_head;) {
    const auto said = train::detail::little_endian<std::uint64_t>(left);
    left.remove_prefix(train::record_head);
    const auto length = std::min<std::uint64_t>(said, left.size());
    train::append_record(made, left.substr(0, length));
    left.remove_prefix(std::min<std::size_t>(length + train::record_tail, left.size()));
  }
  if (random(8) == 0 && !made.empty()) made.resize(random(made.size()));
  return made;
}

std::string summary(const std::vector<std::string>& parts) {
  const std::vector<std::string_view> views(parts.begin(), parts.end());
  return op::merged_message(views);
}

std::vector<std::string> seeds() {
  const temporary_folder folder;
  train::event_file_writer writer(folder.folder(), {.clock = [] { return 1e9; }});
  writer.add(event_kind::summary, op::scalar_message("loss", .5f), 3);
  writer.add(event_kind::summary,
             summary({op::scalar_message("a", 1), op::text_message("b", tensor<std::string>::of({"x", ""}).untyped()),
                      op::image_message("c", {2, 1, 1, std::string(2, '\1')})}));
  writer.add(event_kind::session_log, train::session_log_message(train::session_mark::checkpoint, "model-1"), 7);
  writer.add(event_kind::summary,
             op::plugin_message("d", "hparams", train::hyperparameters_message({{"rate", .1}, {"on", true}}, 1)));
  writer.add(event{-2, -7, event_kind::run_metadata, "m"});
  writer.close();
  const std::string whole = bytes_of(writer.path());
  std::string small;
  train::append_record(small, train::encode(event{0, 1, event_kind::nothing, {}}));
  train::append_record(small, "");
  return {whole, small, ""};
}

const enrolled here({.name = "events",
                     .read = read,
                     .seeds = seeds,
                     .most_memory = [](std::string_view input) { return 64 * input.size() + (std::size_t{1} << 16); },
                     .change = change});

}}  // namespace fuzz
