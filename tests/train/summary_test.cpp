// Summaries in a graph: tags, collections, sessions, placement.
#include <pinion/train.hpp>

#include <catch2/catch.hpp>

#include <support/caught.hpp>
#include <support/ends.hpp>
#include <support/own_graph.hpp>
#include <support/temporary_folder.hpp>
#include <support/wire_message.hpp>

namespace {

using namespace pinion;
namespace tr = pinion::train;

std::string tag_of(const expr<std::string>& s) {
  return s.node().attrs.get<std::string>("tag");
}

TEST_CASE("a tag is the name, behind the name scopes; a second one gets a number") {
  own_graph f;
  auto x = constant(1.f, "loss");
  CHECK(tag_of(tr::summary::scalar("loss", x)) == "loss");  // though a node has that name
  CHECK(tag_of(tr::summary::scalar("loss", x)) == "loss_1");
  CHECK(tag_of(tr::summary::histogram("loss", x)) == "loss_2");
  const name_scope outer{"model"};
  CHECK(tag_of(tr::summary::scalar("loss", x)) == "model/loss");
  const name_scope inner{"layer"};
  const auto s = tr::summary::scalar("loss", x);
  CHECK(tag_of(s) == "model/layer/loss");
  CHECK(s.name() == "model/layer/loss");
}

TEST_CASE("a tag may be any text, of which the node's name keeps what a name may hold") {
  own_graph f;
  const auto s = tr::summary::scalar("_error (%) of \xc3\xa4", constant(1.f));
  CHECK(tag_of(s) == "_error (%) of \xc3\xa4");
  CHECK(s.name() == "error_____of___");
  CHECK(tr::summary::scalar("%", constant(1.f)).name() == "ScalarSummary");
  CHECK(failure([] { tr::summary::scalar("", constant(1.f)); }) ==
        "invalid_argument: a summary without a name is shown nowhere");
  CHECK(failure([] { tr::summary::scalar("\xff", constant(1.f)); }) ==
        "invalid_argument: a tag that is not UTF-8 makes a file unreadable");
}

TEST_CASE("a summary joins the collection of summaries, or those that are named") {
  own_graph f;
  auto x = constant(1.f);
  const auto a = tr::summary::scalar("a", x), b = tr::summary::scalar("b", x, {.collections = {"mine", "yours"}});
  const auto c = tr::summary::text("c", constant(std::string("t")), {.collections = {}});
  CHECK(f.g.collection("summaries") == std::vector<node_id>{id_of(a)});
  CHECK(f.g.collection("mine") == std::vector<node_id>{id_of(b)});
  CHECK(f.g.collection("yours") == std::vector<node_id>{id_of(b)});
  CHECK(tr::summary::merge_all().node().inputs == std::vector<output>{{id_of(a), 0}});
  CHECK(tr::summary::merge_all("mine").node().inputs == std::vector<output>{{id_of(b), 0}});
  CHECK(tr::summary::merge({a, c, b}).node().inputs ==
        std::vector<output>{{id_of(a), 0}, {id_of(c), 0}, {id_of(b), 0}});
}

TEST_CASE("nothing to merge is an error that says what would make it") {
  own_graph f;
  CHECK(failure([] { tr::summary::merge_all(); }) ==
        "failed_precondition: collection 'summaries' of the default graph has no summaries to merge; "
        "tr::summary::scalar(\"loss\", loss) makes one");
  CHECK(failure([] { tr::summary::merge({}); }) == "invalid_argument: merge was given no summaries");
}

TEST_CASE("summaries run on the CPU of the task that a guard asks for, without a fallback") {
  own_graph f;
  session sess{{.simulated = {sim::gpu()}}};
  const device on{"/gpu:0"};
  auto x = variable(tensor<float>({3}), {.name = "x"});
  auto y = reduce_sum(x * 2.f);
  const auto s = tr::summary::scalar("y", y), h = tr::summary::histogram("x", x);
  const auto plan = sess.plan(s, h);
  CHECK(plan.device_of("y") == "/job:localhost/replica:0/task:0/device:CPU:0");
  CHECK(plan.device_of("Sum") == "/job:localhost/replica:0/task:0/device:GPU:0");
  CHECK(plan.fallbacks().empty());
}

#if PINION_HAS_PROTOZERO

TEST_CASE("merged summaries of a step are read back from the file that they were written to") {
  own_graph f;
  temporary_folder dir;
  auto w = variable(tensor<double>::of({1, 2, 3}), {.name = "w"});
  auto loss = reduce_sum(w);
  tr::summary::scalar("loss", loss);
  tr::summary::scalar("loss twice", loss * 2.0);
  tr::summary::histogram("w", w);
  tr::summary::text("note", constant(std::string("*hello*")));
  auto merged = tr::summary::merge_all();
  auto up = assign_add(w, tensor<double>::of({1, 1, 1}));
  session sess;
  sess.run(global_variables_initializer());
  tr::summary_writer writer{dir.folder().string()};
  for (int n = 0; n < 3; ++n) {
    writer.add(sess.run(merged), n);
    sess.run(up);
  }
  const std::string own = sess.run(merged);
  writer.add(own, 3);
  writer.close();

  tr::event_file_reader r(writer.path());
  CHECK(r.next()->kind == tr::event_kind::file_version);
  for (int n = 0; n < 4; ++n) {
    const auto e = r.next();
    REQUIRE(e);
    CHECK(e->step == n);
    CHECK(tr::scalars_of(*e) == std::vector<tr::scalar_event>{{"loss", 6.f + 3 * n}, {"loss twice", 12.f + 6 * n}});
    const wire_message m(e->body);
    REQUIRE(m.count(1) == 4);
    CHECK(m.sub(1, 2).text(1) == "w");
    CHECK(m.sub(1, 2).sub(5).real(4) == 6 + 3 * n);
    CHECK(m.sub(1, 3).sub(8).text(8) == "*hello*");
  }
  CHECK(!r.next());
}

TEST_CASE("a NaN in a histogram fails the step and names the node") {
  own_graph f;
  auto x = placeholder<float>({2}, "x");
  auto h = tr::summary::histogram("w", x);
  session sess;
  const auto e = caught([&] { sess.run({{x, {1.f, NAN}}}, h); });
  CHECK(e.code() == errc::invalid_argument);
  CHECK(e.sentence() == "Nan in summary histogram for: w (element 1 of a tensor of shape [2])");
  CHECK(e.node() == "w");
}

TEST_CASE("a summary comes from a device with memory of its own") {
  own_graph f;
  session sess{{.simulated = {sim::gpu()}}};
  expr<std::string> merged;
  {
    const device on{"/gpu:0"};
    auto x = constant<float>({{1, 2}, {3, 4}}, "x");
    tr::summary::histogram("x", x * 2.f);
    tr::summary::scalar("sum", reduce_sum(x));
    merged = tr::summary::merge_all();
  }
  const tensor<std::string> y = sess.run(merged);
  const wire_message m(y());
  CHECK(m.sub(1, 0).sub(5).real(4) == 20);
  CHECK(m.sub(1, 1).single(2) == 10);
}

#else

TEST_CASE("a build without protozero names the package") {
  own_graph f;
  temporary_folder dir;
  auto s = tr::summary::scalar("a", constant(1.f));
  session sess;
  const std::string says = "apt-get install libprotozero-dev";
  CHECK(failure([&] { sess.run(s); }).find(says) != std::string::npos);
  CHECK(failure([&] { tr::summary_writer w{dir.folder()}; }).find(says) != std::string::npos);
}

#endif

}  // namespace
