// Being asked to stop: who is told, at which stage, and what becomes of the signals. Each test has a process of its
// own.
#include <pinion/base/stop_signal.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <future>

namespace {

using namespace pinion;

// How a child ends that does this: its exit status, which is 0 where the body returns true; below 0 the signal.
template <class F>
int child(F body) {
  const pid_t id = ::fork();
  if (id == 0) {
    for (const int number : {SIGINT, SIGTERM}) std::signal(number, SIG_DFL);
    ::alarm(30);
    ::_exit(body() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(id, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}
void ask(int number) {
  ::kill(::getpid(), number);
}

struct listening {
  explicit listening(stop_stage stage) : listener(stage, [this](int number) { told.set_value(number); }) {}
  int number() { return told.get_future().get(); }

  std::promise<int> told;
  stop_listener listener;
};

TEST_CASE("a listener is told of SIGINT and of SIGTERM, and which of them it was") {
  for (const int number : {SIGINT, SIGTERM})
    CHECK(child([=] {
            listening l(stop_stage::serves);
            ask(number);
            return l.number() == number;
          }) == 0);
}

TEST_CASE("those who serve are told when all who save are done, whoever came first") {
  CHECK(child([] {
          std::promise<void> saving, may_end;
          std::atomic<bool> saved = false;
          std::promise<bool> serves;
          const stop_listener first(stop_stage::serves, [&](int) { serves.set_value(saved); });
          const stop_listener second(stop_stage::saves, [&](int) {
            saving.set_value();
            may_end.get_future().wait();
            saved = true;
          });
          listening third(stop_stage::saves);
          ask(SIGTERM);
          saving.get_future().wait();
          third.number();  // does not wait for the second
          may_end.set_value();
          return serves.get_future().get();
        }) == 0);
}

TEST_CASE("the same signal twice is one request, and so is another one close behind it") {
  for (const int second : {SIGTERM, SIGINT})
    CHECK(child([=] {
            listening l(stop_stage::saves);
            ask(SIGTERM);
            ask(second);
            return l.number() == SIGTERM;
          }) == 0);
}

TEST_CASE("a request that comes twice is one, also where its listener has gone meanwhile") {
  CHECK(child([] {
          const auto since = std::chrono::steady_clock::now();
          {
            listening l(stop_stage::serves);
            ask(SIGTERM);
            l.number();
          }
          if (std::chrono::steady_clock::now() - since < std::chrono::milliseconds(400)) ask(SIGTERM);
          return true;
        }) == 0);
}

TEST_CASE("a second signal ends the process half a second later, while the first is still minded") {
  CHECK(child([] {
          std::promise<void> told;
          const stop_listener l(stop_stage::saves, [&](int) {
            told.set_value();
            for (;;) ::pause();
          });
          ask(SIGTERM);
          told.get_future().wait();
          for (;;) ask(SIGINT);
          return true;
        }) == -SIGINT);
}

TEST_CASE("signals have their default again when nobody listens") {
  CHECK(child([] {
          { listening l(stop_stage::saves); }
          ask(SIGTERM);
          return true;
        }) == -SIGTERM);
}

TEST_CASE("a handler that is there stays, and so does one that comes") {
  static std::atomic<int> came;
  const auto own = [](int) { ++came; };
  CHECK(child([=] {
          std::signal(SIGTERM, own);
          { listening l(stop_stage::saves); }
          ask(SIGTERM);
          return came == 1;
        }) == 0);
  CHECK(child([=] {
          {
            listening l(stop_stage::saves);
            std::signal(SIGTERM, own);
            ask(SIGTERM);
          }
          ask(SIGTERM);
          return came == 2;
        }) == 0);
  CHECK(child([] {
          std::signal(SIGTERM, SIG_IGN);
          listening l(stop_stage::saves);
          ask(SIGTERM);
          return true;
        }) == 0);
}

TEST_CASE("a listener in a process that was asked to stop before is told at once") {
  CHECK(child([] {
          {
            listening l(stop_stage::saves);
            ask(SIGTERM);
            l.number();
          }
          return listening(stop_stage::serves).number() == SIGTERM;
        }) == 0);
}

TEST_CASE("a process knows from the signal on that it was asked") {
  CHECK(child([] {
          listening l(stop_stage::saves);
          const int before = stop_signal_so_far();
          ask(SIGTERM);
          return before == 0 && stop_signal_so_far() == SIGTERM;
        }) == 0);
}

#if !defined(__SANITIZE_THREAD__)  // which keeps signals back in a process forked off one with threads
TEST_CASE("a child that is forked does not tell its parent") {
  CHECK(child([] {
          std::atomic<bool> told = false;
          const stop_listener l(stop_stage::saves, [&](int) { told = true; });
          const pid_t id = ::fork();
          if (id == 0) {
            ::alarm(30);
            ask(SIGTERM);
            for (;;) ::pause();
          }
          int status = 0;
          ::waitpid(id, &status, 0);
          return WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM && !told;
        }) == 0);
}

TEST_CASE("a child that is forked has listeners of its own") {
  CHECK(child([] {
          std::atomic<bool> told = false;
          const stop_listener inherited(stop_stage::saves, [&](int) { told = true; });
          const pid_t id = ::fork();
          if (id == 0) {
            ::alarm(30);
            listening own(stop_stage::serves);
            ask(SIGINT);
            ::_exit(own.number() == SIGINT && stop_signal_so_far() == SIGINT ? 0 : 1);
          }
          int status = 0;
          ::waitpid(id, &status, 0);
          return WIFEXITED(status) && WEXITSTATUS(status) == 0 && !told && stop_signal_so_far() == 0;
        }) == 0);
}
#endif

}  // namespace
