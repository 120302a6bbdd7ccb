// The file descriptors of a process.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <vector>

#include <pinion/base/descriptors.hpp>

#include <support/in_child.hpp>

TEST_CASE("descriptors that are open are counted, also where none is left to count them with") {
  CHECK(in_child([] {
          const auto before = pinion::open_descriptors();
          const int one = ::open("/dev/null", O_RDONLY);
          if (pinion::open_descriptors() != before + 1) return std::string("one more is not counted");
          ::close(one);
          rlimit few{40, 40};
          ::setrlimit(RLIMIT_NOFILE, &few);
          while (::open("/dev/null", O_RDONLY) >= 0) continue;
          return std::to_string(pinion::open_descriptors()) + " of " + std::to_string(pinion::most_descriptors());
        }) == "40 of 40");
}
