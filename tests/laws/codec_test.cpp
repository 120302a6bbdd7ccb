// The law of the wire: a node of any op comes out of a message as it went in, and is admitted to a graph.
#include <catch2/catch.hpp>

#if PINION_HAS_DISTRIBUTED

#include "distributed/wire.hpp"
#include "laws/machine.hpp"
#include "laws/ops/map.hpp"

TEST_CASE("a node of every op comes out of a message as it went in") {
  using namespace laws;
  for_each_case([](std::string_view op, const sample& s, dtype key) {
    if (key == dtype::boolean && map_program(op, dtype::float64)) return;  // programs of bools compute in bytes
    INFO(title(op, s, key));
    for (knowledge k : {knowledge::all, knowledge::nothing}) {
      graph g;
      build_call(g, call_of(op, s, key), k);
      graph replica;
      distributed::apply(replica, wire::again(distributed::delta_since(g)), distributed::most_nodes,
                         distributed::made_by::master);
      CHECK(wire::text(replica) == wire::text(g));
      ledger::get().count("(h) a message and back: the same node, admitted", op);
    }
  });
}

#endif
