// An authenticated client says false things in every message: it is answered or thrown out, and leaves nothing behind.
//
// A row is one lie about one field. Every message of the protocol has rows; one that has none fails the test.
#include <catch2/catch.hpp>

#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <distributed/liar.hpp>

#include <pinion/device/pool_allocator.hpp>

namespace {

using namespace real;
using namespace distributed;

constexpr std::uint64_t none = 12345;  // a number that nothing has
constexpr auto huge = std::numeric_limits<std::uint64_t>::max();

// What the lies are about: a cluster, an honest client of it, and a client and a peer that lie.
struct scene {
  two_workers& cluster;
  honest& good;
  liar client{cluster.victim()}, peer{cluster.victim(), other_worker};
  std::uint64_t own = client.ask<opened_session>(open_session{}).session;

  // The session of the honest client, as workers call it, if its number were known.
  session_id of_good() const { return {name_of("worker", 0), 1, good.session}; }
  run_id unknown_run() const { return {peer.session(none), none}; }
};

struct lie {
  rpc::method method;
  std::string what;
  std::set<errc> answers;  // empty: it is ignored
  std::function<void(scene&)> tell;
};

graph_delta of_one(node n) {
  graph_delta d;
  d.nodes.emplace_back(std::move(n));
  return d;
}
node named(const std::string& op, std::vector<output> inputs = {}) {
  node n;
  n.name = "n";
  n.op = op;
  n.inputs = std::move(inputs);
  return n;
}
register_step part_on(const session_id& session, int device, const std::string& other = "") {
  subgraph part;
  part.parts.emplace_back().device = device;
  register_step r{session, 1, std::move(part), {}, false};
  if (!other.empty()) r.peers.emplace_back(other, none);
  return r;
}
runtime::step_signature fetching(node_id id, int index) {
  return {{}, {output{id, index}}, {}};
}
any_tensor megabyte() {
  return any_tensor(dtype::uint8, {1 << 20});
}
std::string key_to(const std::string& task) {
  return "v:0;" + cpu_of("worker", 1) + ";" + task;
}

const std::vector<lie>& lies() {
  static const std::set<errc> unknown{errc::aborted}, foreign{errc::permission_denied}, wrong{errc::invalid_argument};
  static const std::set<errc> thrown_out{errc::data_loss}, not_for_clients{errc::permission_denied};
  static const std::vector<lie> all{
      {register_step::method, "session: another's", foreign, [](scene& s) { s.peer.ask(part_on(s.of_good(), 0)); }},
      {register_step::method, "by no task", foreign, [](scene& s) { s.client.ask(part_on(s.client.session(1), 0)); }},
      {register_step::method, "part: no such device", wrong,
       [](scene& s) { s.peer.ask(part_on(s.peer.session(1), 99)); }},
      {register_step::method, "part: device -1", wrong, [](scene& s) { s.peer.ask(part_on(s.peer.session(1), -1)); }},
      {register_step::method,
       "peers: no task",
       {errc::not_found},
       [](scene& s) { s.peer.ask(part_on(s.peer.session(1), 0, "/job:nobody/task:0")); }},
      {register_step::method,
       "peers: another life",
       {errc::aborted},
       [](scene& s) { s.peer.ask(part_on(s.peer.session(1), 0, other_worker)); }},
      {run_step::method, "session: another's", foreign,
       [](scene& s) {
         s.peer.ask<part_ended>(run_step{{s.of_good(), 1}, 1, false});
       }},
      {run_step::method, "session: unknown", unknown,
       [](scene& s) {
         s.peer.ask<part_ended>(run_step{s.unknown_run(), none, true});
       }},
      {cancel_run::method,
       "run: another's",
       {},
       [](scene& s) {
         s.peer.tell(cancel_run{{s.of_good(), 1}, error(errc::internal, "a lie")});
       }},
      {cancel_run::method,
       "run: never begins",
       {},
       [](scene& s) {
         s.peer.tell(cancel_run{s.unknown_run(), error(errc::internal, std::string(10'000, 'x'))});
       }},
      {progress_request::method, "session: another's", foreign,
       [](scene& s) {
         s.peer.ask<progress_reply>(progress_request{{s.of_good(), 1}});
       }},
      {progress_request::method,
       "run: unknown",
       {errc::not_found},
       [](scene& s) { s.peer.ask<progress_reply>(progress_request{s.unknown_run()}); }},
      {forget_session::method, "session: another's", {}, [](scene& s) { s.peer.tell(forget_session{s.of_good()}); }},
      {forget_session::method,
       "session: unknown",
       {},
       [](scene& s) { s.peer.tell(forget_session{s.unknown_run().session}); }},
      {reset_containers::method,
       "containers: unknown",
       {},
       [](scene& s) {
         s.peer.ask(reset_containers{{"none", std::string(10'000, 'x')}});
       }},
      {push_value::method, "by no task", not_for_clients,
       [](scene& s) {
         s.client.tell(push_value{s.unknown_run(), "k", megabyte()});
       }},
      {push_value::method,
       "run: another's, by guessing",
       {},
       [](scene& s) {
         s.peer.tell(push_value{{s.of_good(), 1}, key_to(cpu_of("worker", 0)), megabyte()});
       }},
      {push_value::method,
       "key: none",
       {},
       [](scene& s) {
         s.peer.tell(push_value{s.unknown_run(), "", megabyte()});
       }},
      {announce_value::method, "by no task", not_for_clients,
       [](scene& s) {
         s.client.tell(announce_value{s.unknown_run(), "k"});
       }},
      {announce_value::method,
       "run: never begins",
       {},
       [](scene& s) {
         s.peer.tell(announce_value{s.unknown_run(), std::string(10'000, 'k')});
       }},
      {pull_value::method, "key: for another task", foreign,
       [](scene& s) {
         s.peer.ask<pulled_value>(pull_value{s.unknown_run(), key_to(cpu_of("worker", 0))});
       }},
      {pull_value::method,
       "run: unknown",
       {errc::cancelled},
       [](scene& s) {
         s.peer.ask<pulled_value>(pull_value{s.unknown_run(), key_to(cpu_of("worker", 1))});
       }},
      {pull_value::method, "by no task", foreign,
       [](scene& s) {
         s.client.ask<pulled_value>(pull_value{s.unknown_run(), "k"});
       }},
      {return_credit::method, "by no task", not_for_clients, [](scene& s) { s.client.tell(return_credit{huge}); }},
      {return_credit::method, "bytes: never pushed", {}, [](scene& s) { s.peer.tell(return_credit{huge}); }},
      {open_session::method,
       "one too many",
       {errc::resource_exhausted},
       [](scene& s) {
         for (int i = 0; i < 10; ++i) s.client.ask<opened_session>(open_session{});
       }},
      {extend_graph::method, "session: another's", unknown,
       [](scene& s) {
         s.client.ask(extend_graph{s.good.session, of_one(named("NoOp"))});
       }},
      {extend_graph::method, "delta: from nowhere", wrong,
       [](scene& s) {
         s.client.ask(extend_graph{s.own, {1000, {}, {}}});
       }},
      {extend_graph::method, "delta: nodes gone that are not there", wrong,
       [](scene& s) {
         s.client.ask(extend_graph{s.own, {0, {}, {7}}});
       }},
      {extend_graph::method,
       "delta: an op that is none",
       {errc::not_found, errc::invalid_argument},
       [](scene& s) {
         s.client.ask(extend_graph{s.own, of_one(named("Nonsense"))});
       }},
      {extend_graph::method, "delta: an input that is not there", wrong,
       [](scene& s) {
         s.client.ask(extend_graph{s.own, of_one(named("Identity", {{5, 0}}))});
       }},
      {extend_graph::method,
       "delta: too many nodes",
       {errc::resource_exhausted},
       [](scene& s) {
         s.client.ask(extend_graph{s.own, {0, std::vector<std::optional<node>>(2000), {}}});
       }},
      {prepare_step::method, "session: another's", unknown,
       [](scene& s) {
         s.client.ask<prepared_reply>(prepare_step{s.good.session, 0, fetching(0, 0), false});
       }},
      {prepare_step::method, "signature: no such node", wrong,
       [](scene& s) {
         s.client.ask<prepared_reply>(prepare_step{s.own, huge, fetching(7, 0), true});
       }},
      {prepare_step::method, "signature: node -1", wrong,
       [](scene& s) {
         s.client.ask<prepared_reply>(prepare_step{s.own, 1, fetching(-1, -1), true});
       }},
      {plan_step::method, "session: another's", unknown,
       [](scene& s) {
         s.client.ask<plan_reply>(plan_step{s.good.session, 0, fetching(0, 0)});
       }},
      {plan_step::method, "signature: no such node", wrong,
       [](scene& s) {
         s.client.ask<plan_reply>(plan_step{s.own, 1, fetching(1 << 30, 1 << 30)});
       }},
      {run_prepared::method, "session: another's", unknown,
       [](scene& s) {
         s.client.ask<run_reply>(run_prepared{s.good.session, s.good.step, 0, {megabyte()}, false});
       }},
      {run_prepared::method,
       "step: unknown",
       {errc::not_found},
       [](scene& s) {
         s.client.ask<run_reply>(run_prepared{s.own, none, huge, {megabyte()}, true});
       }},
      {run_prepared::method, "feeds: too many", wrong,
       [](scene& s) {
         s.good.client.ask<run_reply>(run_prepared{s.good.session, s.good.step, 0, {megabyte(), megabyte()}, false});
       }},
      {list_request::method, "session: another's", unknown,
       [](scene& s) {
         s.client.ask<list_reply>(list_request{s.good.session, 0});
       }},
      {close_session::method, "session: another's", {}, [](scene& s) { s.client.tell(close_session{s.good.session}); }},
      {cancel_runs::method,
       "session: another's",
       {},
       [](scene& s) {
         s.client.tell(cancel_runs{s.good.session, error(errc::internal, "a lie")});
       }},
  };
  static const std::vector<lie> with_nonsense = [] {
    std::vector<lie> result = all;
    std::set<rpc::method> notices{cancel_run::method,     forget_session::method, push_value::method,
                                  announce_value::method, return_credit::method,  close_session::method,
                                  cancel_runs::method};
#define PINION_NONSENSE(M)                                                                                      \
  if (notices.insert(M::method).second)                                                                         \
    result.push_back(                                                                                           \
        {M::method, #M ": nonsense", {errc::internal, errc::data_loss, errc::permission_denied}, [](scene& s) { \
           s.peer.say_nonsense(M::method, true);                                                                \
         }});
    PINION_EACH_MESSAGE(PINION_NONSENSE)
#undef PINION_NONSENSE
    for (const rpc::method m : {cancel_run::method, forget_session::method, push_value::method, announce_value::method,
                                return_credit::method, close_session::method, cancel_runs::method})
      result.push_back({m, "notice of nonsense", thrown_out, [m](scene& s) { s.peer.say_nonsense(m, false); }});
    return result;
  }();
  return with_nonsense;
}

TEST_CASE("every message of the protocol is lied about") {
  std::set<rpc::method> told, all;
  for (const lie& l : lies()) told.insert(l.method);
#define PINION_METHOD(M) all.insert(M::method);
  PINION_EACH_MESSAGE(PINION_METHOD)
#undef PINION_METHOD
  CHECK(told == all);
}

std::int64_t resident_pages() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t all = 0, resident = 0;
  statm >> all >> resident;
  return resident;
}

TEST_CASE("S4, S5, L1: each lie gets its answer, a good client's steps go on, and nothing is left when the liar goes") {
  server_config config;
  config.limits.sessions = 4;
  config.limits.nodes = 1000;
  two_workers cluster(config);
  honest good(cluster.victim());
  const auto tell_all = [&] {
    for (const lie& l : lies()) {
      scene s{cluster, good};
      std::set<errc> answer;
      try {
        l.tell(s);
      } catch (const error& e) {
        answer.insert(e.code());
        INFO(l.method << ", " << l.what << ": " << e.what());
        CHECK(l.answers.count(e.code()) == 1);
      }
      INFO(l.method << ", " << l.what);
      CHECK(answer.empty() == l.answers.empty());
      CHECK(good.run() == 3);
    }
  };
  tell_all();
  const auto threads = entries("/proc/self/task"), descriptors = entries("/proc/self/fd");
  const auto memory = resident_pages();
  for (int i = 0; i < 5; ++i) tell_all();
  CHECK(soon([&] { return entries("/proc/self/task") <= threads && entries("/proc/self/fd") <= descriptors; }));
  CHECK(resident_pages() <= memory + memory / 10 + (32 << 20) / 4096);
  CHECK(good.run() == 3);
}

}  // namespace
