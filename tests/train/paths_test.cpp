// Paths of what a training writes: they mean the same in whatever directory the process is, and however they are
// written.
#include <catch2/catch.hpp>

#include <filesystem>
#include <memory>

#include <pinion/files/output_file.hpp>
#include <pinion/train.hpp>

#include "support/own_graph.hpp"
#include "support/temporary_folder.hpp"

namespace {

namespace pn = pinion;
namespace tr = pinion::train;
using names = std::vector<std::string>;

// The process is in that folder while this lives.
struct inside {
  explicit inside(const temporary_folder& there) { std::filesystem::current_path(there.folder()); }
  inside(const inside&) = delete;
  ~inside() { std::filesystem::current_path(before); }
  const std::filesystem::path before = std::filesystem::current_path();
};

struct model_in_a_folder : own_graph {
  pn::variable_handle<float> w = pn::variable(1.0f, {.name = "w"});
  pn::variable_handle<std::int64_t> step = tr::get_or_create_global_step();
  pn::operation up = pn::group(pn::operation(pn::assign_add(step, 1)), pn::operation(pn::assign_add(w, 1.0f)));
  pn::operation init = pn::global_variables_initializer();
};

}  // namespace

TEST_CASE("a checkpoint that is saved again under another spelling of its path stays") {
  temporary_folder dir;
  std::filesystem::create_directory(dir.folder() / "best");
  std::filesystem::create_directory_symlink(dir.folder() / "best", dir.folder() / "link");
  const inside here(dir);
  model_in_a_folder m;
  pn::session sess;
  sess.run(m.init);
  tr::saver best{{.max_to_keep = 1}};
  CHECK(best.save(sess, "best/model") == "best/model");
  for (const std::string& other : {std::string("./best/model"), dir.path("best/model"), std::string("link/model"),
                                   std::string("best/../best/model")}) {
    CHECK(best.save(sess, other) == other);
    CHECK(best.last_checkpoints() == names{other});
    CHECK(std::filesystem::exists("best/model.safetensors"));
    CHECK(tr::latest_checkpoint("best") == "best/model");
  }
}

TEST_CASE("a saver removes its own checkpoints and no others when the process has changed its directory") {
  temporary_folder first, second;
  model_in_a_folder m;
  pn::session sess;
  sess.run(m.init);
  tr::saver saver{{.max_to_keep = 1}}, other{{.max_to_keep = 1}};
  {
    const inside here(first);
    saver.save(sess, "model", 1);
  }
  const inside here(second);
  other.save(sess, "model", 1);
  saver.save(sess, first.path("model"), 2);
  CHECK(first.files() == names{"checkpoint", "model-2.safetensors"});
  CHECK(second.files() == names{"checkpoint", "model-1.safetensors"});
}

TEST_CASE("a training with a relative folder saves, rotates and starts again there when the process goes elsewhere") {
  temporary_folder first, second;
  model_in_a_folder m;
  const auto train = [&](const std::string& dir, int steps) {
    std::vector<std::string> said;
    tr::monitored_training_session sess{{.checkpoint_dir = dir,
                                         .save_checkpoint_steps = 1,
                                         .log = [&](std::string_view line) { said.emplace_back(line); }}};
    for (int i = 0; i < steps; ++i) {
      std::filesystem::current_path(second.folder());
      sess.run(m.up);
    }
    return said.front();
  };
  const inside here(first);
  train("logs", 7);
  CHECK(second.files().empty());
  CHECK(tr::latest_checkpoint(first.folder() / "logs") == first.path("logs/model-7"));
  CHECK(!std::filesystem::exists(first.folder() / "logs/model-1.safetensors"));
  std::filesystem::current_path(first.folder());
  CHECK(train("logs", 0) == "restored checkpoint " + first.path("logs/model-7") + ": training goes on at step 7");
}

TEST_CASE("a file that is written in one directory and committed in another is where it was begun") {
  temporary_folder first, second;
  std::unique_ptr<pn::files::output_file> file;
  {
    const inside here(first);
    file = std::make_unique<pn::files::output_file>("text");
  }
  const inside here(second);
  file->write("words", 5);
  file->commit();
  CHECK(first.files() == names{"text"});
  CHECK(second.files().empty());
}
