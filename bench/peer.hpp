// Another library as a contender: a program beside ours that does the same work in its own process.
//
// The environment says how each is started, PEER_JAX="python3 bench/peers/jax_peer.py"; bench/run.sh sets it. Such a
// program prints "ready NAME VERSION" once it is prepared. Then it reads a number of calls per line, makes them, and
// prints the seconds on the wall and the last result. It exits where its library is not there.
#pragma once

#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "contest.hpp"
#include "other_process.hpp"

namespace bench {

class peer {
 public:
  // Null where the library is not there; then the reason is printed for the report.
  static std::shared_ptr<peer> start(const std::string& library, const std::vector<std::string>& work) {
    const char* const command = std::getenv(("PEER_" + library).c_str());
    if (!command || !*command) return print_missing(library, "PEER_" + library + " is not set"), nullptr;
    try {
      return std::shared_ptr<peer>(new peer("exec " + std::string(command) + join(work)));
    } catch (const std::runtime_error& e) {
      return print_missing(library, std::string(command) + ": " + e.what()), nullptr;
    }
  }

  const std::string& name() const { return name_; }  // and version
  double turn(long calls) {
    process_.say(std::to_string(calls));
    std::istringstream answer(process_.line());
    double seconds = 0;
    if (!(answer >> seconds >> result_)) throw std::runtime_error(name_ + " answers what is no number");
    return seconds;
  }
  // The result of the last call.
  double result() const { return result_; }

 private:
  explicit peer(const std::string& command) : process_({"/bin/sh", "-c", command}) {
    const std::string first = process_.line();
    if (first.rfind("ready ", 0) != 0) throw std::runtime_error("it says '" + first + "'");
    name_ = first.substr(6);
  }
  static std::string join(const std::vector<std::string>& words) {
    std::string all;
    for (const auto& w : words) all += " " + w;
    return all;
  }

  other_process process_;
  std::string name_;
  double result_ = 0;
};

// Adds a peer to a contest; returns its number, or -1 where it is not there.
inline int add(contest& c, const std::shared_ptr<peer>& p, const std::string& suffix = "") {
  if (!p) return -1;
  return c.add(p->name() + suffix, [p](long calls) { return p->turn(calls); });
}

}  // namespace bench
