// Checkpoints of a cluster: a file for each ps task, restored to any number of them.
#include <catch2/catch.hpp>

#include <pinion/distributed.hpp>
#include <pinion/train.hpp>

#include "support/caught.hpp"
#include "support/temporary_folder.hpp"

namespace {

namespace pn = pinion;
namespace tr = pinion::train;

// Three variables spread over some ps tasks, and what adds to them.
struct program {
  explicit program(int ps_tasks) {
    auto use = g.as_default();
    pn::device on{pn::replica_device_setter{{.ps_tasks = ps_tasks, .worker_device = "/job:worker/task:0"}}};
    step = tr::get_or_create_global_step();
    a = pn::variable(pn::tensor<float>::of({1, 2}), {.name = "a"});
    b = pn::variable(pn::tensor<float>::of({3}), {.name = "b"});
    up = pn::group(pn::operation(pn::assign(a, a + 1.0f)), pn::operation(pn::assign(b, b + 1.0f)),
                   pn::operation(pn::assign_add(step, 1)));
    init = pn::global_variables_initializer();
    saver.emplace();
  }
  pn::graph g;
  pn::variable_handle<std::int64_t> step;
  pn::variable_handle<float> a, b;
  pn::operation up, init;
  std::optional<tr::saver> saver;
};

}  // namespace

TEST_CASE("a checkpoint has a file for each ps task, and is restored to another number of them") {
  temporary_folder dir;
  std::string prefix;
  {
    program p(2);
    auto local = pn::local_cluster{{{"ps", 2}, {"worker", 1}}};
    pn::session sess{{.target = local.target("worker", 0), .graph = &p.g}};
    sess.run(p.init);
    sess.run(p.up);
    prefix = p.saver->save(sess, dir.path("model"), p.step);
    CHECK(dir.files() == std::vector<std::string>{"checkpoint", "model-1-00001-of-00002.safetensors",
                                                  "model-1-00002-of-00002.safetensors",
                                                  "model-1.safetensors.index.json"});
    CHECK(sess.plan(p.a).device_of("a") != sess.plan(p.step).device_of("global_step"));
    sess.run(p.up);
    p.saver->save(sess, dir.path("model"), 1);  // again under that name
    CHECK(dir.files().size() == 4);
    p.saver->restore(sess, prefix);
    CHECK(sess.run(p.a) == pn::tensor<float>::of({3, 4}));
    sess.run(p.up);
    sess.run(p.up);
  }
  for (int ps : {1, 3}) {
    program p(ps);
    auto local = pn::local_cluster{{{"ps", ps}, {"worker", 1}}};
    pn::session sess{{.target = local.target("worker", 0), .graph = &p.g}};
    p.saver->restore(sess, tr::latest_checkpoint(dir.path()));
    CHECK(sess.run(p.a) == pn::tensor<float>::of({3, 4}));
    CHECK(sess.run(p.b) == pn::tensor<float>::of({5}));
    CHECK(std::int64_t(sess.run(p.step)) == 2);
  }
  program p(0);
  pn::session here{{.graph = &p.g, .allow_soft_placement = true}};
  std::filesystem::remove(dir.path("model-1.safetensors.index.json"));
  CHECK(refusal([&] { p.saver->restore(here, prefix); }, pn::errc::not_found, "is no checkpoint") == "");
}

TEST_CASE("a checkpoint written anew in one file leaves none of its shards") {
  temporary_folder dir;
  program p(2);
  auto use = p.g.as_default();
  auto local = pn::local_cluster{{{"ps", 2}, {"worker", 1}}};
  pn::session sess{{.target = local.target("worker", 0), .graph = &p.g}};
  sess.run(p.init);
  p.saver->save(sess, dir.path("model"), 1);
  CHECK(dir.files().size() == 4);
  tr::saver{{.sharded = false}}.save(sess, dir.path("model"), 1);
  CHECK(dir.files() == std::vector<std::string>{"checkpoint", "model-1.safetensors"});
}
