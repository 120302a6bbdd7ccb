// Event files: their bytes, when they are written, and how they are read back, whole, torn or broken.
#include <pinion/op/summary/message.hpp>
#include <pinion/train/summary/event_file_reader.hpp>
#include <pinion/train/summary/record.hpp>
#include <pinion/train/summary/summary_writer.hpp>

#include <catch2/catch.hpp>

#include <fstream>
#include <sstream>
#include <thread>

#include <support/caught.hpp>
#include <support/temporary_folder.hpp>
#include <support/wire_message.hpp>

#include <pinion/graph.hpp>

#if PINION_HAS_PROTOZERO
namespace {

using namespace pinion;
namespace tr = pinion::train;

std::string contents(const std::filesystem::path& file) {
  std::ostringstream all;
  all << std::ifstream(file, std::ios::binary).rdbuf();
  return all.str();
}
void write(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

std::string hex(const std::string& bytes) {
  std::string text;
  for (unsigned char b : bytes) {
    char two[4];
    std::snprintf(two, sizeof two, "%02x ", b);
    text += two;
  }
  return text.substr(0, text.empty() ? 0 : text.size() - 1);
}

// A clock that stands until a test moves it.
struct clock_of_test {
  std::shared_ptr<double> now = std::make_shared<double>(1700000000.0);
  tr::event_file_options options(tr::event_file_options o = {}) const {
    o.clock = [now = now] { return *now; };
    return o;
  }
};

std::vector<tr::event> events_in(const std::filesystem::path& file) {
  std::vector<tr::event> all;
  tr::event_file_reader reader(file);
  while (auto e = reader.next()) all.push_back(*e);
  return all;
}

const std::string version_record =
    "18 00 00 00 00 00 00 00 a3 7f 4b 22 09 00 00 00 40 fc 54 d9 41 1a 0d 62 72 61 69 6e 2e 45 76 65 6e 74 3a 32 ec ed "
    "8f 9d";

TEST_CASE("a file with one scalar has the bytes that TensorBoard reads as step 3, 0.5") {
  temporary_folder dir;
  clock_of_test clock;
  tr::summary_writer writer{dir.folder(), clock.options()};
  *clock.now += 1;
  writer.add_scalar("loss", 0.5f, 3);
  writer.close();
  CHECK(hex(contents(writer.path())) ==
        version_record +
            " 1a 00 00 00 00 00 00 00 12 9b d8 2d 09 00 00 40 40 fc 54 d9 41 10 03 2a 0d 0a 0b 0a "
            "04 6c 6f 73 73 15 00 00 00 3f 2f 13 6d 5e");
}

TEST_CASE("a graph of one node has the bytes that TensorBoard reads") {
  temporary_folder dir;
  clock_of_test clock;
  graph g;
  {
    const auto use = g.as_default();
    const device on{"/job:worker/replica:0/task:0/gpu:0"};
    no_op("a");
  }
  tr::summary_writer writer{dir.folder(), clock.options()};
  writer.add_graph(g);
  writer.close();
  CHECK(hex(contents(writer.path())) == version_record +
                                            " 41 00 00 00 00 00 00 00 00 a9 c2 ab 09 00 00 00 40 fc 54 d9 41 22 36 0a "
                                            "34 0a 01 61 12 04 4e 6f 4f 70 22 29 2f 6a 6f 62 3a "
                                            "77 6f 72 6b 65 72 2f 72 65 70 6c 69 63 61 3a 30 2f 74 61 73 6b 3a 30 2f "
                                            "64 65 76 69 63 65 3a 47 50 55 3a 30 54 36 ff 2b");
}

TEST_CASE("the name of a file tells its time, and sorts by it; two writers never share one") {
  temporary_folder dir;
  clock_of_test clock;
  *clock.now = 12345.9;
  tr::event_file_writer a(dir.folder() / "new" / "run", clock.options()),
      b(dir.folder() / "new" / "run", clock.options({.filename_suffix = ".x"}));
  const std::string name = a.path().filename().string();
  CHECK(name.find("events.out.tfevents.0000012345.") == 0);
  CHECK(name.find("." + std::to_string(::getpid()) + ".") != std::string::npos);
  CHECK(a.path() != b.path());
  CHECK(b.path().extension() == ".x");
  CHECK(tr::event_files(dir.folder() / "new" / "run").size() == 2);
}

TEST_CASE(
    "the version and the first event are written at once, later ones when they are many, or late, or at the end") {
  temporary_folder dir;
  clock_of_test clock;
  tr::event_file_writer w(dir.folder(), clock.options({.flush_secs = 60, .max_queue = 3}));
  const auto written = [&] { return events_in(w.path()).size(); };
  const auto add = [&] { w.add(tr::event_kind::summary, "", 1); };
  CHECK(written() == 1);
  add();
  CHECK(written() == 2);
  add(), add();
  CHECK(written() == 2);
  add();
  CHECK(written() == 5);
  add();
  *clock.now += 59;
  add();
  CHECK(written() == 5);
  w.flush();
  CHECK(written() == 7);
  *clock.now += 60;
  add();
  CHECK(written() == 8);
  add();
  w.close();
  CHECK(written() == 9);
  w.close();
  w.flush();
  CHECK(failure(add) == "failed_precondition: event file '" + w.path().string() + "' is closed");
}

TEST_CASE("the destructor writes what waits") {
  temporary_folder dir;
  std::filesystem::path path;
  {
    tr::event_file_writer w(dir.folder());
    path = w.path();
    for (int i = 0; i < 4; ++i) w.add(tr::event_kind::summary, "", i);
  }
  CHECK(events_in(path).size() == 5);
}

TEST_CASE("events come back as they went in") {
  temporary_folder dir;
  tr::event_file_writer w(dir.folder());
  const std::vector<tr::event> all{
      {1.5, 0, tr::event_kind::nothing, ""},
      {-2, -7, tr::event_kind::summary, op::scalar_message("a", 1)},
      {1e9, std::int64_t{1} << 62, tr::event_kind::graph, std::string(100000, '\0')},
      {0, 1, tr::event_kind::session_log, tr::session_log_message(tr::session_mark::checkpoint, "x")},
      {3, 2, tr::event_kind::run_metadata, "m"},
      {3, 2, tr::event_kind::meta_graph, "m"}};
  for (const auto& e : all) w.add(e);
  w.close();
  auto back = events_in(w.path());
  CHECK(back.at(0).body == "brain.Event:2");
  back.erase(back.begin());
  CHECK(back == all);
}

TEST_CASE("scalars are read in both forms in which they are written") {
  const auto scalars = [](const std::string& summary) {
    return tr::scalars_of({0, 0, tr::event_kind::summary, summary});
  };
  CHECK(scalars(op::scalar_message("a/b", -1)) == std::vector<tr::scalar_event>{{"a/b", -1}});
  const std::string newer(
      "\x0a\x21\x0a\x04loss\x4a\x0d\x0a\x09\x0a\x07scalars\x20\x01\x42\x0a\x08\x01\x12\x00\x2a\x04\x00\x00\x00\x3f",
      35);
  CHECK(scalars(newer + op::scalar_message("b", 2)) == std::vector<tr::scalar_event>{{"loss", .5f}, {"b", 2}});
  CHECK(scalars(op::text_message("t", tensor<std::string>(std::string("x")).untyped())).empty());
  CHECK(tr::scalars_of({0, 0, tr::event_kind::graph, newer}).empty());
  CHECK(caught([&] { scalars(newer.substr(0, 20)); }).code() == errc::data_loss);
}

struct broken_file {
  temporary_folder dir;
  std::string bytes;
  std::filesystem::path file = dir.folder() / "tfevents";

  broken_file() {
    tr::append_record(bytes, tr::encode({1, 0, tr::event_kind::file_version, "brain.Event:2"}));
    tr::append_record(bytes, tr::encode({2, 5, tr::event_kind::summary, op::scalar_message("a", 1)}));
  }
};

TEST_CASE("a file that ends within a record ends before it, and goes on when it has grown") {
  broken_file f;
  std::string whole = f.bytes;
  tr::append_record(whole, tr::encode({3, 6, tr::event_kind::summary, op::scalar_message("a", 2)}));
  for (std::size_t n = f.bytes.size(); n < whole.size(); ++n) {
    write(f.file, whole.substr(0, n));
    tr::event_file_reader r(f.file);
    CHECK(r.next().has_value());
    CHECK(r.next().has_value());
    CHECK(!r.next().has_value());
    CHECK(r.offset() == f.bytes.size());
    write(f.file, whole);
    CHECK(r.next()->step == 6);
    CHECK(!r.next().has_value());
  }
}

TEST_CASE("a flipped bit is found, and its record named") {
  broken_file f;
  for (std::size_t at = 40; at < f.bytes.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string broken = f.bytes;
      broken[at] = static_cast<char>(broken[at] ^ 1 << bit);
      write(f.file, broken);
      tr::event_file_reader r(f.file);
      r.next();
      const auto e = caught([&] { r.next(); });
      CHECK(e.code() == errc::data_loss);
      CHECK(e.sentence() == std::string(at < 52 ? "a wrong checksum of a length" : "a wrong checksum") +
                                " in event file '" + f.file.string() + "', in the record at offset 40");
      CHECK(caught([&] { r.next(); }).code() == errc::data_loss);
    }
}

TEST_CASE("a record as long as no file is takes no memory, and one that is no event is said to be none") {
  broken_file f;
  std::string head;
  tr::detail::append_little_endian(head, ~std::uint64_t{0} - 3);
  tr::detail::append_little_endian(head, tr::masked_crc32c(std::string_view(head)));
  write(f.file, f.bytes + head + "abc");
  CHECK(events_in(f.file).size() == 2);
  std::string junk = f.bytes;
  tr::append_record(junk, "\x0a");
  write(f.file, junk);
  CHECK(failure([&] { events_in(f.file); }).find("data_loss: bytes that are no event (") == 0);
}

TEST_CASE("an empty record is passed over") {
  broken_file f;
  std::string bytes;
  tr::append_record(bytes, "");
  write(f.file, bytes + f.bytes);
  CHECK(events_in(f.file).size() == 2);
}

TEST_CASE("fields that are unknown, or of another type than theirs, are skipped") {
  const std::string bytes("\x08\x05\x5a\x01x\x10\x07\x28\x01", 9);
  CHECK(tr::decode_event(bytes) == tr::event{0, 7, tr::event_kind::nothing, ""});
}

TEST_CASE("what cannot be written is refused with a sentence") {
  temporary_folder dir;
  tr::summary_writer w{dir.folder()};
  const tensor<std::string> junk(std::string("\x0f"));
  CHECK(failure([&] { w.add(junk, 1); }).find("invalid_argument: string 0 is no serialized summary") == 0);
  CHECK(failure([&] { w.add(std::string("\x0f"), 1); }).find("invalid_argument") == 0);
  CHECK(failure([&] { w.add_scalar("", 1, 1); }) == "invalid_argument: the tag of a summary is empty");
  CHECK(failure([&] { w.add_text("\xff", "x", 1); }) == "invalid_argument: the tag of a summary is not UTF-8");
  CHECK(failure([&] {
          w.add_hparams({{"a", "\xff"}});
        }) == "invalid_argument: the value of a hyperparameter is not UTF-8");
  tr::event_file_writer lost(dir.folder(), {.clock = [] { return 1.0; }});
  CHECK(failure([&] { lost.add(tr::event{NAN}); }) == "invalid_argument: an event needs a time that is a number");
  w.close();
  CHECK(events_in(w.path()).size() == 1);
}

TEST_CASE("a place that cannot be written to is named") {
  temporary_folder dir;
  write(dir.folder() / "file", "");
  const auto e = failure([&] { tr::summary_writer{dir.folder() / "file" / "run"}; });
  CHECK(e.find("not_found: cannot make the folder " + (dir.folder() / "file" / "run").string() + ": ") == 0);
  CHECK(failure([&] { tr::summary_writer(dir.folder(), {.filename_suffix = "/x"}); }) ==
        "invalid_argument: '/x' is no end of a file name: it holds a /");
  CHECK(failure([&] { tr::event_file_reader r(dir.folder() / "none"); }) ==
        "not_found: cannot read event file '" + (dir.folder() / "none").string() + "'");
  CHECK(failure([&] { tr::event_files(dir.folder() / "none"); }).find("not_found") == 0);
}

TEST_CASE("hyperparameters and the marks of a session are messages of their own") {
  temporary_folder dir;
  clock_of_test clock;
  tr::summary_writer w{dir.folder(), clock.options()};
  w.add_session_log(tr::session_mark::start, 4);
  w.add_session_log(tr::session_mark::checkpoint, 5, "dir/model-5");
  w.add_hparams({{"rate", .5}, {"layers", 3}, {"name", "x"}, {"fast", false}});
  w.close();
  const auto events = events_in(w.path());
  CHECK(wire_message(events.at(1).body).integer(1) == 1);
  CHECK(events.at(1).step == 4);
  CHECK(wire_message(events.at(2).body).integer(1) == 3);
  CHECK(wire_message(events.at(2).body).text(2) == "dir/model-5");
  const auto value = wire_message(events.at(3).body).sub(1);
  CHECK(value.text(1) == "_hparams_/session_start_info");
  CHECK(value.sub(9).sub(1).text(1) == "hparams");
  const auto start = wire_message(value.sub(9).sub(1).text(2)).sub(3);
  REQUIRE(start.count(1) == 4);
  CHECK(start.sub(1, 0).sub(2).real(2) == .5);
  CHECK(start.sub(1, 1).sub(2).real(2) == 3);
  CHECK(start.sub(1, 2).sub(2).text(3) == "x");
  CHECK(start.sub(1, 3).sub(2).at(4).bits == 0);
  CHECK(start.real(5) == 1700000000.0);
  CHECK(value.sub(8).sub(2).sub(2).at(1).bits == 0);  // an empty tensor: [0]
}

TEST_CASE("a writer takes events of several threads, each whole") {
  temporary_folder dir;
  tr::summary_writer w{dir.folder()};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) w.add_scalar("thread" + std::to_string(t), static_cast<float>(i), i);
    });
  for (auto& t : threads) t.join();
  w.close();
  std::map<std::string, std::vector<float>> curves;
  for (const auto& e : events_in(w.path()))
    for (const auto& s : tr::scalars_of(e)) curves[s.tag].push_back(s.value);
  REQUIRE(curves.size() == 4);
  for (const auto& [tag, values] : curves) {
    CHECK(values.size() == 200);
    CHECK(std::is_sorted(values.begin(), values.end()));
  }
}

}  // namespace
#endif
