// A task that keeps its variables in a file while it does not run.
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include <pinion/distributed/server/kept_variables.hpp>
#include <pinion/distributed/wire/values.hpp>
#include <pinion/files/safetensors.hpp>
#include <pinion/rpc/archive.hpp>
#include <pinion/runtime/task.hpp>
#include <pinion/state/writing.hpp>
#include <support/caught.hpp>
#include <support/temporary_folder.hpp>
#include <support/told_lines.hpp>

#include "real_cluster.hpp"

namespace {

using namespace real;
namespace fs = std::filesystem;

// A ps that keeps its variables, in any of its lives.
struct keeper {
  const temporary_folder folder;
  const std::string file = folder.path("ps.safetensors");

  server start(const std::string& where, std::vector<sim::accelerator> simulated = {}) const {
    server_config config;
    config.simulated = std::move(simulated);
    config.keep = where;
    return server({{"ps", {"127.0.0.1:0"}}}, {.config = config});
  }
  server start(std::vector<sim::accelerator> simulated = {}) const { return start(file, std::move(simulated)); }
  // A server that holds a variable.
  server start_with_variable() const {
    graph g;
    const auto use = g.as_default();
    auto v = variable(1.0f, {.name = "v"});
    server started = start();
    session{toward(started.target())}.run(v.initializer());
    return started;
  }
  std::string refusal() const {
    return caught([&] { start(); }).sentence();
  }
};

TEST_CASE("a task that stops keeps its variables, of every device, dtype and container, and begins with them") {
  const keeper ps;
  graph g;
  const auto use = g.as_default();
  auto w = variable(tensor<float>::of({{1, 2}, {3, 4}}), {.name = "w"});
  const auto one = tensor<float>::of({{1, 1}, {1, 1}});
  auto count = variable(std::int64_t{7}, {.name = "count"});
  auto unset = variable(9.0f, {.name = "unset"});
  auto on_gpu = place<"/gpu:0">(variable(tensor<float>::of({5, 6}), {.name = "on_gpu"}));
  const auto elsewhere = [] {
    const container box{"box"};
    return variable(8.0f, {.name = "w"});
  };
  auto other = elsewhere();
  const bool drains = GENERATE(true, false);
  {
    server first = ps.start({sim::gpu()});
    session sess{toward(first.target())};
    sess.run(w.initializer(), count.initializer(), on_gpu.initializer(), other.initializer());
    sess.run(operation(assign_add(w, constant(one))));
    drains ? first.drain() : first.stop();
  }
  CHECK(ps.folder.files() == std::vector<std::string>{"ps.safetensors"});
  server second = ps.start({sim::gpu()});
  CHECK(ps.folder.files() == std::vector<std::string>{"ps.safetensors.taken"});
  session sess{toward(second.target())};
  CHECK(sess.run(w) == tensor<float>::of({{2, 3}, {4, 5}}));
  CHECK(sess.run(count) == std::int64_t{7});
  CHECK(sess.run(on_gpu) == tensor<float>::of({5, 6}));
  CHECK(sess.run(other) == 8.0f);
  CHECK(caught([&] { sess.run(unset); }).code() == errc::failed_precondition);
  sess.run(operation(assign_add(w, constant(one))));
  CHECK(sess.run(w) == tensor<float>::of({{3, 4}, {5, 6}}));
}

TEST_CASE("a variable that was kept may take values of every shape that it was declared with") {
  const keeper ps;
  graph g;
  const auto use = g.as_default();
  auto rows = placeholder<float>({unknown, 2}, "rows");
  auto v = variable(rows, {.name = "v"});
  {
    server first = ps.start();
    session{toward(first.target())}.run({{rows, {{1, 2}}}}, v.initializer());
  }
  server second = ps.start();
  session sess{toward(second.target())};
  CHECK(sess.run(v) == tensor<float>::of({{1, 2}}));
  sess.run({{rows, {{1, 2}, {3, 4}}}}, v.initializer());
  CHECK(sess.run(v) == tensor<float>::of({{1, 2}, {3, 4}}));
}

TEST_CASE("a file of another task, of a device that is not there, or that is damaged ends the start, and stays") {
  const keeper ps;
  graph g;
  const auto use = g.as_default();
  {
    auto v = place<"/gpu:0">(variable(1.0f, {.name = "v"}));
    server first = ps.start({sim::gpu()});
    session{toward(first.target())}.run(v.initializer());
  }
  CHECK_THAT(ps.refusal(), Catch::Contains("has variable 'v', which /job:ps/replica:0/task:0 does not take: it is of "
                                           "/job:ps/replica:0/task:0/device:GPU:0, which the task has not"));
  files::write_safetensors(ps.file, {{"v", tensor<float>({2}).untyped()}}, {.metadata = {{"pinion.task", "/job:x"}}});
  CHECK_THAT(ps.refusal(), Catch::Contains("has the variables of /job:x, not of " + name_of("ps", 0)));
  std::ofstream(ps.file) << "no safetensors file";
  CHECK(caught([&] { ps.start(); }).code() == errc::data_loss);
  CHECK(ps.folder.files() == std::vector<std::string>{"ps.safetensors"});
  CHECK_THAT(caught([&] { ps.start(ps.folder.path("none/ps.safetensors")); }).sentence(),
             Catch::Contains("none is no folder (server_config.keep)"));
}

TEST_CASE("a task that does not come to serve takes nothing from the file") {
  const keeper ps;
  ps.start_with_variable().stop();
  const cluster_spec without_way{{"ps", {"127.0.0.1:0"}}, {"worker", {"127.0.0.1:0"}}};
  CHECK(caught([&] { server(without_way, {.job = "ps", .config = {.keep = ps.file}}); }).code() ==
        errc::invalid_argument);
  CHECK(ps.folder.files() == std::vector<std::string>{"ps.safetensors"});
}

TEST_CASE("a task that begins without its file is told where the last one is, which a file without values leaves") {
  const keeper ps;
  ps.start_with_variable().stop();
  ps.start();  // takes the variable, and leaves it in its own file
  std::filesystem::remove(ps.file);
  const auto taken = fs::file_size(ps.file + ".taken");
  {
    const told_lines told;
    server empty = ps.start();
    CHECK_THAT(told.all(), Catch::Contains("begins without variables: " + ps.file + " is not there; " + ps.file +
                                           ".taken has those with which an earlier life began"));
  }
  CHECK(ps.folder.files() == std::vector<std::string>{"ps.safetensors", "ps.safetensors.taken"});
  ps.start();
  CHECK(fs::file_size(ps.file + ".taken") == taken);
}

TEST_CASE("a file that cannot be written ends the start, not the stop") {
  const keeper ps;
  const std::string file = ps.folder.path(std::string(300, 'x'));
  CHECK_THAT(caught([&] { ps.start(file); }).sentence(), Catch::Contains(file));
}

TEST_CASE("variables that cannot be written are told in the log, and join() throws; an earlier file stays") {
  const keeper ps;
  server first = ps.start_with_variable();
  fs::create_directories(ps.file + "/in the way");
  shutdown(first.target());
  CHECK(caught([&] { first.join(); }).code() != errc::internal);
  CHECK(fs::is_directory(ps.file));
}

// A variable of a task with a value.
std::shared_ptr<state::variable> made(runtime::task& in, const std::string& name) {
  const any_tensor value = tensor<float>::of({1, 2}).untyped();
  const auto v = std::make_shared<state::variable>(name, value.dtype(), value.shape(), "here");
  v->assign(value);
  in.resources.find_or_create("", name, [&] { return v; });
  return v;
}

// A variable of a task with a value, whatever it is called.
void make(runtime::task& in, const std::string& container, const std::string& name, const any_tensor& value) {
  const auto v = std::make_shared<state::variable>(name, value.dtype(), value.shape(), "here");
  v->assign(value);
  in.resources.find_or_create(container, name, [&] { return v; });
}
// A task writes its variables, and another life of it takes them.
void move_variables(runtime::task& from, runtime::task& to) {
  const temporary_folder folder;
  const std::string file = folder.path("ps.safetensors");
  distributed::kept_variables kept(from, name_of("ps", 0), file);
  kept.write(std::chrono::steady_clock::now());
  kept.expect_written();
  const distributed::kept_variables taken(to, name_of("ps", 0), file);
}
// container, name and first number of each variable, one after another.
std::string variables_of(runtime::task& of) {
  std::string all;
  for (const auto& [container, name, what] : of.resources.list()) {
    const any_tensor value = dynamic_cast<const state::variable&>(*what).read();
    all += fmt::format("[{}|{}|{}]", container, name, value.data<float>()[0]);
  }
  return all;
}

TEST_CASE("no name of a variable keeps it or another out of the file") {
  runtime::task first({}), second({});
  float number = 0;
  const auto add = [&](const std::string& container, const std::string& name) {
    make(first, container, name, tensor<float>::of({++number, 0}).untyped());
  };
  for (const std::string name : {"w", "__metadata__", "\xff\xfe", "a:b", "", "pinion.others.0", "\n\x1b[2J", "\"\\"})
    for (const std::string container : {"", "a", "a:b", "\xc3"}) add(container, name);
  add("a", "b:c");
  add("", std::string("zero\0", 5));
  add("", std::string(4096, '\xff'));
  make(first, "", "scalar", tensor<float>(7.0f).untyped());
  move_variables(first, second);
  CHECK(variables_of(second) == variables_of(first));
}

TEST_CASE("as many variables with long names as a header cannot hold are kept") {
  runtime::task first({}), second({});
  const any_tensor value = tensor<float>::of({1, 2}).untyped();
  for (int i = 0; i < 7000; ++i) make(first, "", fmt::format("{:04}", i) + std::string(4092, 'x'), value);
  make(first, "", "z", value);
  move_variables(first, second);
  CHECK(variables_of(second) == variables_of(first));
}

TEST_CASE("a file of others whose bytes do not add up is data loss, and ends the start") {
  const temporary_folder folder;
  const std::string file = folder.path("ps.safetensors");
  runtime::task task({});
  const auto refusal = [&](const std::vector<std::uint8_t>& bytes) {
    tensor<std::uint8_t> others({static_cast<std::int64_t>(bytes.size())});
    std::copy(bytes.begin(), bytes.end(), others.data());
    files::write_safetensors(file, {{"pinion.others.0", others.untyped()}}, {.metadata = {{"pinion.task", "/job:x"}}});
    return caught([&] { distributed::kept_variables(task, "/job:x", file); });
  };
  for (const std::vector<std::uint8_t>& bytes :
       std::vector<std::vector<std::uint8_t>>{{1}, {9, 0, 0, 0}, {1, 0, 0, 0, 7}, {255, 255, 255, 255, 0, 0}}) {
    const error why = refusal(bytes);
    CHECK(why.code() == errc::data_loss);
    CHECK_THAT(why.sentence(), Catch::StartsWith("tensor 'pinion.others.0' in " + file + " is damaged: "));
  }
}

TEST_CASE("a file that calls bytes a text is data loss") {
  rpc::writer head;
  head(std::string(), std::string("v"), std::string(), shape{1}, dtype::string, shape{1});
  const auto size = static_cast<std::uint32_t>(head.control.size());
  std::string bytes(reinterpret_cast<const char*>(&size), sizeof size);
  bytes += head.control + std::string(sizeof(std::string), '\x41');
  tensor<std::uint8_t> others({static_cast<std::int64_t>(bytes.size())});
  std::copy(bytes.begin(), bytes.end(), others.data());
  const temporary_folder folder;
  const std::string file = folder.path("ps.safetensors");
  files::write_safetensors(file, {{"pinion.others.0", others.untyped()}}, {.metadata = {{"pinion.task", "/job:x"}}});
  runtime::task task({});
  CHECK(caught([&] { distributed::kept_variables(task, "/job:x", file); }).code() == errc::data_loss);
}

TEST_CASE("the file of a task's variables is its owner's alone") {
  const keeper ps;
  ps.start_with_variable();
  const auto others = fs::perms::group_all | fs::perms::others_all;
  CHECK((fs::status(ps.file).permissions() & others) == fs::perms::none);
}

TEST_CASE("variables of text are kept, whatever their letters are, beside others") {
  const temporary_folder folder;
  const std::string file = folder.path("ps.safetensors"), odd("\0\n\xff:", 4);
  const auto texts = tensor<std::string>::of(std::vector<std::string>{"one", "", odd, std::string(100'000, 'x')});
  {
    runtime::task task({});
    make(task, "", "texts", texts.untyped());
    make(task, "box", "none", tensor<std::string>({0, 3}).untyped());
    make(task, "", "number", tensor<float>(7.f).untyped());
    distributed::kept_variables kept(task, name_of("ps", 0), file);
    CHECK(kept.write(std::chrono::steady_clock::now()));
  }
  runtime::task later({});
  distributed::kept_variables(later, name_of("ps", 0), file);
  std::map<std::string, any_tensor> found;
  for (const auto& one : later.resources.list())
    found[one.container + ":" + one.name] =
        dynamic_cast<state::variable&>(*one.what).snapshot_by(std::chrono::steady_clock::now())->value;
  CHECK(found.size() == 3);
  CHECK(found[":texts"] == texts.untyped());
  CHECK(found["box:none"] == tensor<std::string>({0, 3}).untyped());
  CHECK(found[":number"] == tensor<float>(7.f).untyped());
}

TEST_CASE("a file that cannot be put away, since a folder has its other name, is refused before the task serves") {
  const temporary_folder folder;
  const std::string file = folder.path("ps.safetensors");
  runtime::task task({});
  {
    const auto v = made(task, "v");
    CHECK(distributed::kept_variables(task, name_of("ps", 0), file).write(std::chrono::steady_clock::now()));
  }
  std::filesystem::create_directory(file + ".taken");
  CHECK(refusal([&] { distributed::kept_variables(task, name_of("ps", 0), file); }, errc::failed_precondition,
                " is to put " + file + " away as " + file + ".taken, and that is a folder (server_config.keep)") == "");
}

TEST_CASE("a variable of which an update does not end is named in the log, and the file has the others") {
  const temporary_folder folder;
  const std::string file = folder.path("ps.safetensors");
  runtime::task task({});
  const auto free = made(task, "free"), stuck = made(task, "stuck");
  distributed::kept_variables kept(task, name_of("ps", 0), file);
  countdown begun, may_end;
  std::thread kernel([&] {
    const state::updated_variables updates({stuck});
    const state::writing update(updates);
    begun.count_down();
    may_end.wait();
  });
  begun.wait();
  std::string log;
  {
    const told_lines told;
    CHECK(!kept.write(std::chrono::steady_clock::now()));
    log = told.all();
  }
  may_end.count_down();
  kernel.join();
  const std::string what = file + " lacks 'stuck', of which an update has not ended";
  CHECK_THAT(log, Catch::Contains("does not keep all of its variables: " + what));
  CHECK(caught([&] { kept.expect_written(); }).sentence() == what);
  CHECK(files::read_safetensors(file).size() == 1);
  CHECK(kept.write(std::chrono::steady_clock::now()));
  CHECK(files::read_safetensors(file).size() == 2);
}

}  // namespace
