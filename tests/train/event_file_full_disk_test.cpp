// What an event file does where there is no room: the events wait, and later ones go on where the file ended.
#include <pinion/train/summary/event_file_reader.hpp>
#include <pinion/train/summary/event_file_writer.hpp>

#include <catch2/catch.hpp>

#include <support/caught.hpp>
#include <support/file_limit.hpp>
#include <support/temporary_folder.hpp>

#if PINION_HAS_PROTOZERO
namespace {

using namespace pinion;
namespace tr = pinion::train;

TEST_CASE("a file that could not grow is whole once it can, with every event") {
  temporary_folder dir;
  tr::event_file_writer w(dir.folder(), {.max_queue = 1});
  w.add(tr::event_kind::summary, std::string(30, 'x'), 1);
  {
    const file_limit limit(150);
    for (int step = 2; step < 5; ++step) {
      const auto e = caught([&] {
        for (int i = 0; i < 3; ++i) w.add(tr::event_kind::summary, std::string(30, 'x'), step);
      });
      CHECK(e.sentence().find("cannot write to the event file " + w.path().string() + ": ") == 0);
    }
    CHECK(std::filesystem::file_size(w.path()) == 150);
  }
  w.flush();
  tr::event_file_reader r(w.path());
  std::vector<std::int64_t> steps;
  while (auto e = r.next()) steps.push_back(e->step);
  CHECK(steps.size() >= 5);
  CHECK(steps.back() == 4);
  CHECK(std::is_sorted(steps.begin(), steps.end()));
  CHECK(r.offset() == std::filesystem::file_size(w.path()));
}

}  // namespace
#endif
