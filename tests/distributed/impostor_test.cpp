// Servers lie, too: what a master answers its client, and a task its master, is refused with a sentence where it cannot
// be, and whoever heard it goes on.
#include <catch2/catch.hpp>

#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <pinion/runtime/partial_run.hpp>

#include <distributed/anatomy.hpp>
#include <distributed/impostor.hpp>
#include <distributed/lies.hpp>
#include <distributed/real_cluster.hpp>

namespace {

using namespace real;
using namespace distributed;

using codes = std::optional<std::set<errc>>;  // nothing: whatever comes; empty: it is believed
const codes unreadable = std::set{errc::data_loss}, believed = std::set<errc>{}, any = std::nullopt;

// Checks what came of a lie, and adds it to the report beside this program: the lie, and the answer.
void check(const std::string& title, const codes& expected, const std::optional<error>& answer) {
  static std::ofstream report(beside_this_program("impostor.tsv"));
  report << title << '\t' << (answer ? failure([&] { throw error(*answer); }) : "believed, or not heeded") << std::endl;
  INFO(title << ": " << (answer ? answer->what() : "no error"));
  if (!expected) return;
  CHECK((answer ? expected->contains(answer->code()) : expected->empty()));
}
template <class F>
std::optional<error> thrown_by(F&& call) {
  try {
    call();
  } catch (const error& e) {
    return e;
  }
  return std::nullopt;
}

// ---- to a client

// A client of a master that is none: it asks for all that a client may ask for.
struct client_of_impostor {
  impostor master{name_of("worker", 0)};
  own_graph made;
  expr<float> y = constant<float>({1, 2}, "c") + 1.f;
  expr<float> large = constant(tensor<float>({1 << 13}));  // so that its master is asked for the graph
  pinion::plan true_plan = session({.graph = &made.g}).plan(y);

  client_of_impostor() {
    master.answers(opened_session{77});
    master.answers(extended_known{false});
    master.answers(prepared_reply{1, {}});
    master.answers(run_reply{{tensor<float>::of({2, 3}).untyped()}, {}, {}});
    master.answers(plan_reply{true_plan});
    master.answers(list_reply{true_plan.devices()});
    master.answers(partial_run_begun{5});
    master.answers(partial_run_continued{{tensor<float>::of({2, 3}).untyped()}, {}});
  }
  std::optional<error> ask_all() {
    session sess{toward(master.target(), &made.g)};
    return thrown_by([&] {
      sess.run(y);
      to_string(sess.plan(y));
      sess.list_devices();
      partial_run(sess, feeds(), fetches(y)).run(y);
    });
  }
};

template <class M>
void lie_to_client(const std::string& title, const M& lie, const codes& expected) {
  client_of_impostor c;
  c.master.answers(lie);
  check(title, expected, c.ask_all());
}
template <class M>
void damage_for_client(const std::string& name, const M& truth, bool has_payload) {
  for (const auto& d : anatomy::damage_to<M>(has_payload)) {
    client_of_impostor c;
    c.master.answers(M::method, [&](std::string_view) { return anatomy::damaged(truth, d); });
    check(name + "." + d.field + ": " + d.what, d.unreadable ? unreadable : any, c.ask_all());
  }
}

TEST_CASE("a master that tells the truth is believed") {
  client_of_impostor c;
  CHECK_FALSE(c.ask_all());
}

TEST_CASE("a client refuses results that are not those of its step") {
  const auto reply = [](std::vector<any_tensor> fetches) { return run_reply{std::move(fetches), {}, {}}; };
  const any_tensor right = tensor<float>::of({2, 3}).untyped();
  lie_to_client("no result", reply({}), unreadable);
  lie_to_client("two results", reply({right, right}), unreadable);
  lie_to_client("nothing as a result", reply({any_tensor()}), unreadable);
  lie_to_client("another dtype", reply({any_tensor(dtype::int32, {2})}), unreadable);
  lie_to_client("another shape", reply({any_tensor(dtype::float32, {3})}), unreadable);
  lie_to_client("strings", reply({tensor<std::string>::of({{"a", "b"}}).untyped()}), unreadable);
  lie_to_client("a call without a result", partial_run_continued{{}, {}}, unreadable);
  lie_to_client("nothing as the result of a call", partial_run_continued{{any_tensor()}, {}}, unreadable);
  lie_to_client("another shape of a call", partial_run_continued{{any_tensor(dtype::float32, {3})}, {}}, unreadable);
  lie_to_client("a partial run of no number", partial_run_begun{0}, believed);
  lie_to_client("a number of step that has no meaning", prepared_reply{std::numeric_limits<std::uint64_t>::max(), {}},
                believed);
  lie_to_client("a session of no number", opened_session{0}, believed);
  lie_to_client("a graph that is not there", extended_known{true}, believed);
}

TEST_CASE("a client hears that what its master sent cannot be read, whichever field of which answer it is") {
  const client_of_impostor truth;
  damage_for_client("opened_session", opened_session{77}, false);
  damage_for_client("extended_known", extended_known{false}, false);
  damage_for_client("prepared_reply", prepared_reply{1, {"a line"}}, false);
  damage_for_client("run_reply", run_reply{{tensor<float>::of({2, 3}).untyped()}, {"a notice"}, {}}, true);
  damage_for_client("plan_reply", plan_reply{truth.true_plan}, false);
  damage_for_client("partial_run_begun", partial_run_begun{5}, false);
  damage_for_client("partial_run_continued", partial_run_continued{{tensor<float>::of({2, 3}).untyped()}, {"a notice"}},
                    true);
  damage_for_client("list_reply", list_reply{truth.true_plan.devices()}, false);
}

// ---- to a master

// A worker whose neighbour is an impostor, which announces its part of a step, and is asked for it.
struct neighbour_of_impostor {
  impostor second{name_of("worker", 1)};
  server first{{{"worker", {"127.0.0.1:0", second.address()}}}, {.job = "worker"}};
  liar voice{first.target(), name_of("worker", 1), second.incarnation()};
  std::vector<transfer_key> keys;  // of the values that it is to send

  neighbour_of_impostor() {
    second.answers(status_reply{devices()});
    second.answers(libraries_reply{{"NVRTC"}});
    second.answers(registered_known{false});
    second.answers(register_step::method, [this](std::string_view control) {
      find_keys(control);
      return rpc::message();
    });
    second.answers(pulled_value{tensor<float>::of({1, 2}).untyped()});
    runs_end_with([] { return rpc::encode(part_ended{}); });
  }
  static std::vector<device_info> devices() {
    device_info cpu, gpu;
    cpu.name = cpu_of("worker", 1);
    gpu.name = name_of("worker", 1) + "/device:GPU:0";
    gpu.is_cuda = true;
    for (device_info* d : {&cpu, &gpu}) d->spec = parse_device(d->name);
    return {cpu, gpu};
  }
  void runs_end_with(std::function<rpc::message()> how) {
    second.answers(run_step::method, [this, how](std::string_view control) {
      const auto r = rpc::decode<run_step>(control);
      for (const auto& key : keys) voice.note(announce_value{r.run, key});
      return how();
    });
  }
  std::optional<error> ask_all() {
    own_graph made;
    const auto x = placeholder<float>({2}, "x");
    const auto there = [&]() -> expr<float> {
      const device on{"/job:worker/task:1/cpu:0"};
      const auto large = constant(tensor<float>({1 << 13}));  // so that the second task is asked for the nodes
      return gather(large, cast<int>(x)) + x + 1.f;
    }();
    const auto here = place<"/job:worker/task:0/cpu:0">(pinion::identity(there, "here"));
    session sess{toward(first.target(), &made.g)};
    return thrown_by([&] {
      sess.plan(here);
      sess.run({{x, tensor<float>::of({1, 2})}}, here);
    });
  }

 private:
  void find_keys(std::string_view control) {
    rpc::reader in(control, std::uint64_t{1} << 40);
    session_id session;
    std::uint64_t step = 0;
    subgraph part;
    in(session, step, part);
    keys.clear();
    for (const auto& p : part.parts)
      for (const auto& it : p.items)
        if (it.kind == runtime::part_item::send) keys.push_back(it.key);
  }
};

// The neighbour of an honest task runs its steps as before.
void check_first_goes_on(const neighbour_of_impostor& n) {
  CHECK(honest(n.first.target()).run() == 3);
}

TEST_CASE("a task that tells the truth is believed") {
  neighbour_of_impostor n;
  CHECK_FALSE(n.ask_all());
  CHECK(n.keys.size() == 1);
}

TEST_CASE("a master refuses devices that are not its task's, and figures that are none") {
  const auto lie = [](const std::string& title, std::function<void(std::vector<device_info>&)> change) {
    neighbour_of_impostor n;
    auto devices = n.devices();
    change(devices);
    n.second.answers(status_reply{devices});
    check(title, unreadable, n.ask_all());
    check_first_goes_on(n);
  };
  lie("a device of the master", [](auto& all) { all[0].name = cpu_of("worker", 0); });
  lie("a device of no task", [](auto& all) { all[0].name = "nonsense"; });
  lie("another spec", [](auto& all) { all[0].spec = parse_device("/job:worker/replica:0/task:1/device:CPU:7"); });
  lie("memory of -1", [](auto& all) { all[0].memory_limit = -1; });
  lie("a speed that is no number", [](auto& all) { all[0].speed.flops = std::numeric_limits<double>::quiet_NaN(); });
  lie("a speed of -1", [](auto& all) { all[0].speed.launch = -1; });
}

TEST_CASE("V6, V7: a value that a task was asked for is of the dtype and shape that is awaited") {
  const auto lie = [](const std::string& title, const any_tensor& value) {
    neighbour_of_impostor n;
    n.second.answers(pulled_value{value});
    check(title, unreadable, n.ask_all());
    check_first_goes_on(n);
  };
  lie("nothing", {});
  lie("another dtype", any_tensor(dtype::int32, {2}));
  lie("another shape", any_tensor(dtype::float32, {3}));
  lie("strings", tensor<std::string>::of({{"a", "b"}}).untyped());
}

TEST_CASE("a master hears that what a task answered cannot be read, whichever field of which answer it is") {
  const auto all = [&]<class M>(const std::string& name, const M& truth, bool has_payload) {
    for (const auto& d : anatomy::damage_to<M>(has_payload)) {
      neighbour_of_impostor n;
      const auto spoiled = [&] { return anatomy::damaged(truth, d); };
      if (M::method == run_step::method)
        n.runs_end_with(spoiled);
      else
        n.second.answers(M::method, [&](std::string_view) { return spoiled(); });
      check(name + "." + d.field + ": " + d.what, d.unreadable ? unreadable : any, n.ask_all());
      check_first_goes_on(n);
    }
  };
  all("status_reply", status_reply{neighbour_of_impostor::devices()}, false);
  all("libraries_reply", libraries_reply{{"NVRTC"}}, false);
  all("registered_known", registered_known{false}, false);
  all("part_ended", part_ended{{"a notice"}, {}}, false);
  all("pulled_value", pulled_value{tensor<float>::of({1, 2}).untyped()}, true);
}

}  // namespace
