// The lies that are told to a server: of every message that it takes, about every field.
#pragma once

#include <functional>
#include <future>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <distributed/liar.hpp>

namespace real {

// A session of the liar's own, with a step that is fed x, two numbers, and b, two booleans, and fetches x + 1 and b.
struct own_session : own_graph {
  expr<float> x = placeholder<float>({2}, "x");
  expr<bool> b = placeholder<bool>({2}, "b");
  expr<float> y = x + constant<float>({1, 2}, "c");
  expr<bool> passed = pinion::identity(b, "passed");
  std::uint64_t session, step;
  distributed::shipped told;

  explicit own_session(liar& client);
  runtime::step_signature signature() const;
  // A step of that signature which is partial run.
  std::uint64_t partial_step(liar& client) const;
  static std::vector<any_tensor> feeds();
};

// A run of the liar's own that has begun and waits for the value x, two numbers, which comes from the second worker.
struct waiting_run {
  distributed::run_id run;
  std::future<std::optional<error>> ended;
};

// The scene of a lie: an honest client of the first of two workers, and a client and a task that lie to that worker.
// The task has the name and the life of the second worker, since a holder of the key may claim both.
struct scene {
  scene(const std::string& victim, honest& other, std::uint64_t life_of_second)
      : good(other), client(victim), peer(victim, other_worker, life_of_second) {}

  honest& good;
  liar client, peer;
  own_session own{client};
  std::optional<waiting_run> waits;
  const std::uint64_t number = rpc::random_number();

  // The session of the honest client, as workers call it, if its number were known.
  distributed::session_id of_good() const { return {name_of("worker", 0), 1, good.session}; }
  // A session of the task that lies. Its number is new, since a run begins once.
  distributed::session_id of_peer() const { return peer.session(number); }
  void begin_waiting();
  // The error with which the run that waits ended; nothing where it has to be cancelled.
  std::optional<error> end_of_waiting(bool will_fail);
};

// One lie: a message that is true but for one field, and what it is answered; and the message as an honest peer says
// it, which is served: but for one that is about a value of a run that has ended, which is aborted. Requests to end the
// server, or the sessions of all, are not said.
struct lie {
  std::string message, field, what;
  // The codes of which one comes; empty: it is served, or not heeded; nothing: any of these.
  std::optional<std::set<errc>> answers;
  std::function<std::optional<error>(scene&)> tell, tell_truth;
};
const std::vector<lie>& lies();

// A row of the report: a lie that was told, its answer, and the memory of the process afterwards, in MiB.
struct told_lie {
  const lie* what;
  std::optional<error> answer;
  double resident;
  bool is_as_expected() const {
    if (!what->answers) return true;
    return answer ? what->answers->count(answer->code()) > 0 : what->answers->empty();
  }
};
std::string title_of(const lie& l);
// "method  field  lie  answer  MiB", tabs between them.
std::string report_of(const std::vector<told_lie>& rows);
// The path of a file beside this program, for reports.
std::string beside_this_program(const std::string& name);

}  // namespace real
