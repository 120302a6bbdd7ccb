// Children of fork(), of a process that trains: their copies of its objects do nothing.
#if !defined(__SANITIZE_THREAD__)  // which starts no threads in a process forked off one with threads
#include <catch2/catch.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <pinion/data/sources.hpp>
#include <pinion/train.hpp>

#include <support/in_child.hpp>
#include <support/own_graph.hpp>
#include <support/temporary_folder.hpp>

namespace {

namespace pn = pinion;
namespace tr = pinion::train;

}  // namespace

TEST_CASE_METHOD(own_graph, "a child that ends an inherited training writes nothing, and the parent's goes on") {
  const temporary_folder folder;
  auto step = tr::get_or_create_global_step();
  const pn::operation next = pn::assign_add(step, std::int64_t{1});
  auto training =
      std::make_unique<tr::monitored_training_session>(tr::monitored_session_options{.checkpoint_dir = folder.path()});
  training->run(next);
  CHECK(in_child([&] {
          training.reset();
          return std::string("well");
        }) == "well");
  CHECK(!std::filesystem::exists(folder.path("model-1.safetensors")));
  training->run(next);
  training.reset();
  CHECK(tr::latest_checkpoint(folder.path()).ends_with("-2"));
}

TEST_CASE("a child does not wait for the threads of an inherited coordinator and pass") {
  std::optional<tr::coordinator> coord(std::in_place);
  coord->launch("waiter", [&] { coord->wait_for_stop(); });
  auto numbers = pn::data::range(100).prefetch(2);
  std::optional pass(numbers.iterate());
  pass->next();
  CHECK(in_child([&] {
          coord.reset();
          pass.reset();
          return std::string("well");
        }) == "well");
  coord->request_stop();
  coord->join();
  CHECK(pass->next());
}
#endif
