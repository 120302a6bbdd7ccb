// Libraries that are opened while the program runs.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <string>

#include <pinion/device/cuda/shared_library.hpp>

namespace {

using pinion::cuda::shared_library;

// The folders in which a test has libraries sought.
struct library_folders {
  explicit library_folders(const char* list) { setenv("PINION_CUDA_LIBS", list, 1); }
  ~library_folders() { unsetenv("PINION_CUDA_LIBS"); }
};

}  // namespace

TEST_CASE("a library that the system has is opened, and its functions are found") {
  const shared_library maths({"libthere_is_none.so.7", "libm.so.6"});
  REQUIRE(maths.is_open());
  CHECK(maths.path() == "libm.so.6");
  CHECK(maths.problem() == "");
  auto* const root = maths.symbol<double(double)>("sqrt");
  REQUIRE(root);
  CHECK(root(9.0) == 3.0);
  CHECK(maths.symbol<double(double)>("there_is_no_such_function") == nullptr);
}

TEST_CASE("a missing library is a sentence, and has no functions") {
  const library_folders folders(":/there/is/none:");
  const shared_library missing({"libthere_is_none.so.7"});
  CHECK_FALSE(missing.is_open());
  CHECK_THAT(missing.problem(), Catch::Contains("the library libthere_is_none.so.7 was found neither in") &&
                                    Catch::Contains("PINION_CUDA_LIBS"));
  CHECK(missing.symbol<void()>("sqrt") == nullptr);
  CHECK(missing.folder() == "");
}

TEST_CASE("a library tells the folder in which it was found, and one that belongs to it is sought there first") {
  const shared_library maths({"libm.so.6"});
  REQUIRE(maths.folder() != "");
  const shared_library beside({"libc.so.6"}, maths.folder());
  CHECK(beside.path() == maths.folder() + "/libc.so.6");
  CHECK(shared_library({"libc.so.6"}, "/there/is/none").path() == "libc.so.6");
  CHECK_FALSE(shared_library().is_open());
}
