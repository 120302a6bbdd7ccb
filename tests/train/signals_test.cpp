// Programs that train and are asked to stop by signals: they end in time, and what they have reached is saved.
#include <pinion/train/checkpoint/saver.hpp>

#include <poll.h>
#include <process.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <csignal>
#include <string>

#include <support/temporary_folder.hpp>

namespace {

// One run of such a program, from its first steps on. What it says is read until a line comes, or for half a minute.
class program {
 public:
  explicit program(const std::string& way, const std::string& first = "trains")
      : process_("stopped_training", PINION_TEST_STOPPED_TRAINING, {"stopped_training", way, dir.path()}) {
    REQUIRE(says(first));
  }
  void signal(int number) const { ::kill(process_.pid(), number); }
  // Has it said that, or does it?
  bool says(const std::string& words) {
    while (said.find(words) == std::string::npos)
      if (!more()) return false;
    return true;
  }
  // How it ended: "" for well.
  std::string end() {
    while (more()) continue;
    if (!ended_) process_.kill();
    return process_.wait();
  }
  // How it ended, where it is sent a signal again and again.
  std::string end_by(int number) {
    ::pollfd over{process_.output(), POLLIN, 0};
    for (int i = 0; i < 3000 && !ended_; ++i)
      if (::poll(&over, 1, 10) == 0)
        signal(number);
      else
        more();
    return end();
  }
  bool has(const std::string& words) const { return said.find(words) != std::string::npos; }
  // The step at which the program says that training has ended is the step of the last checkpoint.
  bool is_saved() const {
    const auto at = said.find("ended at ");
    if (at == std::string::npos) return false;
    const std::string step = said.substr(at + 9, said.find('\n', at) - at - 9);
    return pinion::train::latest_checkpoint(dir.path()).ends_with("-" + step);
  }

  temporary_folder dir;
  std::string said;

 private:
  bool more() {
    if (ended_) return false;
    ::pollfd readable{process_.output(), POLLIN, 0};
    if (::poll(&readable, 1, 30'000) != 1) return false;
    const std::string text = process_.read();
    ended_ = text.empty();
    said += text;
    return !ended_;
  }

  process process_;
  bool ended_ = false;
};

TEST_CASE("a signal ends training after the step, saves, and both are said") {
  const auto [number, name] = GENERATE(table<int, std::string>({{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}}));
  program p("until_told");
  p.signal(number);
  INFO(p.said);
  CHECK(p.end() == "");
  CHECK(p.has(name + ": training ends after this step; once more ends the program at once"));
  CHECK(p.has(name + ": training has stopped; the last checkpoint is " + p.dir.path()));
  CHECK(p.is_saved());
}

TEST_CASE("a loop that does not ask should_stop is ended by an error, and what it reached is saved") {
  program p("without_looking");
  p.signal(SIGTERM);
  CHECK(p.end() == "exited with status 1");
  CHECK(p.has("cancelled: SIGTERM has asked this program to stop training"));
  CHECK(p.has("the last checkpoint is"));
}

TEST_CASE("a step that waits at a queue is cancelled, and what was reached before is saved") {
  program p("at_an_empty_queue");
  p.signal(SIGTERM);
  CHECK(p.end() == "");
  CHECK(p.has("ended at 2"));
  CHECK(p.is_saved());
}

TEST_CASE("a second signal ends the process at once") {
  program p("patiently");
  p.signal(SIGINT);
  REQUIRE(p.says("once more ends the program at once"));
  CHECK(p.end_by(SIGINT) == "was killed by signal 2 (Interrupt)");
}

TEST_CASE("signals do what they did before where a session is told not to stop on them, and behind its end") {
  program p(GENERATE("without_stopping", "after_the_session"));
  p.signal(SIGTERM);
  CHECK(p.end() == "was killed by signal 15 (Terminated)");
}

TEST_CASE("a handler of the program's own stays") {
  program p("with_an_own_handler");
  p.signal(SIGTERM);
  CHECK(p.end() == "");
  CHECK(p.has("was not told"));
}

TEST_CASE("a process that was asked to stop stays asked") {
  program p("twice");
  p.signal(SIGINT);
  CHECK(p.end() == "exited with status 1");
  CHECK(p.is_saved());
  CHECK(p.has("closed\ncancelled: SIGINT has asked this program to stop training"));
}

TEST_CASE("a worker that waits for its chief ends") {
  program p("for_a_chief");
  p.signal(SIGTERM);
  CHECK(p.end() == "exited with status 1");
  CHECK(p.has("cancelled: SIGTERM has asked this program to stop training"));
}

#if PINION_HAS_DISTRIBUTED
TEST_CASE("servers of the same process serve until the session is saved") {
  program p("beside_servers");
  p.signal(SIGTERM);
  CHECK(p.end() == "");
  CHECK(p.is_saved());
  CHECK((p.has("closed\n") && p.has("saved checkpoint ") && p.has("served\n")));
  CHECK(p.said.rfind("saved checkpoint ") < p.said.find("served\n"));
}

TEST_CASE("a step that waits at another task's queue is cancelled, and what was reached before is saved") {
  program p("at_a_queue_elsewhere");
  p.signal(SIGTERM);
  CHECK(p.end() == "");
  CHECK(p.has("ended at 2"));
  CHECK(p.is_saved());
}

TEST_CASE("a session whose target is not there ends") {
  program p("at_an_absent_master", "has waited");
  p.signal(SIGTERM);
  CHECK(p.end() == "exited with status 1");
  CHECK(p.has("cancelled: SIGTERM has asked this program to stop training"));
}
#endif

}  // namespace
