// Kernels made of text: compiled together, kept in memory and on the disk, refused one by one.
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <thread>

#include <pinion/base/thread_pool.hpp>
#include <pinion/device/cuda/kernel_store.hpp>

#include "cuda_device/gpus.hpp"
#include "support/temporary_folder.hpp"

namespace {

using namespace cuda_tests;

// A kernel that does nothing but compile.
pn::cuda::kernel_text named(const std::string& name, const std::string& body = "") {
  return {name, "namespace pinion { namespace " + name +
                    " {\nstruct argument { int n; };\nextern \"C\" __global__ void __launch_bounds__(256) " + name +
                    "(const __grid_constant__ argument a) {" + body + "}\n}}\n"};
}

struct store : machine {
  pn::cuda::kernel_store fresh() const { return on(folder.path("cache")); }
  // A store for the first GPU.
  pn::cuda::kernel_store on(const std::string& cache) const {
    const auto cards = pn::cuda::list_cards().cards;
    return {cards.at(0).major, cards.at(0).minor, pn::cuda::code_cache(cache)};
  }
  // The files of units, which hold code.
  std::vector<std::filesystem::path> units() const {
    std::vector<std::filesystem::path> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path("cache")))
      if (entry.path().extension() == ".unit") all.push_back(entry.path());
    return all;
  }

  temporary_folder folder;
};

TEST_CASE_METHOD(store, "announced kernels are compiled together with the first that is wanted") {
  auto kernels = fresh();
  kernels.announce(named("announced_1"));
  kernels.announce(named("announced_2"));
  CHECK(kernels.find(named("wanted"), nullptr) != nullptr);
  CHECK(kernels.made().compiled == 3);
  CHECK(units().size() == 1);
  CHECK(kernels.find(named("announced_2"), nullptr) != nullptr);
  CHECK(kernels.made().compiled == 3);
}

TEST_CASE_METHOD(store, "threads share the units of a batch") {
  pn::thread_pool two(1);
  auto kernels = fresh();
  for (int i = 0; i < 5; ++i) kernels.announce(named("part_" + std::to_string(i)));
  CHECK(kernels.find(named("part_0"), &two) != nullptr);
  CHECK(kernels.made().compiled == 5);
  CHECK(units().size() == 2);
}

TEST_CASE_METHOD(store,
                 "announced kernels can be kept on the disk without being loaded, and the next program finds them") {
  pn::thread_pool two(1);
  auto kernels = fresh();
  for (const char* name : {"left_1", "left_2", "left_3"}) kernels.announce(named(name));
  kernels.keep_announced(&two);
  CHECK(kernels.made().compiled == 0);
  CHECK(units().size() == 2);
  auto next = fresh();
  CHECK(next.find(named("left_1"), nullptr) != nullptr);
  CHECK(next.made().from_disk == 1);
  kernels.announce(named("bad", "no C++"));
  CHECK_THROWS_WITH(kernels.keep_announced(nullptr), Catch::Matchers::Contains("error"));
}

TEST_CASE_METHOD(store, "a folder in place of a file of the disk counts as a missing one") {
  CHECK(fresh().find(named("shadowed"), nullptr) != nullptr);
  for (const auto& unit : units()) {
    std::filesystem::remove(unit);
    std::filesystem::create_directory(unit);
  }
  auto next = fresh();
  CHECK(next.find(named("shadowed"), nullptr) != nullptr);
  CHECK(next.made().compiled == 1);
}

TEST_CASE_METHOD(store, "the next program finds kernels on the disk") {
  CHECK(fresh().find(named("kept"), nullptr) != nullptr);
  auto next = fresh();
  CHECK(next.find(named("kept"), nullptr) != nullptr);
  CHECK(next.made().from_disk == 1);
  CHECK(next.made().compiled == 0);
}

TEST_CASE_METHOD(store, "a damaged file on the disk is compiled anew and replaced") {
  fresh().find(named("damaged"), nullptr);
  REQUIRE(units().size() == 1);
  std::ofstream(units()[0], std::ios::in | std::ios::out).write("x", 1);
  auto next = fresh();
  CHECK(next.find(named("damaged"), nullptr) != nullptr);
  CHECK(next.made().compiled == 1);
  auto third = fresh();
  third.find(named("damaged"), nullptr);
  CHECK(third.made().from_disk == 1);
}

TEST_CASE_METHOD(store, "a folder that cannot be written is no trouble") {
  auto kernels = on("/proc/none");
  CHECK(kernels.find(named("unkept"), nullptr) != nullptr);
}

TEST_CASE_METHOD(store,
                 "a text that the compiler refuses is no kernel, alone, which is told once with a line of its log") {
  auto kernels = fresh();
  kernels.announce(named("good"));
  std::vector<std::string> told;
  const auto tell = [&](const pn::error& why) { told.push_back(why.sentence()); };
  for (int i = 0; i < 2; ++i) CHECK(kernels.find(named("bad", "this is no C;"), nullptr, tell) == nullptr);
  REQUIRE(told.size() == 1);
  CHECK_THAT(told[0], Catch::StartsWith("NVRTC refuses a kernel (NVRTC_ERROR_COMPILATION): pinion.cu"));
  CHECK_THAT(told[0], Catch::Contains("error"));
  CHECK(kernels.find(named("good"), nullptr) != nullptr);
}

TEST_CASE_METHOD(store, "code that the driver refuses is no kernel, and is not tried again", "[stand-in]") {
  fake_cuda::refuse(fake_cuda::code::that_is_loaded);
  auto kernels = fresh();
  kernels.announce(named("unloaded_too"));
  std::vector<std::string> told;
  const auto tell = [&](const pn::error& why) { told.push_back(why.sentence()); };
  CHECK(kernels.find(named("unloaded"), nullptr, tell) == nullptr);
  REQUIRE(told.size() == 1);
  CHECK_THAT(told[0], Catch::StartsWith("the driver does not load a kernel: cudaLibraryLoadData returned "
                                        "cudaErrorUnsupportedPtxVersion"));
  fake_cuda::reset();
  CHECK(kernels.find(named("unloaded"), nullptr, tell) == nullptr);
  CHECK(kernels.find(named("unloaded_too"), nullptr, tell) == nullptr);
  CHECK(told.size() == 2);
  CHECK(kernels.made().compiled == 0);
  CHECK(fresh().find(named("unloaded"), nullptr) != nullptr);
}

TEST_CASE_METHOD(store, "a failure of CUDA is no refusal of a kernel: the next call tries anew", "[stand-in]") {
  auto kernels = fresh();
  CUkern_st* const first = kernels.find(named("before_the_fault"), nullptr);
  {
    const auto gpus = pn::cuda::make_devices({}, {}).devices;
    fake_cuda::fault_next_launch(0, cudaErrorIllegalAddress);
    pn::cuda::launch(gpus[0]->stream()->native(), first, std::vector<std::byte>(8), 1, 32);
    caught([&] { gpus[0]->stream()->synchronize(); });
    CHECK(refusal([&] { kernels.find(named("behind_the_fault"), nullptr); }, pn::errc::internal,
                  "cudaErrorIllegalAddress") == "");
  }
  fake_cuda::reset();
  CHECK(kernels.find(named("behind_the_fault"), nullptr) != nullptr);
}

TEST_CASE_METHOD(store, "kernels on the disk are told apart by the version of the compiler, where it is there") {
  const pn::cuda::code_cache cache(folder.path("cache"));
  cache.keep({"a", "b"}, "13.0", "code of 13.0");
  cache.keep({"a"}, "12.8", "code of 12.8");
  CHECK(cache.find("a", "13.0") == "code of 13.0");
  CHECK(cache.find("a", "12.8") == "code of 12.8");
  CHECK(cache.find("b", "12.8") == std::nullopt);
  CHECK(cache.find("a", "") == "code of 12.8");
  CHECK(cache.find("b", "") == "code of 13.0");
  cache.keep({"a"}, "13.0", "new code of 13.0");
  CHECK(cache.find("a", "13.0") == "new code of 13.0");
  CHECK(cache.find("a", "") == "new code of 13.0");
}

TEST_CASE_METHOD(store, "the disk keeps code for some versions of the compiler, the newest first") {
  const pn::cuda::code_cache cache(folder.path("cache"));
  for (const char* version : {"1", "2", "3", "4", "5"}) cache.keep({"a"}, version, "code");
  CHECK(cache.find("a", "1") == std::nullopt);
  for (const char* version : {"2", "3", "4", "5"}) CHECK(cache.find("a", version) == "code");
}

TEST_CASE_METHOD(store, "a full disk loses what was used least recently") {
  namespace fs = std::filesystem;
  const std::string path = folder.path("cache");
  const pn::cuda::code_cache cache(path, 2000);
  const auto code = [](char of) { return std::string(600, of); };
  cache.keep({"read"}, "13.0", code('r'));
  cache.keep({"left"}, "13.0", code('l'));
  for (const auto& entry : fs::directory_iterator(path))
    fs::last_write_time(entry.path(), fs::file_time_type::clock::now() - std::chrono::hours(1));
  CHECK(cache.find("read", "13.0") == code('r'));
  cache.keep({"more"}, "13.0", code('m'));
  CHECK(cache.find("left", "13.0") == code('l'));  // all three fit
  for (const auto& entry : fs::directory_iterator(path))
    fs::last_write_time(entry.path(), fs::file_time_type::clock::now() - std::chrono::hours(1));
  CHECK(cache.find("read", "13.0") == code('r'));
  const pn::cuda::code_cache small(path, 1900);
  small.keep({"last"}, "13.0", "x");
  CHECK(small.find("read", "13.0") == code('r'));
  CHECK(small.find("last", "13.0") == "x");
  CHECK(small.find("left", "13.0") == std::nullopt);
  CHECK(small.find("more", "13.0") == std::nullopt);
}

TEST_CASE_METHOD(store, "threads that want one kernel get the same") {
  auto kernels = fresh();
  CUkern_st* found[4] = {};
  {
    std::vector<std::jthread> threads;
    for (auto& one : found) threads.emplace_back([&] { one = kernels.find(named("common"), nullptr); });
  }
  CHECK(kernels.made().compiled == 1);
  for (CUkern_st* one : found) CHECK(one == found[0]);
}

}  // namespace
