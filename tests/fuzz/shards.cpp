// Checkpoints of several files: the index that says which file holds which tensor, and the list of checkpoints. Both
// are texts beside files that are sound.
#include <pinion/files/safetensors.hpp>
#include <pinion/train/checkpoint/checkpoint_reader.hpp>
#include <pinion/train/checkpoint/checkpoint_state.hpp>

#include <fuzz/files.hpp>
#include <fuzz/target.hpp>
#include <fuzz/tensors.hpp>

namespace fuzz { namespace {

// A folder with a checkpoint "m" of two shards.
struct checkpoint {
  temporary_folder folder;
  std::string index = folder.path(files::shard_index_name("m"));
  checkpoint() {
    const any_tensor w = counting(dtype::float32, {2, 3}), b = counting(dtype::float32, {3});
    files::write_sharded_safetensors(folder.folder(), "m", {{"W", w}, {"b", b}}, 16);
  }
};

void read_list(const temporary_folder& folder, std::string_view text) {
  put(folder.path("checkpoint"), text);
  const auto state = train::read_checkpoint_state(folder.folder());
  train::write_checkpoint_state(folder.folder(), state);
  const auto again = train::read_checkpoint_state(folder.folder());
  law(again.all.size() == state.all.size(), "a list of checkpoints loses one as it is written");
  for (std::size_t i = 0; i < state.all.size(); ++i)
    law(again.all[i].prefix == state.all[i].prefix, "the path of a checkpoint changes as it is written");
  train::latest_checkpoint(folder.folder());
}

void read_index(const checkpoint& at, std::string_view text) {
  put(at.index, text);
  const train::checkpoint_reader file(at.folder.path("m"));
  for (const std::string_view name : file.names()) file.read(std::string(name));
}

void read(std::string_view input) {
  static const checkpoint at;
  read_list(at.folder, input);
  if (input.starts_with("{")) read_index(at, input);
}

std::vector<std::string> seeds() {
  const checkpoint at;
  train::write_checkpoint_state(at.folder.folder(), {{{"m", 1.5}, {"a \"b\"", 0}, {"/x/y", 1e9}}});
  return {bytes_of(at.index), bytes_of(at.folder.path("checkpoint")),
          "model_checkpoint_path: \"m\"\nall_model_checkpoint_paths: \"m\"\nother: 1\n", ""};
}

const enrolled here({.name = "shards",
                     .read = read,
                     .seeds = seeds,
                     .most_memory = [](std::string_view input) { return 256 * input.size() + (std::size_t{1} << 18); },
                     .rounds = 1000});

}}  // namespace fuzz
