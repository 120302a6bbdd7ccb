// The lines of the log, and who takes them.
#include <catch2/catch.hpp>

#include <string>
#include <thread>
#include <vector>

#include <support/told_lines.hpp>

#include <pinion/base/log.hpp>

namespace {

using namespace pinion;

TEST_CASE("a line of the log goes to standard error, with the task that it is about") {
  const told_lines told;
  write_log(log_level::warning, "/job:ps/replica:0/task:0", "refused 10.0.0.9:4000");
  write_log(log_level::info, "", "waiting for /job:ps/replica:0/task:0");
  CHECK(told.all() ==
        "pinion: /job:ps/replica:0/task:0 refused 10.0.0.9:4000\npinion: waiting for /job:ps/replica:0/task:0\n");
}

TEST_CASE("lines of all threads go to the taker that a program sets, one at a time, until it takes no more") {
  std::vector<log_line> taken;  // no lock: one thread at a time is promised
  set_log([&](const log_line& line) { taken.push_back(line); });
  const told_lines told;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([] {
      for (int n = 0; n < 100; ++n) write_log(log_level::error, "t", "x");
    });
  for (auto& t : threads) t.join();
  set_log(nullptr);
  write_log(log_level::error, "", "after it");
  CHECK(taken.size() == 400);
  CHECK(taken[0].level == log_level::error);
  CHECK(taken[0].task == "t");
  CHECK(taken[0].text == "x");
  CHECK(told.all() == "pinion: after it\n");
}

TEST_CASE("a line of the log is one line of harmless text, whatever strangers have said") {
  std::vector<log_line> taken;
  const auto tell = [] {
    write_log(log_level::warning, "/job:\x1b]0;x\x07", "refused\npinion: forged \x1b[2J \xc2\x9b \xe2\x80\xae \xff");
  };
  set_log([&](const log_line& line) { taken.push_back(line); });
  tell();
  set_log(nullptr);
  CHECK(taken.at(0).task == R"(/job:\x1b]0;x\x07)");
  CHECK(taken.at(0).text == R"(refused\npinion: forged \x1b[2J \u009b \u202e \xff)");
  const told_lines told;
  tell();
  CHECK(told.all() == R"(pinion: /job:\x1b]0;x\x07 refused\npinion: forged \x1b[2J \u009b \u202e \xff)"
                      "\n");
}

TEST_CASE("a line of the log has an end, and no character is cut") {
  std::vector<log_line> taken;
  set_log([&](const log_line& line) { taken.push_back(line); });
  std::string long_text = "x";
  for (int i = 0; i < 10'000; ++i) long_text += "\xc3\xa9";
  write_log(log_level::info, "", long_text);
  set_log(nullptr);
  CHECK(taken.at(0).text.size() <= 4096);
  CHECK_THAT(taken.at(0).text, Catch::EndsWith("\xc3\xa9..."));
}

TEST_CASE("levels have names") {
  CHECK(to_string(log_level::info) == "info");
  CHECK(to_string(log_level::warning) == "warning");
  CHECK(to_string(log_level::error) == "error");
}

}  // namespace
