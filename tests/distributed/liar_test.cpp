// An authenticated client says false things in every message: it is answered or thrown out, and leaves nothing behind.
//
// The report stands beside this program: liar.tsv, a row for each lie, with its answer and the memory afterwards.
#include <catch2/catch.hpp>

#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <distributed/anatomy.hpp>
#include <distributed/census.hpp>
#include <distributed/lies.hpp>
#include <distributed/real_cluster.hpp>
#include <support/resident.hpp>

namespace {

using namespace real;
using namespace distributed;

// The answers of servers, whose own lies are told in impostor_test.
const std::set<std::string> answers{"status_reply",   "shutdown_reply",   "libraries_reply",   "report_reply",
                                    "part_ended",     "progress_reply",   "pulled_value",      "opened_session",
                                    "prepared_reply", "plan_reply",       "run_reply",         "list_reply",
                                    "extended_known", "registered_known", "partial_run_begun", "partial_run_continued"};

TEST_CASE("every field of every message that a server takes is lied about") {
  std::map<std::string, std::set<std::string>> told;
  for (const lie& l : lies()) told[l.message].insert(l.field.substr(0, l.field.find('.')));
  const auto expect = [&](const std::string& message, std::string_view fields) {
    if (answers.contains(message)) return;
    for (const std::string& field : anatomy::names_of(fields)) {
      CAPTURE(message, field);
      CHECK(told[message].contains(field));
    }
  };
#define PINION_EXPECT(M) expect(#M, M::fields);
  PINION_EACH_MESSAGE(PINION_EXPECT)
#undef PINION_EXPECT
  for (const std::string& message : answers) CHECK_FALSE(told.contains(message));
}

TEST_CASE("what is lied about is served where it is true, but for values of runs that have ended") {
  const std::set<std::string> in_vain{"announce_value", "pull_value"};
  two_workers cluster;
  const std::uint64_t life = cluster.life_of_second();
  honest good(cluster.victim());
  std::set<std::string> told;
  for (const lie& l : lies()) {
    if (!told.insert(l.message).second) continue;
    scene s(cluster.victim(), good, life);
    const auto answer = l.tell_truth(s);
    INFO(l.message << ": " << (answer ? answer->what() : "served"));
    CHECK(answer.has_value() == in_vain.contains(l.message));
    if (answer) CHECK(answer->code() == errc::aborted);
  }
  CHECK(good.run() == 3);
}

TEST_CASE("S4, S5, L1: each lie gets its answer, a good client's steps go on, and nothing is left when the liar goes") {
  server_config config;
  config.limits.sessions = 4;
  config.limits.nodes = 1000;
  two_workers cluster(config);
  const std::uint64_t life = cluster.life_of_second();
  server& victim = cluster.server("worker", 0);
  honest good(cluster.victim());
  const auto tell_all = [&] {
    std::vector<told_lie> rows;
    for (const lie& l : lies()) {
      told_lie row{&l, std::nullopt, 0};
      {
        scene s(cluster.victim(), good, life);
        row.answer = l.tell(s);
      }
      row.resident = resident_mib();
      INFO(title_of(l) << ": " << (row.answer ? row.answer->what() : "no error"));
      CHECK(row.is_as_expected());
      CHECK(good.run() == 3);
      rows.push_back(row);
    }
    return rows;
  };
  const auto rows = tell_all();
  std::ofstream(beside_this_program("liar.tsv")) << report_of(rows);
  std::cout << "liar.tsv: " << rows.size() << " rows\n";
  census before;
  REQUIRE(soon([&] { return (before = census_of(victim)).at("clients") == 1; }));
  const double memory = resident_mib();
  for (int i = 0; i < 2; ++i) tell_all();
  CHECK(left_behind(victim, before) == "");
  // A server gives memory back each ten seconds, in a thread that lets others go first.
  CHECK(soon([&] { return resident_mib() <= 1.1 * memory; }, 60s));
  CHECK(good.run() == 3);
}

}  // namespace
