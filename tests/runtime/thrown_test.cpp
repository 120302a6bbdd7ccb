// Whatever users' code throws, an error of the library or anything else: it ends what asked for it, as an error that
// names the culprit, and nothing else.
#include <pinion/session.hpp>
#include <pinion/train.hpp>

#include <catch2/catch.hpp>

#include <thread>

#include <support/caught.hpp>
#include <support/own_session.hpp>

namespace {

namespace pn = pinion;
namespace tr = pinion::train;

// Throws by its number.
void throw_number(std::int64_t what) {
  switch (what) {
    case 0: return;
    case 1: throw 42;
    case 2: throw "plain text";
    case 3: throw std::string("a string");
    case 4: throw std::runtime_error("a runtime_error");
    case 5: throw std::bad_alloc();
    default: throw std::pair(1, 2);
  }
}
const char* const sentences[] = {
    "",
    "unknown: something that is no std::exception was thrown, of type int",
    "unknown: plain text",
    "unknown: a string",
    "unknown: a runtime_error",
    "resource_exhausted: out of memory",
    "unknown: something that is no std::exception was thrown, of type std::pair<int, int>",
};

// An op that yields its input, or throws: attribute "at" says where, "what" says what.
struct thrower {
  static constexpr std::string_view name = "TestThrower";
  static constexpr pn::input_count inputs = 1;
  static constexpr pn::kernel_set kernels{.cpu = pn::dtypes::floating, .gpu = pn::dtypes::floating};
  static void infer(pn::shape_context& c) {
    maybe(c.attrs(), "infer");
    c.output(c.dtype(0), c.shape(0));
  }
  static void gradient(pn::gradient_context& g) {
    maybe(g.attrs(), "gradient");
    g.set(0, g.output_gradient(0));
  }
  static std::unique_ptr<pn::kernel> make_kernel(const pn::kernel_setup& setup) {
    struct own final : pn::kernel {
      bool waits = false;
      bool blocking() const override { return waits; }
      void run(pn::kernel_context& c) override {
        const pn::attributes& attrs = c.node->attrs;
        maybe(attrs, "run");
        if (attrs.get<std::string>("at") == "stream")
          c.launch([what = attrs.get<std::int64_t>("what")] { throw_number(what); });
        c.outputs[0] = c.input(0);
      }
      void start(pn::kernel_context& c, ended done) override {
        maybe(c.node->attrs, "start");
        c.outputs[0] = c.input(0);
        done({});
        maybe(c.node->attrs, "after its end");
      }
    };
    maybe(setup.attrs(), "making");
    auto k = std::make_unique<own>();
    k->waits = setup.attrs().get<std::string>("at").find_first_of("s") == 0 &&
               setup.attrs().get<std::string>("at") != "stream";
    k->waits |= setup.attrs().get<std::string>("at") == "after its end";
    return k;
  }
  static void maybe(const pn::attributes& attrs, std::string_view here) {
    if (attrs.get<std::string>("at") == here) throw_number(attrs.get<std::int64_t>("what"));
  }
};

template <class X>
pn::expr<float> throwing(const X& x, const std::string& at, std::int64_t what) {
  return pn::call<thrower>({{"at", at}, {"what", what}}, x);
}

struct places_nothing {
  pn::placement operator()(const pn::placement_problem&) const { throw 7; }
};

}  // namespace

TEST_CASE("whatever a kernel throws fails its step, on any device, and the session goes on") {
  for (const char* where : {"/cpu:0", "/gpu:0"})
    for (const char* at : {"run", "start", "stream", "making"})
      for (std::int64_t what = 1; what < 7; ++what) {
        INFO(where << " " << at << " " << what);
        pn::graph g;
        const auto use = g.as_default();
        const pn::device on{where};
        const auto x = pn::placeholder<float>({}, "x");
        const auto y = throwing(x, at, what);
        pn::session sess{{.simulated = {pn::sim::gpu()}}};
        const auto e = caught([&] { sess.run({{x, 1.f}}, y); });
        CHECK(std::string(to_string(e.code())) + ": " + e.sentence() == sentences[what]);
        CHECK(e.node() == "TestThrower");
        CHECK(float(sess.run({{x, 1.f}}, x + 1.f)) == 2);
      }
}

TEST_CASE("a kernel that throws after it has ended has ended") {
  own_session s;
  const auto y = throwing(pn::constant(1.f), "after its end", 1);
  CHECK(float(s.sess.run(y)) == 1);
}

TEST_CASE("what a body's kernel throws fails the step of its node") {
  own_session s;
  const auto x = pn::placeholder<float>({}, "x");
  for (const char* at : {"run", "start", "making"}) {
    INFO(at);
    const auto branch = pn::cond(
        x > 0.f, [&] { return throwing(x, at, 1); }, [&] { return x * 2.f; });
    const auto loop =
        pn::while_loop([](auto v) { return v < 3.f; }, [&](auto v) { return throwing(v, at, 1) + 1.f; }, x);
    CHECK(failure([&] { s.sess.run({{x, 1.f}}, branch); }) == sentences[1]);
    CHECK(failure([&] { s.sess.run({{x, 1.f}}, loop); }) == sentences[1]);
    CHECK(float(s.sess.run({{x, -1.f}}, branch)) == -2);
  }
}

TEST_CASE("whatever shape and gradient functions throw is an error that names the node") {
  own_session s;
  const auto x = pn::placeholder<float>({}, "x");
  const auto e = caught([&] { throwing(x, "infer", 1); });
  CHECK((e.sentence() + " " + e.node()) == "something that is no std::exception was thrown, of type int TestThrower");
  const auto y = throwing(x, "gradient", 1);
  CHECK(caught([&] { pn::gradients(y, x); }).node() == "TestThrower");
}

TEST_CASE("a policy may throw anything: the graph says so once, and stays usable") {
  own_session s;
  const auto builds = [] {
    const pn::device on{[](const pn::node_view&) -> std::string { throw 1; }};
    pn::constant(1.f, "x");
  };
  const std::string said =
      "unknown: a placement policy threw: something that is no std::exception was thrown, of type int";
  CHECK(failure(builds) == said);
  std::string other_thread;
  std::thread([&] { other_thread = failure([&] { s.g.settle(); }); }).join();
  CHECK(other_thread == "internal: nothing was thrown");
  CHECK(float(s.sess.run(pn::constant(1.f))) == 1);
}

TEST_CASE("a placer, a partitioner and a placement log may throw anything") {
  own_session s;
  const auto x = pn::constant(1.f, "x");
  pn::session places{{.graph = &s.g, .placer = places_nothing{}}};
  const std::string said =
      "unknown: the session's placer threw: something that is no std::exception was thrown, of type int";
  CHECK(failure([&] { places.run(x); }) == said);
  CHECK(failure([&] { places.plan(x); }) == said);
  pn::session logs{{.graph = &s.g, .log_device_placement = true, .placement_log = [](std::string_view line) {
                      if (line.find("x") == 0) throw 1;
                    }}};
  CHECK(failure([&] { logs.run(x); }) == sentences[1]);
  const auto cut = [](const pn::shape&, pn::dtype) -> int { throw 1; };
  CHECK_THAT(failure([&] { pn::partitioned_variable<float>(pn::zeros<float>({4}), {.name = "v", .partition = cut}); }),
             Catch::EndsWith("of type int"));
}

TEST_CASE("what a thread of a coordinator throws stops all, and is thrown to who joins") {
  tr::coordinator all;
  all.launch("throws", [] { throw 1; });
  CHECK(failure([&] { all.join(); }) == sentences[1]);
}

TEST_CASE("a hook whose end throws anything costs its session's destructor no more than a line") {
  pn::graph g;
  const auto use = g.as_default();
  tr::get_or_create_global_step();
  struct hook {
    void end(pn::session&) { throw 1; }
  };
  std::string log;
  {
    tr::monitored_training_session sess({.hooks = {hook{}}, .log = [&](std::string_view line) { log += line; }});
  }
  CHECK_THAT(log, Catch::Contains("the end of a monitored session failed: something that is no std::exception"));
}
