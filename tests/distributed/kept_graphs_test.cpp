// A graph that a task holds already is named by its fingerprint, and not sent again.
#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <pinion/distributed/wire/fingerprint.hpp>
#include <pinion/distributed/worker/kept_graphs.hpp>

#include <distributed/forgery.hpp>
#include <distributed/real_cluster.hpp>

#include <support/ends.hpp>

namespace {

using namespace real;
using namespace distributed;

constexpr std::uint64_t bytes_of_weights = 2 * 64 * 64 * sizeof(float), few_bytes = 3000;

tensor<float> filled(const shape& extent, float with) {
  tensor<float> all(extent);
  for (float& one : all.span()) one = with;
  return all;
}

// A graph with two matrices of constants on a task, and a step of it that is fed a row.
struct model_on : own_graph {
  expr<float> x = placeholder<float>({1, 64}, "x");
  expr<float> y;

  explicit model_on(const std::string& task, float weight = 2) {
    const device on{task};
    y = matmul(matmul(x, constant(filled({64, 64}, 1))), constant(filled({64, 64}, weight)));
  }
  tensor<float> row() const { return filled({1, 64}, 1); }
  static constexpr float result = 64 * 64 * 2;
};

// The bytes that a task receives while something is done.
template <class Work>
std::uint64_t bytes_to(const server& task, const Work& work) {
  const std::uint64_t before = task.traffic().bytes_received;
  work();
  return task.traffic().bytes_received - before;
}

// A session over the wire at a server of this process.
struct far_session {
  explicit far_session(const local_cluster& local)
      : port(rpc::tcp_network_of_this_process(), local.spec().address("worker", 0), {}, {}, {}, [] {}) {}
  ~far_session() { port.close(); }

  void extend(model_on& m) {
    auto more = delta_since(m.g, told);
    told.add(more);
    port.extend(std::move(more), {});
  }
  float step(const model_on& m) {
    const auto made = port.prepare({{end_of(m.x)}, {end_of(m.y)}, {}}, {}, {});
    return port.run(made.step, {m.row().untyped()}, false, {}).fetches.at(0).data<float>()[0];
  }
  float first_step(model_on& m) {
    extend(m);
    return step(m);
  }
  wire_port port;
  shipped told;
};

TEST_CASE("S7: a second session with the same graph ships none of it to its master, also when the first is gone") {
  two_workers local;
  const server& master = local.server("worker", 0);
  model_on m("/job:worker/task:0"), as_made_again("/job:worker/task:0");
  auto first = std::make_unique<far_session>(local);
  CHECK(bytes_to(master, [&] { CHECK(first->first_step(m) == m.result); }) > bytes_of_weights);
  far_session second(local);
  CHECK(bytes_to(master, [&] { CHECK(second.first_step(m) == m.result); }) < few_bytes);
  first = nullptr;
  far_session third(local);
  CHECK(bytes_to(master, [&] { CHECK(third.first_step(as_made_again) == m.result); }) < few_bytes);
}

TEST_CASE("S7: a graph that differs in one literal is another") {
  two_workers local;
  model_on m("/job:worker/task:0"), heavier("/job:worker/task:0", 4);
  far_session first(local), second(local);
  first.first_step(m);
  CHECK(bytes_to(local.server("worker", 0), [&] { CHECK(second.first_step(heavier) == 2 * m.result); }) >
        bytes_of_weights);
}

TEST_CASE("S7: an extension is known behind the beginning that it followed, and behind no other") {
  two_workers local;
  liar client(local.victim());
  const auto begun_with = [&](float value) {
    own_graph made;
    constant(value, "beginning");
    const auto session = client.ask<opened_session>(open_session{}).session;
    client.ask(extend_graph{session, delta_since(made.g)});
    return session;
  };
  own_graph made;
  constant(1.f, "beginning");
  shipped told;
  told.add(delta_since(made.g));
  constant(filled({1 << 14}, 1), "large");
  const auto more = delta_since(made.g, told);
  client.ask(extend_graph{begun_with(1), more});
  const auto known_behind = [&](std::uint64_t session) {
    return client.ask<extended_known>(extend_known{session, imprint_of(more, client.life_of_other()).of}).known;
  };
  CHECK(known_behind(begun_with(1)));
  CHECK_FALSE(known_behind(begun_with(2)));
  CHECK_FALSE(known_behind(client.ask<opened_session>(open_session{}).session));
}

TEST_CASE("S7: what extends a graph is known, too, and holes in it are where they were") {
  two_workers local;
  const server& master = local.server("worker", 0);
  const auto partial = [&](const std::string& task) {
    model_on m(task);
    far_session sess(local);
    sess.extend(m);
    const auto use = m.g.as_default();
    m.y = sigmoid(square(m.y) * 0.f) + constant(filled({256, 64}, 1));  // the temporaries leave holes
    return bytes_to(master, [&] { CHECK(sess.first_step(m) == 1.5f); });
  };
  CHECK(partial("/job:worker/task:0") > 4 << 14);
  CHECK(partial("/job:worker/task:0") < few_bytes);
}

TEST_CASE("S7: a second session ships no nodes that another task of its step holds, from whichever master it comes") {
  local_cluster local{{{"ps", 1}, {"worker", 2}}};
  const server& ps = local.server("ps", 0);
  const auto first_step = [&](int worker) {
    model_on m("/job:ps/task:0");
    session sess{toward(local.target("worker", worker), &m.g)};
    return bytes_to(ps, [&] { CHECK(sess.run({{m.x, m.row()}}, m.y).data()[0] == m.result); });
  };
  CHECK(first_step(0) > bytes_of_weights);
  CHECK(first_step(0) < few_bytes);
  CHECK(first_step(1) < few_bytes);
}

TEST_CASE("S7: a fingerprint is worth nothing at another task, or for another graph that is there") {
  two_workers local;
  model_on m("/job:worker/task:0"), other("/job:worker/task:0", 3);
  const auto delta = delta_since(m.g);
  far_session(local).first_step(m);
  liar client(local.victim());
  const std::uint64_t here = client.life_of_other();
  const auto known = [&](const fingerprint& of) {
    const auto session = client.ask<opened_session>(open_session{}).session;
    return client.ask<extended_known>(extend_known{session, of}).known;
  };
  CHECK(known(imprint_of(delta, here).of));
  CHECK_FALSE(known(imprint_of(delta, local.life_of_second()).of));
  CHECK_FALSE(known(imprint_of(delta_since(other.g), here).of));
  CHECK_FALSE(known(imprint_of(cut(m.g, {}), here).of));
  CHECK_FALSE(known({}));
}

TEST_CASE("S7: the nodes that a task holds are checked against the parts that are registered with them") {
  two_workers local;
  liar peer(local.victim(), other_worker);
  forgery f;
  f.c = id_of(constant(filled({1 << 14}, 1), "large"));
  const auto whole = f.with(f.compute()).message(peer.session(some_session), 1);
  const auto nodes = imprint_of(whole.part, peer.life_of_other());
  CHECK(nodes.is_large());
  const auto known = [&](std::vector<runtime::partition> parts) {
    return peer.ask<registered_known>(register_known{whole.session, 2, nodes.of, std::move(parts), {}, false}).known;
  };
  CHECK_FALSE(known(whole.part.parts));
  peer.ask(whole);
  CHECK(known(whole.part.parts));
  CHECK_NOTHROW(peer.ask<part_ended>(run_of(whole.session, 2)));
  auto twice = whole.part.parts;
  twice[0].items.push_back(twice[0].items[0]);
  CHECK(caught([&] { known(twice); }).code() == errc::invalid_argument);
  auto elsewhere = whole.part.parts;
  elsewhere[0].items[0].node = 7;
  CHECK(caught([&] { known(elsewhere); }).code() == errc::invalid_argument);
}

TEST_CASE("L1: a graph that is there counts among the memory of each session that names it") {
  server_config config;
  config.limits.session_bytes_of_all = 5 * bytes_of_weights / 2;
  two_workers local(config);
  model_on m("/job:worker/task:0");
  far_session first(local), second(local), third(local);
  first.extend(m), second.extend(m);
  const error e = caught([&] { third.extend(m); });
  CHECK(e.code() == errc::resource_exhausted);
  CHECK(e.sentence().find("server_config.limits.session_bytes_of_all") != std::string::npos);
}

TEST_CASE("L6: a task that keeps no graphs is sent each of them again") {
  server_config config;
  config.limits.kept_graphs = 0;
  two_workers local(config);
  model_on m("/job:worker/task:0");
  far_session(local).first_step(m);
  far_session second(local);
  CHECK(bytes_to(local.server("worker", 0), [&] { CHECK(second.first_step(m) == m.result); }) > bytes_of_weights);
}

// ---- the table

struct kept_few {
  kept_graphs graphs;
  kept_few(int most, std::uint64_t most_bytes) : graphs({.kept_graphs = most, .kept_graph_bytes = most_bytes}, 1) {}
  static fingerprint number(std::uint64_t n) { return {{n, 0, 0, 0}}; }
  void add(std::uint64_t n, std::uint64_t memory, const std::string& sender) {
    graphs.add(number(n), std::make_shared<const std::uint64_t>(n), memory, sender);
  }
  bool has(std::uint64_t n) { return graphs.find<std::uint64_t>(number(n)) != nullptr; }
};

TEST_CASE("L6: beyond the number of graphs that goes which was not used for longest") {
  kept_few k(3, 1000);
  for (std::uint64_t n = 1; n <= 3; ++n) k.add(n, 10, "a");
  CHECK(k.has(1));
  k.add(4, 10, "a");
  CHECK(k.graphs.count() == 3);
  CHECK_FALSE(k.has(2));
  CHECK((k.has(1) && k.has(3) && k.has(4)));
}

TEST_CASE("L6: who sends most loses graphs, by their bytes or their number, and others keep theirs") {
  kept_few k(10, 100);
  k.add(1, 60, "honest");
  for (std::uint64_t n = 2; n <= 40; ++n) k.add(n, 1, "of many");
  CHECK(k.graphs.count() == 10);
  CHECK(k.has(1));
  k.add(50, 70, "of large ones");
  CHECK(k.has(1));
  CHECK_FALSE(k.has(50));
  CHECK(k.graphs.bytes() <= 100);
}

TEST_CASE("L6: a graph that is too large for the table makes nothing go, and one that went is still whole") {
  kept_few k(2, 100);
  k.add(1, 50, "a");
  k.add(2, 101, "b");
  CHECK((k.has(1) && !k.has(2)));
  const auto mine = k.graphs.find<std::uint64_t>(k.number(1));
  k.add(3, 60, "a");
  CHECK_FALSE(k.has(1));
  CHECK(*mine == 1);
}

TEST_CASE("L6: what is kept under a fingerprint as one type is not found as another") {
  kept_few k(2, 100);
  k.add(1, 50, "a");
  CHECK(k.graphs.find<float>(k.number(1)) == nullptr);
}

}  // namespace
