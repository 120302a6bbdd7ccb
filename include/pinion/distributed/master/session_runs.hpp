// The steps of a session at its master, and their runs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/few_lines.hpp>
#include <pinion/base/outcome.hpp>
#include <pinion/distributed/master/session_partial_run.hpp>
#include <pinion/distributed/master/session_run.hpp>
#include <pinion/distributed/worker/step_counts.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// The steps that a session has shipped, and the runs of them, until it is closed. Owned by the session. Thread-safe; no
// lock is held while anything waits.
class session_runs {
 public:
  // `client` is the connection of the client that opened the session, or 0.
  session_runs(master_services& services, session_id session, std::uint64_t client)
      : s_(services), session_(std::move(session)), client_(client), counts_(services.net.now()) {}

  const session_id& session() const { return session_; }
  bool is_open() const;
  // Throws the reason if the session is closed, or if its server begins nothing more.
  void expect_open() const;
  // Closes the session for that reason, and fails its runs. Returns false if it was closed before.
  bool close(const error& why);
  // Returns the steps of a closed session, which the caller frees.
  std::map<std::uint64_t, std::shared_ptr<session_step>> let_go();

  std::size_t steps() const;
  // Adds a step that was shipped. Throws if the session is closed.
  void add(std::shared_ptr<session_step> step);
  // Throws not_found unless the step exists.
  std::shared_ptr<session_step> find(std::uint64_t number) const;
  // Throws unless the step may be run with such feeds.
  void expect_feeds(std::uint64_t number, std::span<const described_value> feeds) const;
  // Throws unless the step exists, and its feeds may have so many bytes.
  void expect_feeds(std::uint64_t number, std::uint64_t bytes) const;

  // Enters a run of a step, to be begun by the caller; `owner` is kept until it has ended.
  std::shared_ptr<session_run> enter(std::shared_ptr<void> owner, std::uint64_t number,
                                     const std::vector<any_tensor>& feeds, const run_ended& done);
  // Begins a partial run of a step that was prepared for it, and returns its number. `counted` is kept until the run
  // is forgotten, with end_partial_run() or with the session.
  std::uint64_t begin_partial_run(std::shared_ptr<void> owner, std::uint64_t number,
                                  session_partial_run::share counted);
  std::shared_ptr<session_partial_run> partial_run(std::uint64_t number) const;
  void end_partial_run(std::uint64_t number);

  // Returns notices for the session's users about the state it uses. Each is returned once.
  std::vector<std::string> take_notices();
  // Has the longest run say for whom it waits, if it is time to. To be called each second or so.
  void say_long(const few_lines::sink& say);
  void fail(const error& why);
  // Returns the number of runs that have begun.
  std::size_t running() const;
  // Tells of the session's age and of its runs.
  session_report report() const;

 private:
  // Requires, for these three: the lock is held.
  void expect_open_held() const;
  std::shared_ptr<session_step> find_held(std::uint64_t number) const;
  std::shared_ptr<session_run> enter_held(std::shared_ptr<void> owner, std::uint64_t run,
                                          const std::shared_ptr<const session_step>& step, const run_ended& done);

  // Take the end of a run, and its notices.
  void ended(std::uint64_t run, const shared_error& failure);
  void tell(std::vector<std::string> notices);
  std::map<std::uint64_t, std::shared_ptr<session_run>> under_way() const;

  master_services& s_;
  const session_id session_;
  const std::uint64_t client_;

  mutable std::mutex mutex_;
  shared_error closed_;  // the reason; null while it is open
  std::uint64_t last_run_ = 0;
  std::vector<std::string> notices_;
  std::map<std::uint64_t, std::shared_ptr<session_step>> steps_;
  std::map<std::uint64_t, std::shared_ptr<session_run>> running_;
  std::map<std::uint64_t, std::shared_ptr<session_partial_run>>
      partial_runs_;  // each refers to the owner until close()
  step_counts counts_;
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/master/session_runs.ipp>
#endif
