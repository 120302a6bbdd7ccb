// Names: unique, whatever their case; scopes; entering a scope again.
#include <catch2/catch.hpp>

#include <string>

#include <pinion/graph/scopes.hpp>
#include <pinion/op/source/functions.hpp>
#include <pinion/op/variable/functions.hpp>

#include "support/caught.hpp"
#include "support/ends.hpp"

namespace {

using namespace pinion;

}  // namespace

TEST_CASE("a name that is taken gets the first free number") {
  graph g;
  const auto use = g.as_default();
  CHECK(no_op("a").name() == "a");
  CHECK(no_op("a").name() == "a_1");
  CHECK(no_op("a_2").name() == "a_2");
  CHECK(no_op("a").name() == "a_3");
  CHECK(no_op("a_1").name() == "a_1_1");
}

TEST_CASE("names differ by more than case") {
  graph g;
  const auto use = g.as_default();
  CHECK(no_op("Step").name() == "Step");
  CHECK(no_op("step").name() == "step_1");
  CHECK(no_op("STEP").name() == "STEP_2");
}

TEST_CASE("a node is found by its name") {
  graph g;
  const auto use = g.as_default();
  const auto a = constant(1.0f, "a");
  CHECK(g.find("a")->op() == "Const");
  CHECK(g.id_of("a") == id_of(a));
  CHECK(!g.find("b"));
  CHECK(!g.find("A"));
}

TEST_CASE("scopes nest, are made unique, and go when they close") {
  graph g;
  const auto use = g.as_default();
  {
    const name_scope layer("layer");
    CHECK(no_op("a").name() == "layer/a");
    const name_scope inner("inner");
    CHECK(no_op("a").name() == "layer/inner/a");
    const name_scope root("");
    CHECK(no_op("a").name() == "a");
  }
  const name_scope layer("layer");
  CHECK(no_op("a").name() == "layer_1/a");
}

TEST_CASE("a scope that ends in a slash is entered again, from anywhere") {
  graph g;
  const auto use = g.as_default();
  {
    const name_scope layer("layer");
    CHECK(no_op("a").name() == "layer/a");
  }
  const name_scope other("other");
  {
    const name_scope again("layer/");
    CHECK(no_op("a").name() == "layer/a_1");
    CHECK(no_op("b").name() == "layer/b");
  }
  CHECK(no_op("a").name() == "other/a");
}

TEST_CASE("a scope's name and a node's are not the same") {
  graph g;
  const auto use = g.as_default();
  CHECK(no_op("x").name() == "x");
  const name_scope x("x");
  CHECK(no_op("y").name() == "x_1/y");
}

TEST_CASE("variables have their four names, made unique together") {
  graph g;
  const auto use = g.as_default();
  const auto a = variable(1.0f, {.name = "a"}), b = variable(2.0f, {.name = "a"});
  CHECK(a.name() == "a");
  CHECK(b.name() == "a_1");
  for (std::string_view name :
       {"a/initial_value", "a/Assign", "a/read", "a_1/initial_value", "a_1/Assign", "a_1/read"}) {
    INFO(name);
    CHECK(g.find(name));
  }
  const name_scope layer("layer");
  CHECK(variable(1.0f, {.name = "a"}).name() == "layer/a");
  CHECK(g.find("layer/a/read"));
}

TEST_CASE("what is no name is refused") {
  graph g;
  const auto use = g.as_default();
  CHECK(failure([] { no_op("a b"); }).find("invalid_argument: 'a b' is not a name: it holds ' '") == 0);
  CHECK(failure([] { no_op("gr\u00f6\u00dfe"); }).find("it holds '\u00f6'; letters") != std::string::npos);
  CHECK(caught([] { const name_scope s("a:b"); }).code() == errc::invalid_argument);
  CHECK(caught([] { variable(1.0f, {.name = "a?"}); }).code() == errc::invalid_argument);
}

TEST_CASE("the first character of a name at the root is a letter, a digit or a dot") {
  graph g;
  const auto use = g.as_default();
  CHECK(caught([] { no_op("_hidden"); }).code() == errc::invalid_argument);
  CHECK(caught([] { no_op("-a"); }).code() == errc::invalid_argument);
  CHECK(caught([] { const name_scope s("/a"); }).code() == errc::invalid_argument);
}

TEST_CASE("an operation refers to its node") {
  graph g;
  const auto use = g.as_default();
  const operation nothing;
  CHECK(nothing.empty());
  const auto a = no_op("a");
  CHECK(a == operation(g, id_of(a)));
  CHECK(a.op() == "NoOp");
}

TEST_CASE("the default graph of a thread is replaced, but not under as_default") {
  reset_default_graph();
  CHECK(no_op("a").name() == "a");
  reset_default_graph();
  CHECK(no_op("a").name() == "a");
  {
    graph g;
    const auto use = g.as_default();
    CHECK(caught([] { reset_default_graph(); }).code() == errc::failed_precondition);
  }
  CHECK(default_graph().find("a"));
}
