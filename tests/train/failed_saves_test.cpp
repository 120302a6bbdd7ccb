// Disks that fail while training goes on: what is said, what is tried again, and that nothing torn stays.
#include <catch2/catch.hpp>

#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include <pinion/train.hpp>

#include "support/caught.hpp"
#include "support/ends.hpp"
#include "support/file_limit.hpp"
#include "support/own_graph.hpp"
#include "support/temporary_folder.hpp"

namespace {

namespace pn = pinion;
namespace tr = pinion::train;
using pn::errc;

// w in a file of its own, where a checkpoint is sharded.
struct failing_model : own_graph {
  pn::variable_handle<std::int64_t> step = tr::get_or_create_global_step();
  pn::variable_handle<float> w = [] {
    pn::device here{"/job:localhost/task:0"};
    return pn::variable(pn::tensor<float>({2000}), {.name = "w"});
  }();
  pn::operation train = pn::operation(pn::assign_add(step, 1));
};

// What a hook says, line by line.
struct lines {
  std::vector<std::string> all;
  pn::text_sink sink() {
    return [this](std::string_view line) { all.emplace_back(line); };
  }
  bool has(const std::string& part) const {
    return std::any_of(all.begin(), all.end(), [&](const std::string& line) { return line.find(part) != line.npos; });
  }
};

tr::checkpoint_saver_options every_step(const std::string& dir, lines& said) {
  return {.dir = dir, .save_steps = 1, .log = said.sink(), .warn = said.sink()};
}
tr::monitored_session_options with(const tr::checkpoint_saver_options& o) {
  return {.hooks = {tr::checkpoint_saver(o)}, .log_step_count_steps = 0};
}

// While it is there, nothing is made in a folder; nor where root runs the test, who may write anywhere.
class no_right_to_write {
 public:
  explicit no_right_to_write(const std::string& folder) : folder_(folder), is_root_(::geteuid() == 0) {
    ::chmod(folder.c_str(), 0555);
    if (is_root_) ::seteuid(65534);
  }
  no_right_to_write(const no_right_to_write&) = delete;
  ~no_right_to_write() {
    if (is_root_) ::seteuid(0);
    ::chmod(folder_.c_str(), 0755);
  }

 private:
  const std::string folder_;
  const bool is_root_;
};

// A file system of 128 KiB, where the test may have one.
class small_disk {
 public:
  explicit small_disk(const std::string& at)
      : at_(at), is_there_(::mount("none", at.c_str(), "tmpfs", 0, "size=128k") == 0) {}
  small_disk(const small_disk&) = delete;
  ~small_disk() {
    if (is_there_) ::umount(at_.c_str());
  }
  bool is_there() const { return is_there_; }

 private:
  const std::string at_;
  const bool is_there_;
};

// A file of another program on the same disk, which fills it.
class file_of_others {
 public:
  explicit file_of_others(const std::filesystem::path& folder) : at_(folder / "others") {
    std::ofstream(at_) << std::string(1 << 20, 'x');
  }
  file_of_others(const file_of_others&) = delete;
  ~file_of_others() { std::filesystem::remove(at_); }

 private:
  const std::filesystem::path at_;
};

// A step, and five more while there is trouble.
template <class Begin>
void train_through(tr::monitored_training_session& sess, const failing_model& m, Begin trouble) {
  sess.run(m.train);
  const auto now = trouble();
  for (int i = 0; i < 5; ++i) sess.run(m.train);
}

// The step of the newest checkpoint, which is whole; beside those that the list has there is nothing of any.
std::int64_t step_on_disk(const std::filesystem::path& dir, failing_model& m) {
  pn::session other;
  tr::saver().restore(other, tr::latest_checkpoint(dir));
  std::size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(dir)) {
    const std::string name = file.path().filename().string();
    files += name.starts_with("model-") || name.ends_with(".tmp");
  }
  CHECK(files == 3 * tr::read_checkpoint_state(dir).all.size());
  return std::int64_t(other.run(m.step));
}

}  // namespace

TEST_CASE("a checkpoint that finds no room is told of, and training goes on; the next one that does is whole") {
  const bool in_background = GENERATE(true, false);
  temporary_folder dir;
  failing_model m;
  lines said;
  auto o = every_step(dir.path(), said);
  o.in_background = in_background;
  {
    tr::monitored_training_session sess{with(o)};
    train_through(sess, m, [] { return file_limit(4000); });
    CHECK(said.has("cannot save the checkpoint of step 3: cannot write " +
                   dir.path("model-3-00002-of-00002.safetensors")));
    CHECK(said.has("File too large; training goes on"));
    sess.run(m.train);
  }
  CHECK(step_on_disk(dir.folder(), m) == 7);
  CHECK(said.all.back() == "saved checkpoint " + dir.path("model-7"));
}

TEST_CASE("of a save that failed it is said when the next is tried: at the step, or the time, that comes first") {
  temporary_folder dir;
  failing_model m;
  lines said;
  auto o = every_step(dir.path(), said);
  o.retry_secs = 10;
  o.in_background = false;
  std::string when = "at step 7, or in 10 s if that is sooner";
  SECTION("saves by steps") {
    o.save_steps = 7;
  }
  SECTION("saves by time") {
    o.save_steps.reset();
    o.save_secs = 2;
    when = "in 2 s";
  }
  SECTION("saves that are due later than it is tried again") {
    o.save_steps.reset();
    o.save_secs = 600;
    when = "in 10 s";
  }
  std::optional<file_limit> full(4000);
  const tr::monitored_training_session sess{with(o)};
  full.reset();
  CHECK(said.all.back().ends_with("; training goes on, and a save is tried again " + when));
}

TEST_CASE("a save that failed is tried again before the next is due") {
  temporary_folder dir;
  failing_model m;
  lines said;
  auto o = every_step(dir.path(), said);
  o.save_steps = 1000;
  o.retry_secs = 0;
  o.in_background = false;
  std::optional<file_limit> full(4000);
  tr::monitored_training_session sess{with(o)};
  full.reset();
  sess.run(m.train);
  CHECK(said.all.back() == "saved checkpoint " + dir.path("model-1"));
}

TEST_CASE("of a checkpoint that finds no room nothing stays, be it for its first file, a later one or the list") {
  temporary_folder dir;
  failing_model m;
  pn::session sess;
  sess.run(pn::global_variables_initializer());
  tr::saver saver{{.max_to_keep = 100}};
  int saved = 0;
  for (; saved < 40; ++saved) saver.save(sess, dir.path("model"), 1000 + saved);
  const auto before = dir.files();
  for (const rlim_t room : {100, 4000}) {
    const file_limit full(room);
    CHECK(refusal([&] { saver.save(sess, dir.path("model"), 2000); }, errc::resource_exhausted, "cannot write ") == "");
    CHECK(dir.files() == before);
  }
  tr::saver of_step{{.variables = {pn::operation(m.g, id_of(m.step))}, .max_to_keep = 100}};
  of_step.recover_last_checkpoints(dir.path());
  {
    const file_limit full(1500);  // enough for a number, not for a list of 41 names
    CHECK(refusal([&] { of_step.save(sess, dir.path("model"), 2000); }, errc::resource_exhausted, "checkpoint") == "");
  }
  CHECK(dir.files() == before);
  CHECK(of_step.last_checkpoints().size() == 40);
}

TEST_CASE("the save at the end is tried again until there is room") {
  temporary_folder dir;
  failing_model m;
  lines said;
  std::optional<file_limit> full;
  auto o = every_step(dir.path(), said);
  o.warn = [&](std::string_view line) {
    said.all.emplace_back(line);
    if (line.starts_with("cannot save the last checkpoint, of step 2: ")) full.reset();
  };
  tr::monitored_training_session sess{with(o)};
  sess.run(m.train);
  full.emplace(4000);
  sess.run(m.train);
  sess.close();
  CHECK(step_on_disk(dir.folder(), m) == 2);
}

TEST_CASE("where there is no room for long enough, the end says that the last step is not saved") {
  temporary_folder dir;
  failing_model m;
  lines said;
  auto o = every_step(dir.path(), said);
  o.last_save_secs = 0;
  o.in_background = false;
  tr::monitored_training_session sess{with(o)};
  {
    const file_limit full(4000);
    sess.run(m.train);
    CHECK(refusal([&] { sess.close(); }, errc::resource_exhausted, "the last checkpoint, of step 1, cannot be saved",
                  "File too large") == "");
  }
  CHECK(step_on_disk(dir.folder(), m) == 0);
}

TEST_CASE("so many failed saves in a row end training where that is asked for") {
  temporary_folder dir;
  failing_model m;
  lines said;
  auto o = every_step(dir.path(), said);
  o.max_failed_saves = 2;
  o.in_background = false;
  tr::monitored_training_session sess{with(o)};
  const auto train_without_room = [&] {
    const file_limit full(4000);
    sess.run(m.train);
  };
  train_without_room();
  sess.run(m.train);  // which is saved
  train_without_room();
  CHECK(refusal(train_without_room, errc::resource_exhausted,
                "training ends after 2 saves in a row that failed: cannot write ") == "");
}

TEST_CASE(
    "a folder that can no longer be written to does not end training; with one that never could it does not begin") {
  temporary_folder dir;
  failing_model m;
  lines said;
  auto o = every_step(dir.path(), said);
  o.in_background = false;
  {
    const no_right_to_write denied(dir.path());
    CHECK(refusal([&] { tr::monitored_training_session sess{with(o)}; }, errc::permission_denied, dir.path()) == "");
  }
  {
    tr::monitored_training_session sess{with(o)};
    train_through(sess, m, [&] { return no_right_to_write(dir.path()); });
    CHECK(said.has("Permission denied; training goes on"));
  }
  CHECK(step_on_disk(dir.folder(), m) == 6);
}

TEST_CASE("a disk that is full does not end training") {
  temporary_folder dir;
  const small_disk disk(dir.path());
  if (!disk.is_there()) return;  // not everybody may have one
  failing_model m;
  lines said;
  {
    tr::monitored_training_session sess{with(every_step(dir.path(), said))};
    train_through(sess, m, [&] { return file_of_others(dir.folder()); });
    CHECK(said.has("No space left on device; training goes on"));
  }
  CHECK(step_on_disk(dir.folder(), m) == 6);
}

TEST_CASE("a best model that finds no room does not end training, and a later one is saved") {
  temporary_folder dir;
  const small_disk disk(dir.path());
  if (!disk.is_there()) return;  // not everybody may have one
  failing_model m;
  lines said;
  tr::early_stopping best({.metric = [step = 0.](pn::session&) mutable { return ++step; },
                           .every_n_steps = 1,
                           .save_to = dir.path("best"),
                           .warn = said.sink()});
  tr::monitored_training_session sess{{.hooks = {best}, .log_step_count_steps = 0}};
  sess.run(m.train);
  CHECK(best.best() == 1);
  {
    const file_of_others full(dir.folder());
    for (int i = 0; i < 3; ++i) sess.run(m.train);
    CHECK(best.best() == 1);
    CHECK(said.all.size() == 1);
    CHECK(said.has("No space left on device; training goes on without a new best model"));
  }
  sess.run(m.train);
  CHECK(best.best() == 5);
}

TEST_CASE("summaries that find no room are told of once, and come when there is some") {
#if PINION_HAS_PROTOZERO
  temporary_folder dir;
  failing_model m;
  tr::summary::scalar("mean", pn::reduce_mean(m.w));
  lines said;
  const auto writer = std::make_shared<tr::summary_writer>(dir.path(), tr::event_file_options{.max_queue = 1});
  {
    const tr::summary_saver saves({.save_steps = 1, .writer = writer, .warn = said.sink()});
    tr::monitored_training_session sess{{.hooks = {saves}, .log_step_count_steps = 0}};
    sess.run(m.train);
    const file_limit full(std::filesystem::file_size(writer->path()));
    for (int i = 0; i < 3; ++i) sess.run(m.train);
  }
  CHECK(said.all.size() == 1);
  CHECK(said.has("File too large; training goes on without summaries"));
  tr::event_file_reader r(writer->path());
  std::vector<std::int64_t> steps;
  while (auto e = r.next())
    if (e->kind == tr::event_kind::summary) steps.push_back(e->step);
  CHECK(steps.size() == 4);
#endif
}
