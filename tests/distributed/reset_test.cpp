// Forgetting the state of a cluster.
#include <catch2/catch.hpp>

#include <pinion/pinion.hpp>

#include "support/caught.hpp"

namespace pn = pinion;

namespace {

struct counter {
  pn::graph g;
  pn::expr<int> value;
  pn::operation init;

  explicit counter(const char* container = "") {
    const auto use = g.as_default();
    const pn::device on{"/job:ps"};
    const pn::container box{container};
    auto v = pn::variable(7, {.name = "v"});
    value = v;
    init = v.initializer();
  }
};

}  // namespace

TEST_CASE("reset forgets the variables of every task and closes the sessions of that master") {
  pn::local_cluster local{{{"ps", 1}, {"worker", 2}}};
  counter c;
  pn::session mine{{.target = local.target("worker", 0), .graph = &c.g}};
  pn::session other{{.target = local.target("worker", 1), .graph = &c.g}};
  mine.run(c.init);
  CHECK(other.run(c.value) == 7);
  pn::session::reset(local.target("worker", 0));
  CHECK(caught([&] { mine.run(c.value); }).code() == pn::errc::aborted);
  CHECK(caught([&] { other.run(c.value); }).code() == pn::errc::failed_precondition);  // uninitialised again
  other.run(c.init);
  CHECK(other.run(c.value) == 7);
}

TEST_CASE("reset of a container leaves the others") {
  pn::local_cluster local{{{"ps", 1}, {"worker", 1}}};
  counter kept, dropped("experiment");
  const auto run = [&](counter& c, const pn::operation& what) {
    pn::session{{.target = local.target("worker", 0), .graph = &c.g}}.run(what);
  };
  const auto read = [&](counter& c) {
    pn::session s{{.target = local.target("worker", 0), .graph = &c.g}};
    return static_cast<int>(s.run(c.value));
  };
  run(kept, kept.init);
  run(dropped, dropped.init);
  pn::session::reset(local.target("worker", 0), {"experiment"});
  CHECK(read(kept) == 7);
  CHECK(caught([&] { read(dropped); }).code() == pn::errc::failed_precondition);
}
