// The end of a process whose threads are in steps.
#include <catch2/catch.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include <pinion/base/calls_until_exit.hpp>
#include <pinion/base/error.hpp>

namespace {

struct some_library;
using some_call = pinion::library_call<some_library>;

// The exit code of a child that runs `body` and then exits; -1 where it ended otherwise.
template <class F>
int end_of_child(F&& body) {
  const ::pid_t child = ::fork();
  if (child == 0) {
    body();
    std::exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("a process that exits while a thread is in the library of convolutions ends well") {
  for (int i = 0; i < 8; ++i) CHECK(std::system(PINION_TEST_EXIT_IN_A_STEP) == 0);
}

TEST_CASE("a process that exits while a thread is in the library of products of doubles ends well") {
  for (int i = 0; i < 24; ++i) CHECK(std::system(PINION_TEST_EXIT_IN_A_STEP " doubles") == 0);
}

TEST_CASE("exit waits for the calls of a library that run, and refuses later ones") {
  CHECK(end_of_child([] {
          static std::atomic<bool> inside{false}, left{false};
          std::atexit([] {
            if (!left) std::_Exit(3);
          });
          { const some_call first; }  // from here on exit() waits, before it calls what was registered above
          std::thread([] {
            const some_call slow;
            inside = true;
            inside.notify_one();
            try {
              for (;;) const some_call later;
            } catch (const pinion::error& e) {
              left = e.code() == pinion::errc::cancelled;
            }
          }).detach();
          inside.wait(false);
        }) == 0);
}

TEST_CASE("exit waits for a call that makes the statics of its library before it ends") {
  CHECK(end_of_child([] {
          static std::atomic<bool> inside{false}, left{false};
          struct of_the_library {
            ~of_the_library() {
              if (!left) std::_Exit(3);
            }
          };
          { const some_call first; }
          std::thread([] {
            const some_call slow;
            static const of_the_library made;
            inside = true;
            inside.notify_one();
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
            left = true;
          }).detach();
          inside.wait(false);
        }) == 0);
}

TEST_CASE("the child of a fork that happens during a call does not wait for it") {
  const some_call of_the_parent;
  const auto began = std::chrono::steady_clock::now();
  CHECK(end_of_child([] {
          { const some_call first; }
        }) == 0);
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(5));
}
