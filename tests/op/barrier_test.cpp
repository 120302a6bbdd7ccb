// The barrier of synchronous training by itself: what a round needs, and what a stop means.
#include <catch2/catch.hpp>

#include <pinion/state/accumulator.hpp>
#include <pinion/state/barrier.hpp>

#include "support/caught.hpp"

namespace {

using namespace pinion;
using tickets = std::vector<std::int64_t>;

// How a commit or take has ended, if it has.
struct barrier_answer {
  bool came = false, accepted = false;
  std::int64_t step = -1;
  std::vector<std::int64_t> taken;
  std::optional<errc> failed;
};

struct meeting {
  meeting(std::int64_t aggregate, std::int64_t total)
      : at(std::make_shared<state::barrier>("meeting", aggregate, total)) {}

  std::shared_ptr<barrier_answer> commit(std::int64_t replica, std::int64_t ticket, std::int64_t step) {
    auto a = std::make_shared<barrier_answer>();
    at->commit(replica, ticket, step, nullptr, [a](const outcome<state::commit_answer>& how) {
      a->came = true;
      if (!how) return void(a->failed = how.failure()->code());
      a->accepted = how.value().accepted;
      a->step = how.value().step;
    });
    return a;
  }
  std::shared_ptr<barrier_answer> take() {
    auto a = std::make_shared<barrier_answer>();
    at->take(nullptr, [a](const outcome<state::barrier::full_round>& how) {
      a->came = true;
      if (!how) return void(a->failed = how.failure()->code());
      a->step = how.value().step;
      a->taken = how.value().tickets;
    });
    return a;
  }

  std::shared_ptr<state::barrier> at;
};

}  // namespace

TEST_CASE("an update that is asked for after the stop is cancelled, until the chief begins anew") {
  meeting m(1, 1);
  m.at->stop(false);
  CHECK(m.take()->failed == errc::cancelled);
  m.at->advance(3, true);
  const auto taken = m.take();
  CHECK(!taken->came);
  m.commit(0, 7, 3);
  CHECK(taken->taken == tickets{7});
}

TEST_CASE("an update under way does not undo the end of training") {
  meeting m(1, 2);
  const auto update = m.take(), first = m.commit(0, 1, 0);
  REQUIRE(update->came);
  m.at->stop(true);
  CHECK(first->failed == errc::out_of_range);
  m.at->advance(1, false);
  CHECK(m.commit(1, 2, 1)->failed == errc::out_of_range);
  CHECK(m.take()->failed == errc::cancelled);
  m.at->advance(1, true);
  CHECK(!m.commit(1, 3, 1)->came);
}

TEST_CASE("replicas share the gradients of a round that takes more than one of each") {
  meeting m(4, 2);
  const auto update = m.take();
  for (std::int64_t replica : {0, 1}) {
    const auto first = m.commit(replica, 10 + replica, 0);
    CHECK(first->came);
    CHECK(first->accepted);
    CHECK(first->step == 0);
  }
  const auto last = m.commit(0, 20, 0);
  CHECK(!last->came);
  CHECK(!update->came);
  m.commit(1, 21, 0);
  CHECK(update->taken == tickets{10, 20, 11, 21});
  m.at->advance(1, false);
  CHECK(last->step == 1);
}

TEST_CASE("a replica that is left fills a round that another would have filled") {
  meeting m(3, 2);
  const auto update = m.take(), first = m.commit(0, 1, 0);
  m.at->leave(1);
  CHECK(first->came);  // a third of three is not enough: it computes again
  m.commit(0, 2, 0);
  CHECK(update->taken == tickets{1, 2});
}

TEST_CASE("gradients pushed twice under one ticket count once") {
  meeting m(2, 2);
  const auto update = m.take();
  m.commit(0, 1, 0);
  m.commit(0, 1, 0);
  CHECK(!update->came);
  m.commit(1, 2, 0);
  CHECK(update->taken == tickets{1, 2});
}

TEST_CASE("a chief that begins again at a step keeps what replicas have pushed for it") {
  state::accumulator a("a");
  const auto given = [](float x) { return state::contribution{tensor<float>(x).untyped(), {}, {}}; };
  a.add(4, 1, given(1));
  a.add(5, 2, given(2));
  a.add(6, 3, given(3));
  a.set_step(5);
  const auto twice = a.take(5, tickets{2, 2});
  CHECK(float(tensor<float>(twice[1].dense)) == 2);
  CHECK(refusal([&] { a.take(6, tickets{3}); }, errc::failed_precondition, "'a'") == "");
  CHECK(refusal([&] { a.take(4, tickets{1}); }, errc::failed_precondition, "step 4") == "");
}
