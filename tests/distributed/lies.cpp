#include "lies.hpp"

#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <pinion/distributed/wire/fingerprint.hpp>

#include "anatomy.hpp"
#include "forgery.hpp"

#include <support/ends.hpp>

namespace real {

using namespace distributed;

namespace {

constexpr std::uint64_t none = 12345;  // a number that nothing has
constexpr auto huge = std::numeric_limits<std::uint64_t>::max();

const std::string here = cpu_of("worker", 0), there = cpu_of("worker", 1);
const transfer_key key_of_x("x", "0", there, here);

any_tensor two_numbers() {
  return tensor<float>::of({1, 2}).untyped();
}
any_tensor megabyte() {
  return any_tensor(dtype::uint8, {1 << 20});
}
any_tensor two_booleans(unsigned char byte) {
  any_tensor t(dtype::boolean, {2});
  std::memset(t.raw(), byte, t.bytes());
  return t;
}
any_tensor words() {
  return tensor<std::string>::of({{"two", "words"}}).untyped();
}
const error a_lie(errc::internal, std::string(10'000, 'x'));
const std::string over = "the liar has heard enough";

}  // namespace

// ---- the scene

own_session::own_session(liar& client) : session(client.ask<opened_session>(open_session{}).session) {
  auto all = delta_since(g, told);
  client.ask(extend_graph{session, all});
  told.add(all);
  step = client.ask<prepared_reply>(prepare_step{session, 0, signature(), false, 0}).step;
}
std::uint64_t own_session::partial_step(liar& client) const {
  return client.ask<prepared_reply>(prepare_step{session, 0, signature(), false, 0, true}).step;
}
runtime::step_signature own_session::signature() const {
  return {{end_of(x), end_of(b)}, {end_of(y), end_of(passed)}, {}};
}
std::vector<any_tensor> own_session::feeds() {
  return {two_numbers(), two_booleans(1)};
}

namespace {

// A part that receives x from the second worker, and computes y from it and from a constant.
subgraph part_with_x() {
  own_graph made;
  const auto x = placeholder<float>({2}, "x");
  const auto c = constant<float>({1, 2}, "c");
  const auto y = x + c;
  std::vector<runtime::partition> parts(1);
  parts[0].items = {{.kind = part_item::receive, .node = id_of(x), .key = key_of_x, .outputs = 1},
                    {.kind = part_item::compute, .node = id_of(c), .outputs = 1},
                    {.kind = part_item::compute, .node = id_of(y), .inputs = {{0, 0}, {1, 0}}, .outputs = 1}};
  return cut(made.g, std::move(parts));
}

}  // namespace

void scene::begin_waiting() {
  const session_id session = of_peer();
  peer.ask(register_step{session, 1, part_with_x(), {{other_worker, peer.incarnation}}, false});
  auto promise = std::make_shared<std::promise<std::optional<error>>>();
  waits.emplace(waiting_run{{session, 1}, promise->get_future()});
  peer.order<part_ended>(run_step{waits->run, 1, false}, [promise](const outcome<part_ended>& how) {
    promise->set_value(how ? std::nullopt : std::optional(*how.failure()));
  });
  peer.ask<status_reply>(status_request{});  // then it has been asked for
}
std::optional<error> scene::end_of_waiting(bool will_fail) {
  if (!will_fail)
    peer.say(cancel_run::method, rpc::encode(cancel_run{waits->run, error(errc::cancelled, over)}), false);
  if (waits->ended.wait_for(20s) != std::future_status::ready)
    return error(errc::deadline_exceeded, "the run goes on, and should have failed");
  auto how = waits->ended.get();
  return how && how->sentence() == over ? std::nullopt : how;
}

namespace {

// ---- what an honest peer says

template <class M>
constexpr bool is_notice =
    std::is_same_v<M, cancel_run> || std::is_same_v<M, settle_run> || std::is_same_v<M, introduce_task> ||
    std::is_same_v<M, forget_session> || std::is_same_v<M, push_value> || std::is_same_v<M, announce_value> ||
    std::is_same_v<M, return_credit> || std::is_same_v<M, close_session> || std::is_same_v<M, cancel_runs> ||
    std::is_same_v<M, end_partial_run>;
template <class M>
constexpr bool is_of_task = M::method >= register_step::method&& M::method < open_session::method;
template <class M>
constexpr bool has_payload =
    std::is_same_v<M, push_value> || std::is_same_v<M, run_prepared> || std::is_same_v<M, register_step> ||
    std::is_same_v<M, extend_graph> || std::is_same_v<M, continue_partial_run>;

template <class M>
M truth(scene&) {
  return {};
}
template <>
register_step truth(scene& s) {
  return {s.of_peer(), 1, part_with_x(), {{other_worker, s.peer.incarnation}}, false};
}
// The nodes are there: a part of another step has brought them.
template <>
register_known truth(scene& s) {
  own_graph made;
  const auto c = constant(tensor<float>({1 << 13}), "large");
  std::vector<runtime::partition> parts(1);
  parts[0].items = {{.kind = part_item::compute, .node = id_of(c), .outputs = 1}};
  const register_step whole{s.of_peer(), 1, cut(made.g, std::move(parts)), {}, false};
  s.peer.ask(whole);
  return {s.of_peer(),
          2,
          imprint_of(whole.part, s.peer.life_of_other()).of,
          whole.part.parts,
          {{other_worker, s.peer.incarnation}},
          false};
}
template <>
run_step truth(scene& s) {
  const session_id session = s.of_peer();
  s.peer.ask(empty_step(session, 1));
  return run_of(session, 1);
}
template <>
cancel_run truth(scene& s) {
  return {{s.of_peer(), 1}, a_lie};
}
template <>
introduce_task truth(scene&) {
  return {other_worker, "127.0.0.1:1", 1};
}
template <>
settle_run truth(scene& s) {
  return {{s.of_peer(), 1}};
}
template <>
progress_request truth(scene& s) {
  s.begin_waiting();
  return {s.waits->run};
}
template <>
forget_session truth(scene& s) {
  return {s.of_peer()};
}
template <>
reset_containers truth(scene&) {
  return {{"none", std::string(10'000, 'x')}};
}
template <>
push_value truth(scene& s) {
  s.begin_waiting();
  return {s.waits->run, key_of_x, two_numbers()};
}
template <>
announce_value truth(scene& s) {
  s.begin_waiting();
  return {s.waits->run, key_of_x};
}
template <>
pull_value truth(scene& s) {
  return {{s.of_peer(), 1}, transfer_key("x", "0", here, there)};
}
template <>
open_session truth(scene&) {
  return {false, {"/job:worker"}, true};
}
template <>
extend_graph truth(scene& s) {
  constant<float>({3, 4}, "more");
  return {s.own.session, delta_since(s.own.g, s.own.told)};
}
template <>
extend_known truth(scene& s) {
  return {s.own.session, {}};
}
template <>
prepare_step truth(scene& s) {
  return {s.own.session, 1000, s.own.signature(), true, 1000};
}
template <>
plan_step truth(scene& s) {
  return {s.own.session, 1000, s.own.signature(), 1000};
}
template <>
run_prepared truth(scene& s) {
  return {s.own.session, s.own.step, 1000, own_session::feeds(), false};
}
template <>
begin_partial_run truth(scene& s) {
  return {s.own.session, s.own.partial_step(s.client), 1000};
}
template <>
continue_partial_run truth(scene& s) {
  return {
      s.own.session,       s.client.ask<partial_run_begun>(truth<begin_partial_run>(s)).run, 1000, {0, 1}, {0, 1}, {},
      own_session::feeds()};
}
template <>
end_partial_run truth(scene& s) {
  return {s.own.session, s.client.ask<partial_run_begun>(truth<begin_partial_run>(s)).run};
}
template <>
list_request truth(scene& s) {
  return {s.own.session, 1000};
}
template <>
close_session truth(scene& s) {
  return {s.own.session};
}
template <>
cancel_runs truth(scene& s) {
  return {s.own.session, a_lie};
}
template <>
reset_request truth(scene&) {
  return {{"none"}};
}

// ---- telling

using codes = std::optional<std::set<errc>>;
const codes served = std::set<errc>{}, ignored = served, any = std::nullopt;
const codes wrong = std::set{errc::invalid_argument}, unknown = std::set{errc::aborted},
            foreign = std::set{errc::permission_denied}, unreadable = std::set{errc::data_loss},
            too_much = std::set{errc::resource_exhausted};

template <class M>
std::string_view name_of_message;
#define PINION_NAME(M) \
  template <>          \
  std::string_view name_of_message<M> = #M;
PINION_EACH_MESSAGE(PINION_NAME)
#undef PINION_NAME

// Says a message, and hears of the run that waits for it, where there is one.
template <class M>
std::optional<error> say(scene& s, liar& as, rpc::message m, bool will_fail) {
  auto answer = as.say(M::method, std::move(m), !is_notice<M>);
  return answer || !s.waits ? answer : s.end_of_waiting(will_fail);
}
template <class M>
liar& usual(scene& s) {
  return is_of_task<M> ? s.peer : s.client;
}
template <class M>
std::optional<error> tell_truth(scene& s) {
  return say<M>(s, usual<M>(s), rpc::encode(truth<M>(s)), false);
}
// The other task has the value no more, so the run that fetches it fails, and is not to be cancelled before.
template <>
std::optional<error> tell_truth<announce_value>(scene& s) {
  return say<announce_value>(s, usual<announce_value>(s), rpc::encode(truth<announce_value>(s)), true);
}
// These would end the server, and the sessions of all.
template <>
std::optional<error> tell_truth<shutdown_request>(scene&) {
  return {};
}
template <>
std::optional<error> tell_truth<reset_request>(scene&) {
  return {};
}

class table {
 public:
  const std::vector<lie>& rows() const { return rows_; }

  // A message that is true but for what `change` makes of it.
  template <class M>
  void about(const std::string& field, const std::string& what, const codes& answers,
             std::function<void(M&, scene&)> change) {
    add<M>(field, what, answers, [answers, change](scene& s) {
      auto m = truth<M>(s);
      change(m, s);
      return say<M>(s, usual<M>(s), rpc::encode(m), answers && !answers->empty());
    });
  }
  // A message of tasks, from a client that is none.
  template <class M>
  void by_no_task(const codes& answers) {
    add<M>("(sender)", "a client that is no task", answers,
           [](scene& s) { return say<M>(s, s.client, rpc::encode(truth<M>(s)), false); });
  }
  // Messages that are not what their own bytes say of them.
  template <class M>
  void damaged() {
    for (const auto& d : anatomy::damage_to<M>(has_payload<M>)) {
      // A byte without a meaning may be any, and then the server would have been asked to stop.
      if (std::is_same_v<M, shutdown_request> && !d.unreadable && d.what == "all bits set") continue;
      // The bytes of a call of a partial run are compared with the feeds of its step before they are read.
      const bool compared = std::is_same_v<M, continue_partial_run> && d.what == "a payload that no field is of";
      add<M>(d.field, d.what,
             compared       ? wrong
             : d.unreadable ? unreadable
                            : any,
             [d](scene& s) { return say<M>(s, usual<M>(s), anatomy::damaged(truth<M>(s), d), false); });
    }
  }

 private:
  template <class M>
  void add(const std::string& field, const std::string& what, const codes& answers,
           std::function<std::optional<error>(scene&)> tell) {
    rows_.push_back({std::string(name_of_message<M>), field, what, answers, std::move(tell), tell_truth<M>});
  }
  std::vector<lie> rows_;
};

// ---- from one task to another

void lie_about_registering(table& t) {
  using m = register_step;
  const auto of_part = [&](const std::string& field, const std::string& what, const codes& answers,
                           std::function<void(subgraph&)> change) {
    t.about<m>("part." + field, what, answers, [change](m& r, scene&) { change(r.part); });
  };
  const auto of_item = [&](const std::string& field, const std::string& what, std::size_t i,
                           std::function<void(part_item&)> change, const codes& answers = wrong) {
    of_part("parts.items." + field, what, answers, [i, change](subgraph& p) { change(p.parts[0].items[i]); });
  };
  t.by_no_task<m>(foreign);
  t.about<m>("session", "an honest client's", foreign, [](m& r, scene& s) { r.session = s.of_good(); });
  t.about<m>("session.master", "another task", foreign, [](m& r, scene&) { r.session.master = name_of("worker", 0); });
  t.about<m>("session.incarnation", "another life", foreign, [](m& r, scene&) { ++r.session.incarnation; });
  t.about<m>("session.number", "all bits set", served, [](m& r, scene&) { r.session.number = huge; });
  t.about<m>("step", "a number that is there already", served, [](m& r, scene& s) { s.peer.ask(r); });
  t.about<m>("step", "all bits set", served, [](m& r, scene&) { r.step = huge; });
  of_part("nodes", "an op that is none", codes(std::set{errc::not_found, errc::invalid_argument}),
          [](subgraph& p) { p.nodes[1].op = "Nonsense"; });
  of_part("nodes", "no name", wrong, [](subgraph& p) { p.nodes[1].name.clear(); });
  of_part("nodes", "one name twice", wrong, [](subgraph& p) { p.nodes[1].name = p.nodes[0].name; });
  of_part("nodes", "an input that is not before it", wrong, [](subgraph& p) { p.nodes[2].inputs[0].node = 2; });
  of_part("nodes", "an output that its input has not", wrong, [](subgraph& p) { p.nodes[2].inputs[0].index = 7; });
  of_part("nodes", "a literal of another shape than its output", wrong,
          [](subgraph& p) { p.nodes[1].outputs[0].shape = {3}; });
  of_part("nodes", "a literal of another dtype than its output", wrong,
          [](subgraph& p) { p.nodes[1].outputs[0].dtype = dtype::int32; });
  of_part("stub", "fewer than there are nodes", wrong, [](subgraph& p) { p.stub.pop_back(); });
  of_part("stub", "a node with inputs", wrong, [](subgraph& p) { p.stub[2] = true; });
  of_part("parts.device", "one that is not there", wrong, [](subgraph& p) { p.parts[0].device = 99; });
  of_part("parts.device", "-1", wrong, [](subgraph& p) { p.parts[0].device = -1; });
  of_item("kind", "a feed", 0, [](part_item& i) { i.kind = part_item::feed; });
  of_item("kind", "a fetch", 1, [](part_item& i) { i.kind = part_item::fetch; });
  of_item(
      "kind", "one that is none", 0, [](part_item& i) { i.kind = part_item::kind_t(99); }, unreadable);
  of_item("node", "one that is not there", 0, [](part_item& i) { i.node = 99; });
  of_item("node", "-1", 0, [](part_item& i) { i.node = -1; });
  of_item("index", "an output that is not there", 0, [](part_item& i) { i.index = 7; });
  of_item("index", "-2", 0, [](part_item& i) { i.index = -2; });
  of_item("key", "none", 0, [](part_item& i) { i.key = {}; });
  of_item("key", "nonsense", 0, [](part_item& i) { i.key = transfer_key("nonsense"); });
  of_item("key", "for another task", 0, [](part_item& i) { i.key = transfer_key("x:0;" + here + ";" + there); });
  of_item("key", "from a task that takes no part", 0,
          [](part_item& i) { i.key = transfer_key("x:0;" + cpu_of("ps", 0) + ";" + here); });
  of_item(
      "peer", "to an accelerator that is not there", 0, [](part_item& i) { i.peer = true; }, any);
  of_item(
      "narrow", "of a value that its sender sends as it is", 0, [](part_item& i) { i.narrow = true; }, served);
  of_part("parts.items.narrow", "of a value that is not of floats", wrong, [](subgraph& p) {
    p.nodes[0].outputs[0].dtype = dtype::int32;
    p.parts[0].items[0].narrow = true;
  });
  of_item("inputs", "itself", 2, [](part_item& i) { i.inputs[0].first = 2; });
  of_item("inputs", "one that is not there", 2, [](part_item& i) { i.inputs[0].first = -1; });
  of_item("inputs", "another output than the graph says", 2, [](part_item& i) { i.inputs[0] = {1, 0}; });
  of_item("inputs", "too few", 2, [](part_item& i) { i.inputs.pop_back(); });
  of_item("after", "itself", 2, [](part_item& i) { i.after = {2}; });
  of_item("after", "-1", 2, [](part_item& i) { i.after = {-1}; });
  of_item("outputs", "too many", 2, [](part_item& i) { i.outputs = 1 << 30; });
  of_item("outputs", "-1", 2, [](part_item& i) { i.outputs = -1; });
  of_part("parts.items", "one value received twice", wrong,
          [](subgraph& p) { p.parts[0].items.push_back(p.parts[0].items[0]); });
  of_part("parts.items", "one node computed twice", wrong,
          [](subgraph& p) { p.parts[0].items.push_back(p.parts[0].items[1]); });
  t.about<m>("peers", "no task", codes(std::set{errc::not_found}),
             [](m& r, scene&) { r.peers[0].first = "/job:nobody/task:0"; });
  t.about<m>("peers", "another life", unknown, [](m& r, scene&) { ++r.peers[0].second; });
  t.about<m>("peers", "none, and a value is received from one", wrong, [](m& r, scene&) { r.peers.clear(); });
  t.about<m>("peers", "one twice", served, [](m& r, scene&) { r.peers.push_back(r.peers[0]); });
}

void lie_about_nodes_that_are_there(table& t) {
  using m = register_known;
  const auto of_item = [&](const std::string& field, const std::string& what, std::function<void(part_item&)> change) {
    t.about<m>("parts.items." + field, what, wrong, [change](m& r, scene&) { change(r.parts[0].items[0]); });
  };
  t.by_no_task<m>(foreign);
  t.about<m>("session", "an honest client's", foreign, [](m& r, scene& s) { r.session = s.of_good(); });
  t.about<m>("session.incarnation", "another life", foreign, [](m& r, scene&) { ++r.session.incarnation; });
  t.about<m>("step", "all bits set", served, [](m& r, scene&) { r.step = huge; });
  t.about<m>("nodes", "that are not there", served, [](m& r, scene&) { ++r.nodes.words[3]; });
  t.about<m>("parts.device", "one that is not there", wrong, [](m& r, scene&) { r.parts[0].device = 99; });
  of_item("kind", "a fetch", [](part_item& i) { i.kind = part_item::fetch; });
  of_item("node", "one that is not there", [](part_item& i) { i.node = 99; });
  of_item("inputs", "itself", [](part_item& i) { i.inputs = {{0, 0}}; });
  of_item("outputs", "too many", [](part_item& i) { i.outputs = 1 << 30; });
  t.about<m>("parts.items", "one node computed twice", wrong,
             [](m& r, scene&) { r.parts[0].items.push_back(r.parts[0].items[0]); });
  t.about<m>("peers", "no task", codes(std::set{errc::not_found}),
             [](m& r, scene&) { r.peers[0].first = "/job:nobody/task:0"; });
  t.about<m>("peers", "another life", unknown, [](m& r, scene&) { ++r.peers[0].second; });
}

void lie_about_runs_of_tasks(table& t) {
  t.by_no_task<run_step>(foreign);
  t.about<run_step>("run.session", "an honest client's", foreign,
                    [](run_step& r, scene& s) { r.run.session = s.of_good(); });
  t.about<run_step>("run.session", "one that is not there", unknown,
                    [](run_step& r, scene&) { r.run.session.number = none; });
  t.about<run_step>("run.count", "all bits set", served, [](run_step& r, scene&) { r.run.count = huge; });
  t.about<run_step>("run.count", "of a run that is over", codes(std::set{errc::cancelled}),
                    [](run_step& r, scene& s) { s.peer.ask<part_ended>(r); });
  t.about<run_step>("step", "one that is not there", unknown, [](run_step& r, scene&) { r.step = none; });
  t.by_no_task<cancel_run>(ignored);
  t.about<cancel_run>("run.session", "an honest client's", ignored,
                      [](cancel_run& c, scene& s) { c.run.session = s.of_good(); });
  t.about<cancel_run>("run", "one that never begins", ignored, [](cancel_run& c, scene&) { c.run.count = none; });
  t.by_no_task<settle_run>(ignored);
  t.about<settle_run>("run.session", "an honest client's", ignored,
                      [](settle_run& r, scene& s) { r.run.session = s.of_good(); });
  t.about<settle_run>("run", "one that never begins", ignored, [](settle_run& r, scene&) { r.run.count = none; });
  t.by_no_task<progress_request>(foreign);
  t.about<progress_request>("run.session", "an honest client's", foreign,
                            [](progress_request& p, scene& s) { p.run.session = s.of_good(); });
  t.about<progress_request>("run", "one that is not there", codes(std::set{errc::not_found}),
                            [](progress_request& p, scene&) { p.run.count = none; });
  t.by_no_task<forget_session>(ignored);
  t.about<forget_session>("session", "an honest client's", ignored,
                          [](forget_session& f, scene& s) { f.session = s.of_good(); });
  t.about<forget_session>("session", "one that is not there", ignored,
                          [](forget_session& f, scene&) { f.session.number = none; });
  t.about<reset_containers>("containers", "none of that name", served, [](reset_containers&, scene&) {});
}

void lie_about_values(table& t) {
  using m = push_value;
  t.by_no_task<m>(foreign);
  t.about<m>("run", "one that never begins", ignored, [](m& v, scene&) { v.run.count = none; });
  t.about<m>("run.session", "an honest client's, by guessing", ignored,
             [](m& v, scene& s) { v.run.session = s.of_good(); });
  t.about<m>("key", "none", unreadable, [](m& v, scene&) { v.key = {}; });
  t.about<m>("key", "one that is not awaited", unreadable,
             [](m& v, scene&) { v.key = transfer_key("no/" + v.key.text()); });
  t.about<m>("key", "a value of this task", unreadable,
             [](m& v, scene&) { v.key = transfer_key("x:0;" + here + ";" + here); });
  t.about<m>("key", "of 10 000 letters", unreadable,
             [](m& v, scene&) { v.key = transfer_key(std::string(10'000, 'k')); });
  t.about<m>("key", "one that came already", ignored, [](m& v, scene& s) {
    s.peer.tell(push_value{{s.peer.session(none), 1}, v.key, v.value});
    v.run.session.number = none;
  });
  t.about<m>("value", "nothing", unreadable, [](m& v, scene&) { v.value = {}; });
  t.about<m>("value", "another dtype", unreadable, [](m& v, scene&) { v.value = any_tensor(dtype::int32, {2}); });
  t.about<m>("value", "bfloat16", unreadable, [](m& v, scene&) { v.value = any_tensor(dtype::bfloat16, {2}); });
  t.about<m>("value", "another shape", unreadable, [](m& v, scene&) { v.value = any_tensor(dtype::float32, {3}); });
  t.about<m>("value", "strings", unreadable, [](m& v, scene&) { v.value = words(); });
  t.about<m>("value", "a megabyte", unreadable, [](m& v, scene&) { v.value = megabyte(); });
  t.about<m>("value", "booleans of 2, for a run that has not begun", unreadable, [](m& v, scene&) {
    v.run.count = none;
    v.value = two_booleans(2);
  });
  const std::string far_too_long(100'000, 'k');
  t.about<m>("key", "of 100 000 letters, for a run that has not begun", unreadable, [far_too_long](m& v, scene&) {
    v.run.count = none;
    v.key = transfer_key(far_too_long + ";" + there + ";" + here);
  });
  t.about<m>("run.session.master", "of 100 000 letters", unreadable,
             [far_too_long](m& v, scene&) { v.run.session.master = far_too_long; });
  t.about<announce_value>("key", "of 100 000 letters, for a run that has not begun", unreadable,
                          [far_too_long](announce_value& v, scene&) {
                            v.run.count = none;
                            v.key = transfer_key(far_too_long + ";" + there + ";" + here);
                          });
  t.by_no_task<announce_value>(foreign);
  t.about<announce_value>("run", "one that never begins", ignored,
                          [](announce_value& v, scene&) { v.run.count = none; });
  t.about<announce_value>("key", "one that is not awaited", unreadable,
                          [](announce_value& v, scene&) { v.key = transfer_key("no/" + v.key.text()); });
  t.about<announce_value>("key", "a value that is not there, a hundred times", codes(std::set{errc::aborted}),
                          [](announce_value& v, scene& s) {
                            for (int i = 0; i < 99; ++i) s.peer.say(announce_value::method, rpc::encode(v), false);
                          });
  t.by_no_task<pull_value>(foreign);
  t.about<pull_value>("run", "one that is not there", codes(std::set{errc::aborted}), [](pull_value& v, scene& s) {
    v.run = {s.peer.session(none), none};
  });
  t.about<pull_value>("key", "for another task", foreign,
                      [](pull_value& v, scene&) { v.key = transfer_key("x:0;" + here + ";" + here); });
  t.about<pull_value>("key", "none", foreign, [](pull_value& v, scene&) { v.key = {}; });
  t.by_no_task<return_credit>(foreign);
  t.about<return_credit>("bytes", "that were never pushed", ignored, [](return_credit& c, scene&) { c.bytes = huge; });
}

// ---- from a client to its master

template <class M>
void lie_about_session(table& t) {
  const codes answers = is_notice<M> ? ignored : unknown;
  t.about<M>("session", "an honest client's", answers, [](M& m, scene& s) { m.session = s.good.session; });
  t.about<M>("session", "one that is not there", answers, [](M& m, scene&) { m.session = none; });
}

void lie_about_graphs(table& t) {
  using m = extend_graph;
  lie_about_session<m>(t);
  const auto of_node = [&](const std::string& what, const codes& answers, std::function<void(node&)> change) {
    t.about<m>("delta.nodes", what, answers, [change](m& x, scene&) { change(*x.delta.nodes[0]); });
  };
  t.about<m>("delta.from", "from nowhere", wrong, [](m& x, scene&) { x.delta.from = 1000; });
  t.about<m>("delta.from", "-1", wrong, [](m& x, scene&) { x.delta.from = -1; });
  t.about<m>("delta.gone", "a node that is not there", wrong, [](m& x, scene&) { x.delta.gone = {77}; });
  t.about<m>("delta.gone", "-1", wrong, [](m& x, scene&) { x.delta.gone = {-1}; });
  t.about<m>("delta.gone", "one that others read", wrong, [](m& x, scene& s) { x.delta.gone = {id_of(s.own.x)}; });
  t.about<m>("delta.gone", "one twice", wrong, [](m& x, scene& s) {
    x.delta.gone = {id_of(s.own.passed), id_of(s.own.passed)};
  });
  t.about<m>("delta.nodes", "too many", too_much, [](m& x, scene&) { x.delta.nodes.resize(2000); });
  of_node("an op that is none", codes(std::set{errc::not_found, errc::invalid_argument}),
          [](node& n) { n.op = "Nonsense"; });
  of_node("a name that is taken", wrong, [](node& n) { n.name = "x"; });
  of_node("a name of 10 000 letters", wrong, [](node& n) { n.name = std::string(10'000, 'n'); });
  of_node("an input that is not there", wrong, [](node& n) { n.inputs = {{55, 0}}; });
  of_node("a control input that is not there", wrong, [](node& n) { n.control_inputs = {-7}; });
  of_node("no literal", any, [](node& n) { n.attrs = {}; });
  of_node("a literal of another shape than its output", wrong, [](node& n) { n.outputs[0].shape = {3}; });
  of_node("a literal of another dtype than its output", wrong, [](node& n) { n.outputs[0].dtype = dtype::int32; });
  of_node("a literal of bfloat16", wrong, [](node& n) { n.attrs.set("value", any_tensor(dtype::bfloat16, {2})); });
  of_node("a literal of booleans of 2", unreadable, [](node& n) { n.attrs.set("value", two_booleans(2)); });
}

void lie_about_graphs_that_are_there(table& t) {
  using m = extend_known;
  lie_about_session<m>(t);
  t.about<m>("delta", "that is not there", served, [](m& x, scene&) { x.delta.words[0] = none; });
  t.about<m>("delta", "that is there, after another beginning", served, [](m& x, scene& s) {
    own_graph made;
    constant(tensor<float>({1 << 13}), "large");
    const auto delta = delta_since(made.g);
    s.client.ask(extend_graph{s.client.ask<opened_session>(open_session{}).session, delta});
    x.delta = imprint_of(delta, s.client.life_of_other()).of;
  });
}

template <class M>
void lie_about_signature(table& t) {
  lie_about_session<M>(t);
  const auto of = [&](const std::string& field, const std::string& what, const codes& answers,
                      std::function<void(runtime::step_signature&)> change) {
    t.about<M>("signature." + field, what, answers, [change](M& m, scene&) { change(m.signature); });
  };
  t.about<M>("max_wait_ms", "all bits set", served, [](M& m, scene&) { m.max_wait_ms = huge; });
  t.about<M>("startup_ms", "all bits set", served, [](M& m, scene&) { m.startup_ms = huge; });
  of("fetches", "a node that is not there", wrong, [](auto& s) { s.fetches[0].node = 1 << 30; });
  of("fetches", "node -1", wrong, [](auto& s) { s.fetches[0].node = -1; });
  of("fetches", "an output that is not there", wrong, [](auto& s) { s.fetches[0].index = 7; });
  of("fetches", "output -1", wrong, [](auto& s) { s.fetches[0].index = -1; });
  of("feeds", "a node that is not there", wrong, [](auto& s) { s.feeds[0].node = 1 << 30; });
  of("feeds", "one twice", wrong, [](auto& s) { s.feeds.push_back(s.feeds[0]); });
  of("targets", "a node that is not there", wrong, [](auto& s) { s.targets = {1 << 30}; });
}

void lie_about_running(table& t) {
  using m = run_prepared;
  lie_about_session<m>(t);
  t.about<m>("step", "one that is not there", codes(std::set{errc::not_found}), [](m& r, scene&) { r.step = none; });
  t.about<m>("max_wait_ms", "all bits set", served, [](m& r, scene&) { r.max_wait_ms = huge; });
  const auto of_feeds = [&](const std::string& what, const codes& answers,
                            std::function<void(std::vector<any_tensor>&)> change) {
    t.about<m>("feeds", what, answers, [change](m& r, scene&) { change(r.feeds); });
  };
  of_feeds("too many", wrong, [](auto& all) { all.push_back(megabyte()); });
  of_feeds("too few", wrong, [](auto& all) { all.pop_back(); });
  of_feeds("one that is nothing", wrong, [](auto& all) { all[0] = {}; });
  of_feeds("another dtype", wrong, [](auto& all) { all[0] = any_tensor(dtype::int32, {2}); });
  of_feeds("bfloat16", wrong, [](auto& all) { all[0] = any_tensor(dtype::bfloat16, {2}); });
  of_feeds("another shape", wrong, [](auto& all) { all[0] = any_tensor(dtype::float32, {1 << 20}); });
  of_feeds("strings", wrong, [](auto& all) { all[0] = words(); });
  of_feeds("booleans of 2", unreadable, [](auto& all) { all[1] = two_booleans(2); });
  of_feeds("booleans of 255", unreadable, [](auto& all) { all[1] = two_booleans(255); });
}

void lie_about_partial_runs(table& t) {
  lie_about_session<begin_partial_run>(t);
  const codes not_there = std::set{errc::not_found};
  t.about<begin_partial_run>("step", "one that is not there", not_there,
                             [](begin_partial_run& b, scene&) { b.step = none; });
  t.about<begin_partial_run>("step", "one that is run at once", wrong,
                             [](begin_partial_run& b, scene& s) { b.step = s.own.step; });
  t.about<begin_partial_run>("max_wait_ms", "all bits set", served,
                             [](begin_partial_run& b, scene&) { b.max_wait_ms = huge; });
  t.about<run_prepared>("step", "one that is partial run", wrong,
                        [](run_prepared& r, scene& s) { r.step = s.own.partial_step(s.client); });
  lie_about_session<continue_partial_run>(t);
  const auto of = [&](const std::string& field, const std::string& what, const codes& answers,
                      std::function<void(continue_partial_run&)> change) {
    t.about<continue_partial_run>(field, what, answers, [change](continue_partial_run& m, scene&) { change(m); });
  };
  of("run", "one that is not there", not_there, [](auto& m) { m.run = none; });
  of("max_wait_ms", "all bits set", served, [](auto& m) { m.max_wait_ms = huge; });
  of("feeds", "one that is not there", wrong, [](auto& m) { m.feeds[1] = huge; });
  of("feeds", "one twice", wrong, [](auto& m) { m.feeds[1] = 0; });
  of("feeds", "fewer than values", wrong, [](auto& m) { m.feeds.pop_back(); });
  of("feeds", "100 000 of them", wrong, [](auto& m) { m.feeds.resize(100'000); });
  of("values", "another dtype", wrong, [](auto& m) { m.values[0] = any_tensor(dtype::int32, {2}); });
  of("values", "another shape", wrong, [](auto& m) { m.values[0] = any_tensor(dtype::float32, {1 << 20}); });
  of("values", "one that is nothing", wrong, [](auto& m) { m.values[0] = {}; });
  of("values", "booleans of 2", unreadable, [](auto& m) { m.values[1] = two_booleans(2); });
  of("fetches", "one that is not there", wrong, [](auto& m) { m.fetches[0] = 2; });
  of("fetches", "one twice", wrong, [](auto& m) { m.fetches[0] = 1; });
  of("fetches", "one whose feed never comes", codes(std::set{errc::deadline_exceeded}), [](auto& m) {
    m.feeds.clear(), m.values.clear();
    m.max_wait_ms = 20;
  });
  of("targets", "one that is not there", wrong, [](auto& m) { m.targets = {0}; });
  t.about<continue_partial_run>("(call)", "one that was taken", wrong,
                                [](continue_partial_run& m, scene& s) { s.client.ask<partial_run_continued>(m); });
  t.about<continue_partial_run>("values", "none for the feeds, of a run that has failed",
                                codes(std::set{errc::deadline_exceeded}), [](continue_partial_run& m, scene& s) {
                                  const continue_partial_run late{m.session, m.run, 20, {}, {0}, {}, {}};
                                  caught([&] { s.client.ask<partial_run_continued>(late); });
                                  m.values.clear();
                                });
  t.about<continue_partial_run>("(call)", "of a run that was given up", not_there,
                                [](continue_partial_run& m, scene& s) {
                                  s.client.tell(end_partial_run{m.session, m.run});
                                });
  lie_about_session<end_partial_run>(t);
  t.about<end_partial_run>("run", "one that is not there", ignored, [](end_partial_run& m, scene&) { m.run = none; });
}

void lie_about_the_rest(table& t) {
  t.about<open_session>("filters", "nonsense", any, [](open_session& o, scene&) { o.filters = {"/job:;;nonsense"}; });
  t.about<open_session>("filters", "100 000 of them", any,
                        [](open_session& o, scene&) { o.filters.resize(100'000, "/job:worker"); });
  t.about<open_session>("(sender)", "with as many sessions as it may have", too_much, [](open_session& o, scene& s) {
    while (!s.client.say(open_session::method, rpc::encode(o), true)) {
    }
  });
  t.by_no_task<introduce_task>(ignored);
  lie_about_session<list_request>(t);
  t.about<list_request>("startup_ms", "all bits set", served, [](list_request& l, scene&) { l.startup_ms = huge; });
  lie_about_session<close_session>(t);
  lie_about_session<cancel_runs>(t);
}

}  // namespace

const std::vector<lie>& lies() {
  static const table all = [] {
    table t;
    lie_about_registering(t);
    lie_about_nodes_that_are_there(t);
    lie_about_runs_of_tasks(t);
    lie_about_values(t);
    lie_about_graphs(t);
    lie_about_graphs_that_are_there(t);
    lie_about_signature<prepare_step>(t);
    lie_about_signature<plan_step>(t);
    lie_about_running(t);
    lie_about_partial_runs(t);
    lie_about_the_rest(t);
    t.damaged<status_request>(), t.damaged<shutdown_request>(), t.damaged<libraries_request>();
    t.damaged<report_request>();
    t.damaged<register_step>(), t.damaged<run_step>(), t.damaged<cancel_run>(), t.damaged<forget_session>();
    t.damaged<settle_run>(), t.damaged<introduce_task>(), t.damaged<progress_request>(), t.damaged<register_known>(),
        t.damaged<extend_known>();
    t.damaged<reset_containers>(), t.damaged<push_value>(), t.damaged<announce_value>(), t.damaged<pull_value>();
    t.damaged<return_credit>(), t.damaged<open_session>(), t.damaged<extend_graph>(), t.damaged<prepare_step>();
    t.damaged<plan_step>(), t.damaged<run_prepared>(), t.damaged<list_request>(), t.damaged<close_session>();
    t.damaged<cancel_runs>(), t.damaged<reset_request>();
    t.damaged<begin_partial_run>(), t.damaged<continue_partial_run>(), t.damaged<end_partial_run>();
    return t;
  }();
  return all.rows();
}

// ---- the report

std::string title_of(const lie& l) {
  return l.message + (l.field.empty() ? "" : "." + l.field) + ": " + l.what;
}

std::string report_of(const std::vector<told_lie>& rows) {
  std::string text = "method\tfield\tlie\tanswer\tMiB\n";
  for (const told_lie& row : rows) {
    std::string answer = "served, or not heeded";
    if (row.answer)
      answer = fmt::format("{}: {}", to_string(row.answer->code()), row.answer->sentence().substr(0, 200));
    text += fmt::format("{}\t{}\t{}\t{}\t{:.1f}\n", row.what->message, row.what->field, row.what->what, answer,
                        row.resident);
  }
  return text;
}

std::string beside_this_program(const std::string& name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

}  // namespace real
