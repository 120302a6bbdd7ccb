// Several savers in one folder, one saver in several, and lists of checkpoints that are not as a saver left them.
#include <catch2/catch.hpp>

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>

#include <pinion/files/output_file.hpp>
#include <pinion/train.hpp>

#include "support/caught.hpp"
#include "support/ends.hpp"
#include "support/in_child.hpp"
#include "support/own_graph.hpp"
#include "support/temporary_folder.hpp"

namespace {

namespace pn = pinion;
namespace tr = pinion::train;
using names = std::vector<std::string>;

struct shared_model : own_graph {
  pn::variable_handle<float> w = pn::variable(1.0f, {.name = "w"});
  pn::variable_handle<std::int64_t> step = tr::get_or_create_global_step();
  pn::operation up = pn::group(pn::operation(pn::assign_add(step, 1)), pn::operation(pn::assign_add(w, 1.0f)));

  bool partial = false;

  // Trains so many steps, of which each is saved, and returns the first line of its log. `each` comes after each step.
  std::string train(const std::string& dir, int steps, const std::function<void(pn::session&)>& each = {},
                    std::shared_ptr<tr::saver> saver = nullptr) {
    struct visit {
      std::function<void(pn::session&)> each;
      void after_run(tr::run_context& c, std::span<const pn::any_tensor>) {
        if (each) each(c.session());
      }
    };
    std::vector<std::string> said;
    tr::monitored_training_session sess{{.checkpoint_dir = dir,
                                         .scaffold = {.saver = saver, .restoring = {.partial = partial}},
                                         .hooks = {visit{each}},
                                         .save_checkpoint_steps = 1,
                                         .save_summaries_steps = 0,
                                         .log = [&](std::string_view line) { said.emplace_back(line); }}};
    for (int i = 0; i < steps; ++i) sess.run(up);
    return said.front();
  }
};

names checkpoints(const temporary_folder& dir) {
  names all;
  const std::string end = ".safetensors";
  for (const std::string& f : dir.files())
    if (f.ends_with(end)) all.push_back(f.substr(0, f.size() - end.size()));
  return all;
}

}  // namespace

TEST_CASE("a best model in the folder of a training stays, and the training goes on from its own last step") {
  temporary_folder dir;
  shared_model m;
  const auto best = std::make_unique<tr::saver>(tr::saver_options{.max_to_keep = 1});
  int steps = 0;
  m.train(dir.path(), 8, [&](pn::session& s) {
    if (++steps == 3) best->save(s, dir.path("best"));
  });
  const names after{"best", "model-4", "model-5", "model-6", "model-7", "model-8"};
  CHECK(checkpoints(dir) == after);
  CHECK(tr::listed_checkpoints(dir.folder()).size() == 6);
  CHECK(m.train(dir.path(), 0) == "restored checkpoint " + dir.path("model-8") + ": training goes on at step 8");
  CHECK(m.train(dir.path(), 7) == "restored checkpoint " + dir.path("model-8") + ": training goes on at step 8");
  CHECK(checkpoints(dir) == names{"best", "model-11", "model-12", "model-13", "model-14", "model-15"});
}

TEST_CASE("a checkpoint of some variables is passed over by name where a training begins") {
  temporary_folder dir;
  shared_model m;
  tr::saver some{{.variables = {m.w}}};
  m.train(dir.path(), 2);
  {
    pn::session sess;
    tr::saver().restore(sess, dir.path("model-2"));
    some.save(sess, dir.path("weights"));
  }
  const std::string line = m.train(dir.path(), 0);
  CHECK(line == "restored checkpoint " + dir.path("model-2") + ": training goes on at step 2; checkpoint " +
                    dir.path("weights") + " is passed over, since it does not have 'global_step'");
}

TEST_CASE("a training that has a new variable does not begin anew over the checkpoints that lack it") {
  temporary_folder dir;
  shared_model().train(dir.path(), 2);
  shared_model m;
  const auto more = pn::variable(1.0f, {.name = "more"});
  CHECK(refusal([&] { m.train(dir.path(), 1); }, pn::errc::not_found, dir.path("model-2"), "does not have 'more'") ==
        "");
  CHECK(checkpoints(dir) == names{"model-0", "model-1", "model-2"});
}

TEST_CASE("a training that asks for it goes on from a checkpoint that lacks a new variable") {
  temporary_folder dir;
  shared_model().train(dir.path(), 2);
  shared_model m;
  m.partial = true;
  const auto more = pn::variable(7.0f, {.name = "more"});
  float was = 0, w = 0;
  const auto look = [&](pn::session& s) {
    was = s.run(more);
    w = s.run(m.w);
  };
  CHECK(m.train(dir.path(), 1, look) == "restored checkpoint " + dir.path("model-2") +
                                            ": training goes on at step 2; it does not have 'more': initialised");
  CHECK(was == 7);
  CHECK(w == 4);
  m.partial = false;
  CHECK(m.train(dir.path(), 0) == "restored checkpoint " + dir.path("model-3") + ": training goes on at step 3");
  // A checkpoint without the step is another saver's, and not where a training goes on.
  {
    pn::session sess;
    tr::saver{{.variables = {m.w}}}.save((sess.run(m.w.initializer()), sess), dir.path("weights"));
  }
  m.partial = true;
  CHECK(m.train(dir.path(), 0) == "restored checkpoint " + dir.path("model-3") + ": training goes on at step 3; " +
                                      "checkpoint " + dir.path("weights") +
                                      " is passed over, since it does not have 'global_step', 'more'");
}

TEST_CASE("a training that may begin with a part does not begin with a checkpoint that lacks its step") {
  temporary_folder dir;
  shared_model m;
  m.partial = true;
  {
    pn::session sess;
    sess.run(m.w.initializer());
    tr::saver{{.variables = {m.w}}}.save(sess, dir.path("weights"));
  }
  CHECK(refusal([&] { m.train(dir.path(), 1); }, pn::errc::not_found,
                "no checkpoint in " + dir.path() + " has the global step, without which none is restored in part",
                "checkpoint " + dir.path("weights") + " is passed over, since it does not have 'global_step'") == "");
}

TEST_CASE("a training that may begin with a part prefers an older checkpoint that is whole") {
  temporary_folder dir;
  shared_model m;
  m.partial = true;
  const auto more = pn::variable(1.0f, {.name = "more"});
  m.train(dir.path(), 2);
  {
    pn::session sess;
    tr::saver().restore(sess, dir.path("model-2"));
    tr::saver{{.variables = {m.w, m.step}}}.save(sess, dir.path("weights"), m.step);
  }
  CHECK(m.train(dir.path(), 0) == "restored checkpoint " + dir.path("model-2") + ": training goes on at step 2; " +
                                      "checkpoint " + dir.path("weights-2") +
                                      " is passed over, since it does not have 'more'");
}

TEST_CASE("an older checkpoint that is damaged keeps no training from the newer one that will do in part") {
  temporary_folder dir;
  shared_model().train(dir.path(), 2);
  std::filesystem::resize_file(dir.path("model-1.safetensors"), 20);
  shared_model m;
  m.partial = true;
  const auto more = pn::variable(7.0f, {.name = "more"});
  CHECK(m.train(dir.path(), 0) == "restored checkpoint " + dir.path("model-2") +
                                      ": training goes on at step 2; it does not have 'more': initialised");
}

TEST_CASE("a training whose saver has another name for the step begins with a part that has it") {
  temporary_folder dir;
  const auto saver_of = [](const shared_model& m) {
    return std::make_shared<tr::saver>(tr::saver_options{.variables = {m.w}, .names = {{"old/step", m.step}}});
  };
  {
    shared_model m;
    m.train(dir.path(), 2, {}, saver_of(m));
  }
  shared_model m;
  m.partial = true;
  const auto more = pn::variable(1.0f, {.name = "more"});
  const auto saver =
      std::make_shared<tr::saver>(tr::saver_options{.variables = {m.w, more}, .names = {{"old/step", m.step}}});
  CHECK(m.train(dir.path(), 0, {}, saver) == "restored checkpoint " + dir.path("model-2") +
                                                 ": training goes on at step 2; it does not have 'more': initialised");
}

TEST_CASE("a saver of two folders removes in each what it has made there beyond what it keeps") {
  temporary_folder first, second;
  shared_model m;
  const auto saver = std::make_shared<tr::saver>(tr::saver_options{.max_to_keep = 2});
  m.train(first.path(), 3, {}, saver);
  m.train(second.path(), 4, {}, saver);
  CHECK(checkpoints(first) == names{"model-2", "model-3"});
  CHECK(checkpoints(second) == names{"model-3", "model-4"});
  CHECK(m.train(first.path(), 2, {}, saver) ==
        "restored checkpoint " + first.path("model-3") + ": training goes on at step 3");
  CHECK(checkpoints(first) == names{"model-4", "model-5"});
  CHECK(checkpoints(second) == names{"model-3", "model-4"});
}

TEST_CASE("a training that finds no list says which checkpoints are there") {
  temporary_folder dir;
  shared_model m;
  m.train(dir.path(), 3);
  const auto list = dir.folder() / "checkpoint";
  const std::string begins = "initialised the variables: training begins at step 0; " + dir.path();
  const auto train = [&] { return shared_model().train(dir.path(), 0); };
  SECTION("since it is gone") {
    std::filesystem::remove(list);
  }
  SECTION("since it is empty") {
    pn::files::write_file(list.string(), "");
  }
  CHECK(train() == begins +
                       " has model-3 and 3 more, which its list of checkpoints does not name, and which new ones "
                       "of these names replace; to go on from one of them, stop, and write the line "
                       "'model_checkpoint_path: \"NAME\"' into " +
                       dir.path("checkpoint"));
}

TEST_CASE("the first line of a list tells from which checkpoint a training goes on") {
  temporary_folder dir;
  shared_model m;
  m.train(dir.path(), 3);
  const auto goes_on_with = [&](const std::string& list) {
    pn::files::write_file(dir.path("checkpoint"), list);
    return std::filesystem::path(tr::latest_checkpoint(dir.folder())).filename();
  };
  CHECK(goes_on_with("model_checkpoint_path: \"model-2\"\n") == "model-2");
  CHECK(goes_on_with("model_checkpoint_path: \"model-1\"\nall_model_checkpoint_paths: \"model-1\"\n"
                     "all_model_checkpoint_paths: \"model-2\"\n") == "model-1");
  CHECK(goes_on_with("all_model_checkpoint_paths: \"model-1\"\nall_model_checkpoint_paths: \"model-3\"\n") ==
        "model-3");
}

TEST_CASE("a checkpoint that is in no list is found by its files, and shards are not taken for one") {
  temporary_folder dir;
  for (const char* name : {"b-10.safetensors", "b-9.safetensors", "c.safetensors.index.json",
                           "c-00001-of-00002.safetensors", "c-00002-of-00002.safetensors", "notes.txt", "checkpoint"})
    std::ofstream(dir.folder() / name);
  CHECK(tr::unlisted_checkpoints(dir.folder()) == names{"b-9", "b-10", "c"});
  CHECK(tr::unlisted_checkpoints(dir.folder() / "nowhere").empty());
}

TEST_CASE("a list of checkpoints that cannot be read ends a start, and harms no checkpoint") {
  temporary_folder dir;
  shared_model m;
  m.train(dir.path(), 1);
  const auto list = dir.folder() / "checkpoint";
  const auto before = checkpoints(dir);
  std::filesystem::remove(list);
  SECTION("since it is a folder") {
    std::filesystem::create_directory(list);
  }
  SECTION("since it is a pipe") {
    REQUIRE(::mkfifo(list.c_str(), 0600) == 0);
  }
  CHECK(refusal([&] { m.train(dir.path(), 1); }, pn::errc::invalid_argument, list.string(), "regular file") == "");
  CHECK(refusal([&] { tr::latest_checkpoint(dir.folder()); }, pn::errc::invalid_argument, list.string()) == "");
  pn::session sess;
  sess.run(pn::global_variables_initializer());
  CHECK(refusal([&] { tr::saver().save(sess, dir.path("model"), 1); }, pn::errc::invalid_argument) == "");
  CHECK(checkpoints(dir) == before);
}

TEST_CASE("a newest checkpoint that is damaged ends a start, which says how to go on without it") {
  temporary_folder dir;
  shared_model m;
  m.train(dir.path(), 2);
  std::filesystem::resize_file(dir.path("model-2.safetensors"), 100);
  CHECK(refusal([&] { m.train(dir.path(), 1); }, pn::errc::data_loss, "model-2.safetensors",
                "; to go on from " + dir.path("model-1") + ", remove " + dir.path("model-2.safetensors")) == "");
  std::filesystem::remove(dir.path("model-2.safetensors"));
  CHECK(m.train(dir.path(), 0) == "restored checkpoint " + dir.path("model-1") + ": training goes on at step 1");
}

TEST_CASE("a newest checkpoint of which a byte has changed ends a start, which says how to go on without it") {
  temporary_folder dir;
  shared_model m;
  m.train(dir.path(), 2);
  const std::string file = dir.path("model-2.safetensors");
  {
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(-1, std::ios::end);
    bytes.put('\x55');
  }
  CHECK(refusal([&] { m.train(dir.path(), 1); }, pn::errc::data_loss, "differs from its checksum",
                "; to go on from " + dir.path("model-1") + ", remove " + file) == "");
  std::filesystem::remove(file);
  CHECK(m.train(dir.path(), 0) == "restored checkpoint " + dir.path("model-1") + ": training goes on at step 1");
}

TEST_CASE("a saver without some variables, the global step among them, restores its own, and the others begin anew") {
  temporary_folder dir;
  shared_model m;
  const auto of_w = [&] { return std::make_shared<tr::saver>(tr::saver_options{.variables = {m.w}}); };
  m.train(dir.path(), 2, {}, of_w());
  float w = 0;
  CHECK(m.train(
            dir.path(), 1, [&](pn::session& s) { w = s.run(m.w); }, of_w()) ==
        "restored checkpoint " + dir.path("model-2") + ": training goes on at step 0");
  CHECK(w == 4);
}

TEST_CASE("a second training in the folder of one that goes on is refused; once that has ended, one begins") {
  temporary_folder dir;
  shared_model m;
  const auto make = [&] {
    return std::make_unique<tr::monitored_training_session>(
        tr::monitored_session_options{.checkpoint_dir = dir.path(), .save_checkpoint_steps = 1});
  };
  auto first = make();
  first->run(m.up);
  const std::string what = "another training writes its checkpoints to " + dir.path() + ", and has not ended";
  CHECK(refusal(make, pn::errc::failed_precondition, what) == "");
  CHECK_THAT(in_child([&] { return failure(make); }), Catch::Contains(what));
  first->run(m.up);
  first->close();
  CHECK_NOTHROW(shared_model().train(dir.path(), 0));
  CHECK(tr::latest_checkpoint(dir.folder()) == dir.path("model-2"));
}

TEST_CASE("a list that people have edited is understood") {
  temporary_folder dir;
  shared_model m;
  m.train(dir.path(), 2);
  for (const char* list :
       {"model_checkpoint_path: \"model-1\"\r\n", "model_checkpoint_path: \"model-1\" \n",
        "model_checkpoint_path: 'model-1'\n", "model_checkpoint_path:\"model-1\"", "  model_checkpoint_path: model-1\n",
        "\xEF\xBB\xBFmodel_checkpoint_path: \"model-1\"\n", "model_checkpoint_path: \"mode\\154-1\"\n"}) {
    INFO(list);
    pn::files::write_file(dir.path("checkpoint"), list);
    CHECK(tr::latest_checkpoint(dir.folder()) == dir.path("model-1"));
  }
  pn::files::write_file(dir.path("checkpoint"), "model_checkpoint_path: \"model-7\"\n");
  CHECK_THAT(shared_model().train(dir.path(), 0), Catch::Contains("; the list of checkpoints in " + dir.path() +
                                                                  " names 'model-7', of which there is no file; "));
}

TEST_CASE("a training that goes on from an earlier checkpoint, by an edited list, tells of the later ones") {
  temporary_folder dir;
  shared_model m;
  m.train(dir.path(), 4);
  pn::files::write_file(dir.path("checkpoint"), "model_checkpoint_path: \"model-2\"\n");
  const std::string said = shared_model().train(dir.path(), 0);
  CHECK_THAT(said, Catch::Contains("model-2: training goes on at step 2; " + dir.path() + " has model-4 and 1 more, " +
                                   "which its list of checkpoints does not name"));
}

TEST_CASE("a checkpoint has a name of any characters, and is no folder") {
  temporary_folder dir;
  shared_model m;
  pn::session sess;
  sess.run(pn::global_variables_initializer());
  tr::saver saver;
  for (const char* name : {"two\nlines", "a \"quoted\" one", "back\\slash", "gr\u00f6\u00dfe", "cr\r"}) {
    saver.save(sess, dir.path(name));
    CHECK(tr::latest_checkpoint(dir.folder()) == dir.path(name));
  }
  CHECK(refusal([&] { saver.save(sess, dir.path() + "/"); }, pn::errc::invalid_argument, "of a folder") == "");
}

TEST_CASE("an index that names files of others costs them nothing") {
  temporary_folder dir;
  shared_model m;
  pn::session sess;
  sess.run(pn::global_variables_initializer());
  tr::saver one{{.variables = {pn::operation(m.g, id_of(m.w))}, .max_to_keep = 1}};
  one.save(sess, dir.path("other"));
  const auto index_of = [&](const std::string& name, const std::string& file) {
    pn::files::write_file(dir.path(name + ".safetensors.index.json"),
                          R"({"metadata": {}, "weight_map": {"w": ")" + file + "\"}}");
  };
  tr::saver best{{.variables = {pn::operation(m.g, id_of(m.w))}, .max_to_keep = 1}};
  index_of("best", "best.safetensors");
  best.save(sess, dir.path("best"));
  CHECK(checkpoints(dir) == names{"best", "other"});
  index_of("best", "other.safetensors");
  best.save(sess, dir.path("next"));  // removes best
  CHECK(checkpoints(dir) == names{"next", "other"});
}

TEST_CASE("a list keeps what it names of other folders") {
  temporary_folder dir, elsewhere;
  shared_model m;
  pn::session sess;
  sess.run(pn::global_variables_initializer());
  tr::saver there;
  const std::string far = there.save(sess, elsewhere.path("far"));
  pn::files::write_file(dir.path("checkpoint"), "model_checkpoint_path: \"" + far + "\"\n");
  tr::saver saver;
  saver.recover_last_checkpoints(dir.path());
  saver.save(sess, dir.path("near"));
  const auto all = tr::read_checkpoint_state(dir.folder()).all;
  REQUIRE(all.size() == 2);
  CHECK(all[0].prefix == far);
}

TEST_CASE("a folder is one training, however its path is spelt") {
  temporary_folder dir;
  std::filesystem::create_directory_symlink(dir.folder(), dir.folder() / "link");
  const auto number = tr::detail::number_of_training(dir.path());
  for (const char* spelt : {"/", "/.", "/link", "/link/", "/link/."})
    CHECK(tr::detail::number_of_training(dir.path() + spelt) == number);
  CHECK(tr::detail::number_of_training(dir.path("other")) != number);
}
