// A server that gets no memory for one of its allocations, whichever it is: it refuses what it cannot do, and lives.
//
// The life of a session is repeated, and each time another allocation of the process of the servers fails, counted from
// the beginning of that life. Asio's own blocks, which it takes by aligned_alloc, are not among them.
//
//   PINION_STARVED_POINTS=all     each allocation, which takes minutes
//   PINION_STARVED_POINTS=700+3   three of them, from the 700th
#include <distributed/real_cluster.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>

#include <pinion/runtime/partial_run.hpp>

#include <starved/starvation.hpp>
#include <support/temporary_file.hpp>

namespace {

using namespace real;

const char* const ps = "/job:ps/task:0";
const char* const worker = "/job:worker/task:0";

// What a session does: its graph is on both tasks, and numbers and texts go from one to the other, some pushed and some
// pulled.
struct life : own_graph {
  expr<float> x = placeholder<float>({64}, "x"), y = placeholder<float>(shape::any(), "y");
  expr<std::string> text = placeholder<std::string>(shape::any(), "text");
  expr<float> sum, pulled;
  expr<std::string> twice;
  variable_handle<float> count = place<"/job:ps/task:0">(variable(0.f, {.name = "count"}));
  expr<float> up = place<"/job:ps/task:0">(assign_add(count, 1.f));

  life() {
    const auto on_ps = [&](auto make) {
      const device on{ps};
      return make();
    };
    const auto on_worker = [&](auto make) {
      const device on{worker};
      return make();
    };
    const auto small = on_ps([&] { return x + 1.f; });
    const auto large = on_ps([&] { return y * 2.f; });
    const auto words = on_ps([&] { return pinion::identity(text); });
    sum = on_worker([&] { return pinion::identity(small + x, "sum"); });
    pulled = on_worker([&] { return pinion::identity(large + 1.f, "pulled"); });
    twice = on_worker([&] { return pinion::identity(words, "words"); });
  }

  // Throws what the servers refuse.
  void run(const std::string& target, std::chrono::milliseconds limit) {
    session sess{{.target = target, .startup_timeout = limit, .operation_timeout = limit}};
    sess.run(count.initializer());
    tensor<float> numbers({64}), many({4096});
    tensor<std::string> words({40});
    for (auto& one : words.span()) one = "a text that is too long to be kept within a string";
    for (int again = 0; again < 2; ++again) {
      const auto [a, b, c] = sess.run({{x, numbers}, {y, many}, {text, words}}, sum, pulled, twice);
      if (a(0) != 1 || b(0) != 1 || c(39) != words(39)) throw std::runtime_error("a step yielded what it does not");
    }
    sess.run(up);
    partial_run step(sess, feeds(x, y), fetches(sum, pulled));
    step.run({{x, numbers}}, sum);
    step.run({{y, many}}, pulled);
  }
};

struct hungry_cluster {
  temporary_file file;
  starvation& hunger = starvation::in(file.path);
  process tasks{{PINION_TEST_STARVED_CLUSTER, file.path}};
  std::string ps = tasks.line(), worker = tasks.line();

  bool lives() { return !tasks.ended(); }
  // What is wrong with it: "" where a good client is served, and nothing is left of others.
  std::string fault(std::chrono::milliseconds limit) {
    std::string why = "no client came";
    if (!soon([&] { return !lives() || (why = failure_of([&] { life().run(worker, limit); })).empty(); }, 6 * limit) ||
        !why.empty())
      return lives() ? "a good client is not served: " + why : "the servers are gone";
    soon([&] { return !lives() || (why = left()).empty(); }, 3 * limit);
    return lives() ? why : "the servers are gone";
  }

 private:
  template <class F>
  static std::string failure_of(F f) {
    try {
      return f(), "";
    } catch (const std::exception& e) {
      return e.what();
    }
  }
  std::string left() const {
    std::string all;
    const auto note = [&](const std::string& task, const char* what, std::uint64_t n) {
      if (n > 0) all += task + " has " + std::to_string(n) + " " + what + "; ";
    };
    const std::string unanswered = failure_of([&] {
      for (const auto& target : {ps, worker}) {
        const task_report r = inspect(target);
        note(r.name, "sessions", r.sessions.size());
        note(r.name, "runs", r.runs.size() + r.parts.running);
        note(r.name, "values that nobody asks for", r.backlog.values_offered);
        note(r.name, "bytes of requests", r.backlog.bytes_received > 4096 ? r.backlog.bytes_received : 0);
      }
    });
    return all + unanswered;
  }
};

// The points of the test: of so many allocations all, or some that lie close.
std::vector<std::int64_t> points_of(std::uint64_t allocations) {
  constexpr std::uint64_t most = 150;
  const char* const asked = std::getenv("PINION_STARVED_POINTS");
  const std::string which = asked ? asked : "";
  std::vector<std::int64_t> points;
  if (const auto plus = which.find('+'); plus != which.npos) {
    for (int i = 0; i < std::stoi(which.substr(plus + 1)); ++i) points.push_back(std::stoi(which) + i);
    return points;
  }
  const std::uint64_t step = which == "all" ? 1 : allocations / most + 1;
  for (std::uint64_t n = 1; n <= allocations; n += step) points.push_back(static_cast<std::int64_t>(n));
  return points;
}

TEST_CASE("Q7: a server that gets no memory for one allocation refuses what it cannot do, and lives, whichever it is") {
  constexpr auto limit = 3s;
  std::optional<hungry_cluster> cluster{std::in_place};
  REQUIRE(cluster->fault(limit) == "");
  std::uint64_t allocations = std::numeric_limits<std::uint64_t>::max();
  for (int again = 0; again < 5; ++again) {  // a library may still prepare itself beside the first of them
    const std::uint64_t before = cluster->hunger.taken;
    life().run(cluster->worker, limit);
    allocations = std::min<std::uint64_t>(allocations, cluster->hunger.taken - before);
  }
  const auto points = points_of(allocations);
  std::size_t failed = 0, refused = 0, died = 0, faulty = 0;
  for (const std::int64_t n : points) {
    std::string how = "it succeeded";
    const auto failed_before = cluster->hunger.failed.load();
    cluster->hunger.until = n;
    const stopwatch since;
    try {
      life().run(cluster->worker, limit);
    } catch (const std::exception& e) {
      how = e.what();
      ++refused;
    }
    const auto lasted = since.passed();
    cluster->hunger.until = 0;
    failed += cluster->hunger.failed != failed_before;
    const std::string fault = cluster->fault(limit);
    died += !cluster->lives();
    faulty += !fault.empty() || lasted >= limit;
    if (!fault.empty() || lasted >= limit)
      std::printf("allocation %ld: %s (the life with it took %ld ms: %s)\n", long(n), fault.c_str(),
                  long(lasted.count()), how.c_str());
    std::fflush(stdout);
    if (!fault.empty()) cluster.emplace();
  }
  std::printf(
      "%zu of %zu points failed an allocation, and %zu of their sessions were refused something; the servers "
      "died at %zu, and had another fault at %zu\n",
      failed, points.size(), refused, died, faulty - died);
  CHECK(failed > points.size() / 2);
  CHECK(died == 0);
  CHECK(faulty == 0);
}

}  // namespace
