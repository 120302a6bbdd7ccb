// Bodies of <pinion/distributed/status/inspect.hpp>.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include <pinion/base/outcome.hpp>
#include <pinion/distributed/client/remote_session.hpp>
#include <pinion/distributed/status/inspect.hpp>
#include <pinion/distributed/wire/messages.hpp>
#include <pinion/distributed/wire/waiting.hpp>
#include <pinion/rpc/security.hpp>
#include <pinion/rpc/tcp_network.hpp>
#include <pinion/runtime/options.hpp>
#include <pinion/spec/names.hpp>

namespace pinion { inline namespace v0 {

namespace distributed { namespace detail {

// The answers of tasks that are all asked at once. Shared by the asker and the callbacks, which may come later.
class inquiry {
 public:
  using answer = outcome<rpc::reply_to_read<report_reply>>;
  explicit inquiry(std::size_t tasks) : answers_(tasks), all_(static_cast<int>(tasks)) {}

  void add(std::size_t task, answer how) {
    {
      std::lock_guard hold(mutex_);
      answers_[task] = std::move(how);
    }
    all_.count_down();
  }
  countdown& all() { return all_; }
  // Takes the answer of a task; none, if it has not come so far.
  std::optional<answer> take(std::size_t task) {
    std::lock_guard hold(mutex_);
    return std::exchange(answers_[task], std::nullopt);
  }

 private:
  std::mutex mutex_;
  std::vector<std::optional<answer>> answers_;
  countdown all_;
};

// Asks a task when there is a way to it.
inline void ask(const std::shared_ptr<rpc::channel>& way, time_point until, const std::shared_ptr<inquiry>& by,
                std::size_t task) {
  way->connect(until, [way, by, task](const outcome<>& connected) {
    if (!connected) return by->add(task, connected.failure());
    rpc::call_at_leisure<report_reply>(*way, rpc::lane::control, report_request{},
                                       [by, task](auto answer) { by->add(task, std::move(answer)); });
  });
}

inline task_report read(std::optional<inquiry::answer> answer, const rpc::channel& way,
                        std::chrono::milliseconds patience) {
  if (!answer) throw error(errc::unavailable, way.title() + " has not told its state within " + rpc::seconds(patience));
  if (const auto& why = answer->failure(); why && why->code() == errc::deadline_exceeded)
    throw error(errc::unavailable, why->sentence());
  return std::move(*answer).value().take().report;
}

// A task to be asked. The name may be empty, if any task will do.
struct asked {
  std::string name, address;
};

// Asks all of them at once, for so long.
inline std::vector<outcome<task_report>> ask_all(const std::vector<asked>& tasks, const rpc::credentials& shows,
                                                 std::chrono::milliseconds patience) {
  const auto net = rpc::tcp_network_of_this_process();
  const time_point until = net->now() + patience;
  const auto answers = std::make_shared<inquiry>(tasks.size());
  std::vector<std::unique_ptr<client_way>> ways;
  for (const asked& task : tasks) {
    ways.push_back(std::make_unique<client_way>(net, task.address, task.name, shows));
    ask(ways.back()->way, until, answers, ways.size() - 1);
  }
  net->wait(answers->all(), until + std::chrono::milliseconds(200));  // the channels' own errors say more
  std::vector<outcome<task_report>> all;
  for (std::size_t i = 0; i < tasks.size(); ++i)
    all.push_back(outcome_of([&] { return read(answers->take(i), *ways[i]->way, patience); }));
  return all;
}

}}  // namespace distributed::detail

PINION_DECL task_report inspect(const std::string& target, const security_options& security,
                                std::chrono::milliseconds patience) {
  const auto shows = rpc::credentials_of(security);
  return std::move(distributed::detail::ask_all({{"", address_of_target(target)}}, shows, patience).front()).value();
}

PINION_DECL cluster_report inspect_cluster(const std::string& target, const security_options& security,
                                           std::chrono::milliseconds patience) {
  const task_report first = inspect(target, security, patience);
  std::vector<distributed::detail::asked> others;
  for (const peer_report& p : first.peers) others.push_back({p.name, p.address});
  auto answers = distributed::detail::ask_all(others, rpc::credentials_of(security), patience);

  cluster_report all;
  all.tasks.push_back({first.name, first.address, first, ""});
  for (std::size_t i = 0; i < others.size(); ++i) {
    task_status& t = all.tasks.emplace_back(task_status{others[i].name, others[i].address, {}, ""});
    if (const auto& why = answers[i].failure())
      t.why = why->sentence();
    else
      t.report = std::move(answers[i]).value();
  }
  std::sort(all.tasks.begin(), all.tasks.end(),
            [](const auto& x, const auto& y) { return natural_less(x.name, y.name); });
  return all;
}

}}  // namespace pinion::v0
