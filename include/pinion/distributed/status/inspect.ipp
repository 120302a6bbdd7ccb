// Bodies of <pinion/distributed/status/inspect.hpp>.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include <pinion/base/countdown.hpp>
#include <pinion/base/harmless.hpp>
#include <pinion/base/outcome.hpp>
#include <pinion/distributed/status/inspect.hpp>
#include <pinion/distributed/wire/messages.hpp>
#include <pinion/rpc/channel.hpp>
#include <pinion/rpc/security/security.hpp>
#include <pinion/rpc/tcp_network.hpp>
#include <pinion/runtime/options.hpp>
#include <pinion/spec/names.hpp>

namespace pinion { inline namespace v0 {

namespace distributed { namespace detail {

// What those who look from outside believe. A task may say anything of itself.
inline constexpr std::size_t asked_at_a_time = 64;
inline constexpr std::uint64_t longest_report = std::uint64_t{16} << 20;  // bytes on the wire; see reporter
inline constexpr std::uint64_t memory_of_report = std::uint64_t{64} << 20, memory_of_reports = std::uint64_t{512} << 20;

// Visits the members of a report as an archive does: each list has at most task_report::most_rows rows, and each text
// is made harmless, since whoever looks will print it.
class report_check {
 public:
  explicit report_check(const std::string& who) : who_(who) {}

  template <class... T>
  void operator()(T&... members) {
    (visit(members), ...);
  }

 private:
  void visit(std::string& text) { text = harmless(text); }
  template <class Row>
  void visit(std::vector<Row>& rows) {
    if (rows.size() > task_report::most_rows)
      throw error(errc::data_loss, who_ + " tells a list of " + std::to_string(rows.size()) +
                                       " rows of its state; a list has at most " +
                                       std::to_string(task_report::most_rows));
    for (Row& row : rows) visit(row);
  }
  template <class T>
  void visit(T& member) {
    if constexpr (requires { serialize(*this, member); }) serialize(*this, member);
  }

  const std::string who_;
};

// The answers of tasks, in the order in which they come. Shared by the asker and the callbacks, which may come later.
class inquiry {
 public:
  using answer = outcome<rpc::reply_to_read<report_reply>>;

  void add(std::size_t task, answer how) {
    std::lock_guard hold(mutex_);
    come_.emplace_back(task, std::move(how));
    more_.notify_one();
  }
  // Waits for the next answer; none, if none comes by then.
  std::optional<std::pair<std::size_t, answer>> next(time_point until) {
    std::unique_lock hold(mutex_);
    if (!more_.wait_until(hold, until, [this] { return !come_.empty(); })) return std::nullopt;
    auto first = std::move(come_.front());
    come_.pop_front();
    return first;
  }

 private:
  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<std::pair<std::size_t, answer>> come_;
};

// A task to be asked. The name may be empty, if any task will do.
struct asked {
  std::string name, address;
};

// The route to a task while it is asked, on which it may send no more than a report.
class inquiry_route {
 public:
  inquiry_route(std::shared_ptr<rpc::network> net, const asked& task, const rpc::credentials& shows)
      : net_(std::move(net)),
        route_(std::make_shared<rpc::channel>(
            *net_, task.address, task.name,
            rpc::channel_options{.me = {"", rpc::random_number(), shows},
                                 .allowed = {.control = longest_report, .payload = 0}})) {}
  inquiry_route(const inquiry_route&) = delete;
  ~inquiry_route() {
    route_->close(error(errc::cancelled, "the client is done with it"));
    rpc::settle(*net_);
  }

  // Asks the task when there is a route to it.
  void ask(time_point until, const std::shared_ptr<inquiry>& by, std::size_t task) const {
    route_->connect(until, [route = route_, by, task](const outcome<>& connected) {
      if (!connected) return by->add(task, connected.failure());
      rpc::call_at_leisure<report_reply>(*route, rpc::lane::control, report_request{},
                                         [by, task](auto answer) { by->add(task, std::move(answer)); });
    });
  }
  std::string title() const { return route_->title(); }

 private:
  const std::shared_ptr<rpc::network> net_;
  const std::shared_ptr<rpc::channel> route_;
};

// Asks tasks for so long, some at a time.
class question {
 public:
  question(const std::vector<asked>& tasks, const rpc::credentials& shows, std::chrono::milliseconds max_wait)
      : tasks_(tasks), shows_(shows), max_wait_(bounded(max_wait)) {}

  std::vector<outcome<task_report>> answers() {
    std::vector<outcome<task_report>> all(tasks_.size(), late("was not asked within "));
    for (std::size_t next = 0; next < tasks_.size() || !routes_.empty();) {
      for (; next < tasks_.size() && routes_.size() < asked_at_a_time && net_->now() < until_; ++next) begin(next);
      if (routes_.empty()) break;
      auto come = answers_->next(until_ + std::chrono::milliseconds(200));  // the channels' own errors say more
      if (!come) break;
      const std::size_t task = come->first;
      all[task] = outcome_of([&] { return read(std::move(come->second), *routes_.at(task)); });
      routes_.erase(task);
    }
    for (const auto& [task, route] : routes_) all[task] = late(route->title() + " has not told its state within ");
    routes_.clear();
    return all;
  }

 private:
  void begin(std::size_t task) {
    const auto& route =
        *routes_.emplace(task, std::make_unique<inquiry_route>(net_, tasks_[task], shows_)).first->second;
    route.ask(until_, answers_, task);
  }
  error late(const std::string& what) const { return error(errc::unavailable, what + rpc::seconds(max_wait_)); }
  task_report read(inquiry::answer answer, const inquiry_route& route) {
    if (const auto& why = answer.failure(); why && why->code() == errc::deadline_exceeded)
      throw error(errc::unavailable, why->sentence());
    auto reply = std::move(answer).value();
    task_report told = reply.unread ? open(*reply.unread) : std::move(reply.value.report);
    report_check check(route.title());
    serialize(check, told);
    return told;
  }
  task_report open(rpc::sealed<report_reply>& unread) {
    task_report told = unread.open(std::min(memory_of_report, memory_left_)).report;
    memory_left_ -= unread.memory();
    return told;
  }

  const std::vector<asked>& tasks_;
  const rpc::credentials& shows_;
  const std::chrono::milliseconds max_wait_;
  const std::shared_ptr<rpc::network> net_ = rpc::tcp_network_of_this_process();
  const time_point until_ = net_->now() + max_wait_;
  const std::shared_ptr<inquiry> answers_ = std::make_shared<inquiry>();
  std::map<std::size_t, std::unique_ptr<inquiry_route>> routes_;  // to those that have not answered
  std::uint64_t memory_left_ = memory_of_reports;
};

}}  // namespace distributed::detail

PINION_DECL task_report inspect(const std::string& target, const security_options& security,
                                std::chrono::milliseconds max_wait) {
  const auto shows = rpc::credentials_of(security);
  const std::vector<distributed::detail::asked> it{{"", address_of_target(target)}};
  return std::move(distributed::detail::question(it, shows, max_wait).answers().front()).value();
}

PINION_DECL cluster_report inspect_cluster(const std::string& target, const security_options& security,
                                           std::chrono::milliseconds max_wait) {
  const task_report first = inspect(target, security, max_wait);
  std::vector<distributed::detail::asked> others;
  for (const bool running : {true, false})  // those first that will answer
    for (const peer_report& p : first.peers)
      if ((p.state == "running") == running) others.push_back({p.name, p.address});
  const auto shows = rpc::credentials_of(security);
  auto answers = distributed::detail::question(others, shows, max_wait).answers();

  cluster_report all;
  all.tasks.push_back({first.name, first.address, first, ""});
  for (std::size_t i = 0; i < others.size(); ++i) {
    task_status& t = all.tasks.emplace_back(task_status{others[i].name, others[i].address, {}, ""});
    if (const auto& why = answers[i].failure())
      t.why = harmless(why->sentence());
    else
      t.report = std::move(answers[i]).value();
  }
  std::sort(all.tasks.begin(), all.tasks.end(),
            [](const auto& x, const auto& y) { return natural_less(x.name, y.name); });
  return all;
}

}}  // namespace pinion::v0
