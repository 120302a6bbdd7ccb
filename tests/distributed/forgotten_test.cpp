// A session that its master gives up while a run of it goes on.
#include <catch2/catch.hpp>

#include <distributed/forgery.hpp>
#include <distributed/impostor.hpp>
#include <distributed/real_cluster.hpp>

namespace {

using namespace real;
using namespace distributed;

TEST_CASE("V2: what a run offers after its session was forgotten waits no longer than the run") {
  const bool forgets = GENERATE(true, false);
  server_config announces_all;
  announces_all.credit = 1;
  const impostor second(other_worker);
  server first({{"worker", {"127.0.0.1:0", second.address()}}}, {.job = "worker", .config = announces_all});
  liar master(first.target(), other_worker, second.incarnation());
  const auto session = master.session(some_session);

  // Sends the value that it receives twice.
  const std::string here = cpu_of("worker", 0), there = cpu_of("worker", 1);
  const transfer_key asked("c", "0", there, here);
  forgery f;
  f.with(f.receive(asked.text()));
  for (const std::string name : {"c:0", "d:0"})
    f.with({.kind = part_item::send,
            .node = f.c,
            .key = transfer_key(name + ";" + here + ";" + there),
            .inputs = {{0, 0}}});
  auto step = f.message(session, 1);
  step.peers = {{other_worker, second.incarnation()}};
  master.ask(step);

  countdown ended;
  outcome<part_ended> how = error(errc::internal, "it has not ended");
  master.order<part_ended>(run_of(session, 1), [&](outcome<part_ended> part) {
    how = std::move(part);
    ended.count_down();
  });
  if (forgets) master.tell(forget_session{session});
  master.tell(push_value{{session, 1}, asked, tensor<float>({1, 2}).untyped()});
  REQUIRE(ended.wait(std::chrono::steady_clock::now() + 20s));
  if (!how) FAIL(how.failure()->what());
  CHECK((first.report().backlog.values_offered == 0) == forgets);
}

}  // namespace
