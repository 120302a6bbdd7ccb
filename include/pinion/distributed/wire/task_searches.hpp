// The tasks that one task looks for, since others say where they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/countdown.hpp>

namespace pinion { inline namespace v0 { namespace distributed {

// Where a task says that it is reached, and in which life.
struct claim {
  std::string address;
  std::uint64_t incarnation = 0;
  std::uint64_t spec = 0;  // a digest of the tasks in its cluster spec; 0: another has told of it

  bool operator==(const claim&) const = default;
};

// A task's word of where another is.
struct hearsay {
  std::string task;
  claim where;
  std::string by;
};

// A search for a task: where it is said to be, by whom, and until when it is looked for there.
struct task_search {
  claim where;
  std::string by;
  time_point until;
  bool is_of_unknown = false;
  claim other = {};           // what another has said
  std::string other_by = {};  // "": nobody has
};

// The searches of one task. Owned by its peers, whose lock guards it.
//
// Searches for tasks that are not known are limited, a quarter of them by the word of one; what comes beyond that waits
// for room.
class task_searches {
 public:
  explicit task_searches(std::size_t most) : most_(most) {}

  std::size_t size() const { return under_way_.size(); }
  const task_search* find(const std::string& task) const;  // null: it is not looked for
  void end(const std::string& task) { under_way_.erase(task); }

  // Notes a word. Of two who tell of one task the later life comes first.
  struct noted {
    bool is_new = false, has_moved = false;  // has the search begun; is another place looked at?
  };
  noted note(const hearsay& what, time_point until, bool is_of_unknown);
  // Is there room for a search for a task that is not known?
  bool has_room_for(const hearsay& of) const;
  void keep_for_later(const hearsay& of);

  // Ends the searches of which `is_over(task, search)` says so, and tells `ended(task)`. Returns what others have said
  // of these meanwhile, and as many of the words that wait as there is room for.
  template <class IsOver, class Ended>
  std::vector<hearsay> end_those(const IsOver& is_over, const Ended& ended) {
    std::vector<hearsay> others;
    for (auto at = under_way_.begin(); at != under_way_.end();) {
      const auto one = at++;
      if (!is_over(one->first, one->second)) continue;
      if (!one->second.other_by.empty()) others.push_back({one->first, one->second.other, one->second.other_by});
      const std::string task = under_way_.extract(one).key();
      ended(task);
    }
    take_waiting(others);
    return others;
  }

 private:
  static constexpr std::size_t most_heard = 1000;  // words that wait for room

  // How many tasks are looked for that are not known, by the word of one, or of any ("")?
  std::size_t of_unknown(const std::string& by = {}) const;
  void take_waiting(std::vector<hearsay>& into);

  const std::size_t most_;
  std::map<std::string, task_search> under_way_;
  std::deque<hearsay> heard_;  // for which there was no room
};

}}}  // namespace pinion::v0::distributed

#if PINION_HEADER_ONLY
#include <pinion/distributed/wire/task_searches.ipp>
#endif
