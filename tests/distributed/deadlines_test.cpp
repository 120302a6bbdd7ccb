// The deadlines of runs, under one timer.
#include <pinion/distributed/master/deadlines.hpp>

#include <catch2/catch.hpp>

#include <string>

#include <pinion/netsim/sim_network.hpp>

namespace {

using namespace std::chrono_literals;
using namespace pinion;
using distributed::deadlines;

struct watched {
  std::shared_ptr<netsim::sim_network> net = std::make_shared<netsim::sim_network>(netsim::sim_options{});
  std::shared_ptr<deadlines> all = std::make_shared<deadlines>(*net);
  std::string late = {};

  ~watched() {
    all->close();
    rpc::settle(*net);
  }
  deadlines::entry add(rpc::duration in, const std::string& name) {
    return all->add(net->now() + in, [this, name] { late += name; });
  }
  // The names of what is late by then.
  std::string after(rpc::duration time) {
    countdown nothing;
    net->wait(nothing, net->now() + time);
    return late;
  }
};

TEST_CASE("what has not ended by its deadline is told so, once, in the order of the deadlines") {
  watched w;
  w.add(30s, "c");
  w.add(10s, "a");
  w.add(20s, "b");
  CHECK(w.after(9s) == "");
  CHECK(w.after(2s) == "a");
  CHECK(w.after(30s) == "abc");
  CHECK(w.after(60s) == "abc");
}

TEST_CASE("what has ended is not late, and the others are still watched") {
  watched w;
  const auto first = w.add(10s, "a");
  w.add(20s, "b");
  w.all->remove(first);
  w.all->remove(first);
  CHECK(w.after(15s) == "");
  CHECK(w.after(10s) == "b");
  w.add(10s, "c");
  CHECK(w.after(11s) == "bc");
}

TEST_CASE("nothing is late once the watch is closed") {
  watched w;
  w.add(10s, "a");
  w.all->close();
  w.add(10s, "b");
  CHECK(w.after(60s) == "");
}

}  // namespace
