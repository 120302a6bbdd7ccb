// The disks of simulated hosts: folders of the machine that lose, when their host crashes, what was not brought to the
// disk. The bytes of a file are safe after its fsync; the names of a folder after the folder's. Of what was not, a part
// is left that the seed draws: names in the order in which they were made, bytes from the front. A disk may be full for
// a while. The calls of the system come here from the threads of a simulation. Include it in one unit.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "system_calls.hpp"

namespace simulation {

inline int (*real_open)(const char*, int, ...);
inline int (*real_close)(int);
inline int (*real_fsync)(int);
inline int (*real_rename)(const char*, const char*);
inline int (*real_unlink)(const char*);
inline int (*real_remove)(const char*);
inline ssize_t (*real_pwrite)(int, const void*, size_t, off_t);

// The disks of all hosts: the folders below one root, of which each folder's path tells its host. Used by the thread
// that runs.
class disks {
 public:
  explicit disks(std::string root) : root_(std::move(root)) {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
    running_ = this;
  }
  ~disks() { remove(); }
  disks(const disks&) = delete;

  // Ends the simulation of disks, and removes their folders.
  void remove() {
    running_ = nullptr;
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

  // The disks, where a path lies on one of them.
  static disks* of(const char* path) {
    return running_ && here() && std::string_view(path).starts_with(running_->root_) ? running_ : nullptr;
  }
  static disks* of(int descriptor) {
    return running_ && here() && running_->open_.count(descriptor) ? running_ : nullptr;
  }

  const std::string& root() const { return root_; }
  bool full = false;
  std::function<void()> on_read;  // called when a file is opened to be read

  // ---- what files are asked for

  void opened(int descriptor, const char* path) {
    open_[descriptor] = path;
    while (open_[descriptor].ends_with('/')) open_[descriptor].pop_back();
  }
  void written(int descriptor) { safe_.erase(open_.at(descriptor)); }
  void closed(int descriptor) { open_.erase(descriptor); }
  void synced(int descriptor) {
    const std::string& path = open_.at(descriptor);
    if (std::filesystem::is_directory(path))
      journals_.erase(path);
    else
      safe_[path] = contents(path);
  }
  void renamed(const std::string& from, const std::string& to) {
    change(to);
    const auto bytes = safe_.extract(from);
    if (bytes)
      safe_[to] = bytes.mapped();
    else
      safe_.erase(to);
  }
  // What a path was before it changes. Called before the change.
  void change(const std::string& path) {
    const bool is_there = std::filesystem::exists(path);
    journals_[std::filesystem::path(path).parent_path().string()].push_back(
        {path, is_there ? std::optional(contents(path)) : std::nullopt, is_there && safe_.count(path) > 0});
  }

  // A host loses its power: its folder is what its disk has.
  void crash(const std::string& folder, dice& chance) {
    for (auto& [parent, changes] : journals_) {
      if (!parent.starts_with(folder)) continue;
      const std::size_t left = chance.below(changes.size() + 1);
      while (changes.size() > left) {
        const auto& last = changes.back();
        if (last.before)
          put(last.path, *last.before);
        else
          unlink_really(last.path.c_str());
        if (last.before && last.was_safe)
          safe_[last.path] = *last.before;
        else
          safe_.erase(last.path);
        changes.pop_back();
        ++lost_;
      }
      changes.clear();
    }
    if (!std::filesystem::exists(folder)) return;
    for (const auto& each : std::filesystem::recursive_directory_iterator(folder)) {
      if (!each.is_regular_file() || safe_.count(each.path().string())) continue;
      std::string torn = contents(each.path().string());
      if (torn.empty()) continue;
      torn.resize(chance.below(torn.size()));
      put(each.path().string(), torn);
      safe_[each.path().string()] = torn;
      ++torn_;
    }
  }
  int lost() const { return lost_; }
  int torn() const { return torn_; }

 private:
  struct change_of_name {
    std::string path;
    std::optional<std::string> before;  // the bytes of the file that had the name
    bool was_safe = false;
  };
  static std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void unlink_really(const char* path) { original(real_unlink, "unlink")(path); }
  static void put(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

  static inline disks* running_ = nullptr;
  const std::string root_;
  std::map<int, std::string> open_;
  std::map<std::string, std::string> safe_;                      // the bytes that a file has on the disk
  std::map<std::string, std::vector<change_of_name>> journals_;  // of each folder, in order
  int lost_ = 0, torn_ = 0;
};

// True for a thread of a process that is dead, which changes nothing any more.
inline bool of_the_dead() {
  return here() && scheduler::me()->of && scheduler::me()->of->dead;
}

}  // namespace simulation

extern "C" {

int open(const char* path, int flags, ...) {
  va_list given;
  va_start(given, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(given, mode_t) : 0;
  va_end(given);
  simulation::disks* const disk = simulation::disks::of(path);
  if (disk && (flags & O_CREAT) && simulation::of_the_dead()) return errno = EIO, -1;
  const bool makes = disk && (flags & O_CREAT) && !std::filesystem::exists(path);
  if (makes && disk->full) return errno = ENOSPC, -1;
  if (makes) disk->change(path);
  if (disk && disk->on_read && (flags & (O_ACCMODE | O_DIRECTORY)) == O_RDONLY) disk->on_read();
  const int made = simulation::original(simulation::real_open, "open")(path, flags, mode);
  if (disk && made >= 0) disk->opened(made, path);
  return made;
}

int close(int descriptor) {
  if (simulation::disks* const disk = simulation::disks::of(descriptor)) disk->closed(descriptor);
  return simulation::original(simulation::real_close, "close")(descriptor);
}

ssize_t pwrite(int descriptor, const void* from, size_t bytes, off_t at) {
  simulation::disks* const disk = simulation::disks::of(descriptor);
  if (disk) simulation::here()->sleep(std::chrono::milliseconds(1));  // a host may die meanwhile
  if (disk && simulation::of_the_dead()) return errno = EIO, -1;
  if (disk && disk->full) return errno = ENOSPC, -1;
  if (disk) disk->written(descriptor);
  return simulation::original(simulation::real_pwrite, "pwrite")(descriptor, from, bytes, at);
}

int fsync(int descriptor) {
  simulation::disks* const disk = simulation::disks::of(descriptor);
  if (!disk) return simulation::original(simulation::real_fsync, "fsync")(descriptor);
  simulation::here()->sleep(std::chrono::milliseconds(20));
  if (simulation::of_the_dead()) return errno = EIO, -1;
  disk->synced(descriptor);
  return 0;
}

int rename(const char* from, const char* to) noexcept {
  simulation::disks* const disk = simulation::disks::of(to);
  if (disk && simulation::of_the_dead()) return errno = EIO, -1;
  if (disk) disk->renamed(from, to);
  return simulation::original(simulation::real_rename, "rename")(from, to);
}

int unlink(const char* path) noexcept {
  simulation::disks* const disk = simulation::disks::of(path);
  if (disk && simulation::of_the_dead()) return 0;
  if (disk) disk->change(path);
  return simulation::original(simulation::real_unlink, "unlink")(path);
}

int remove(const char* path) noexcept {
  simulation::disks* const disk = simulation::disks::of(path);
  if (disk && simulation::of_the_dead()) return 0;
  if (disk) disk->change(path);
  return simulation::original(simulation::real_remove, "remove")(path);
}

}  // extern "C"
