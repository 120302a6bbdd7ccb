// State is the cluster's: sessions and graphs that name the same variable share it. Scopes and containers keep apart.
//
//   session A, target worker 0 ──┐     /job:ps/task:0
//                                ├──── container "":       hits, problem_1/hits
//   session B, target worker 1 ──┘     container "trial":  hits
//
#include <pinion/distributed.hpp>

namespace pn = pinion;

// A graph that counts `hits`, three times: as it is, in a name scope, in a container. Every program builds its own.
struct counters {
  pn::graph g;
  pn::expr<int> plain, scoped, trial;  // each adds 1 and yields the sum
  pn::operation init;

  counters() {
    const auto use = g.as_default();
    const pn::device on{"/job:ps/task:0"};
    plain = count();
    {
      const pn::name_scope scope{"problem_1"};
      scoped = count();
    }
    {
      const pn::container box{"trial"};
      trial = count();
    }
    init = pn::global_variables_initializer();
  }
  static pn::expr<int> count() {
    auto hits = pn::variable(0, {.name = "hits"});
    return pn::assign_add(hits, 1);
  }
};

void hit(const char* who, pn::session& sess, const counters& c) {
  fmt::print("{:<16}", who);
  for (const auto* hits : {&c.plain, &c.scoped, &c.trial}) try {
      fmt::print(" {:>20}", int(sess.run(*hits)));
    } catch (const pn::error& e) {
      fmt::print(" {:>20}", to_string(e.code()));
    }
  fmt::print("\n");
}

int main() try {
  pn::local_cluster cluster{{{"ps", 1}, {"worker", 2}}};
  counters mine, yours;
  fmt::print("{:<16} {:>20} {:>20} {:>20}\n", "", "hits", "problem_1/hits", "hits of trial");
  {
    pn::session a{{.target = cluster.target("worker", 0), .graph = &mine.g}};
    a.run(mine.init);
    hit("A", a, mine);
  }
  pn::session b{{.target = cluster.target("worker", 1), .graph = &yours.g}};
  hit("B, after A's end", b, yours);

  pn::session::reset(cluster.target("worker", 1), {"trial"});  // on all tasks; and the sessions at worker 1 have ended
  hit("B, after a reset", b, yours);
  pn::session c{{.target = cluster.target("worker", 0), .graph = &mine.g}};
  hit("C", c, mine);
  pn::session::reset(cluster.target("worker", 1));  // all containers
  hit("C, after another", c, mine);
} catch (const pn::error& e) {
  fmt::print(stderr, "{}\n", e.what());
  return 1;
}
