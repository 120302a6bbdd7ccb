// Kernels of accumulators, barriers and clocks.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <pinion/base/countdown.hpp>
#include <pinion/op/slice/cpu.hpp>
#include <pinion/op/sync/op.hpp>
#include <pinion/opkit/kernel.hpp>
#include <pinion/state/accumulator.hpp>
#include <pinion/state/barrier.hpp>
#include <pinion/state/clock.hpp>
#include <pinion/state/find.hpp>

namespace pinion { inline namespace v0 { namespace op {

namespace detail {

inline std::shared_ptr<state::accumulator> find_accumulator(const kernel_setup& s, const node& n) {
  return state::find<state::accumulator>(s.services, n, "an accumulator", [](const std::string& name) {
    return std::make_shared<state::accumulator>(name);
  });
}
inline std::shared_ptr<state::barrier> find_meeting(replica_barrier kind, const kernel_setup& s, const node& n) {
  const auto aggregate = n.attrs.get<std::int64_t>("replicas_to_aggregate"),
             total = n.attrs.get<std::int64_t>("total_num_replicas");
  auto state = state::find<state::barrier>(s.services, n, kind.called, [&](const std::string& name) {
    return std::make_shared<state::barrier>(name, aggregate, total);
  });
  if (!state->agrees(aggregate, total))
    throw error(errc::invalid_argument, "two programs meet at barrier '" + state->name() +
                                            "' but not for the same: one aggregates " + std::to_string(aggregate) +
                                            " of " + std::to_string(total) + " replicas, the other does not");
  return state;
}
inline std::shared_ptr<state::clock> find_meeting(replica_clock kind, const kernel_setup& s, const node& n) {
  const auto total = n.attrs.get<std::int64_t>("total_num_replicas");
  auto state = state::find<state::clock>(
      s.services, n, kind.called, [&](const std::string& name) { return std::make_shared<state::clock>(name, total); });
  if (!state->agrees(total))
    throw error(errc::invalid_argument,
                "two programs share clock '" + state->name() + "' but not the number of replicas");
  return state;
}

inline std::int64_t number_at(const kernel_context& c, int i) {
  if (c.input(i).count() != 1)
    throw error(errc::invalid_argument,
                "a step or ticket is one number, not of shape " + to_string(c.input(i).shape()));
  return *c.input(i).data<std::int64_t>();
}
// The full name of a task, or "" where it is not known.
inline const std::string& task_at(const kernel_context& c, int i) {
  if (c.input(i).count() != 1)
    throw error(errc::invalid_argument, "a task has one name, not of shape " + to_string(c.input(i).shape()));
  const std::string& name = *c.input(i).data<std::string>();
  if (name != to_string(parse_device(name)) || name != task_of_device(name))
    throw error(errc::invalid_argument, "a replica enters that runs in no task, but in '" + name + "'");
  return name;
}
inline std::span<const std::int64_t> numbers_at(const kernel_context& c, int i) {
  return {c.input(i).data<std::int64_t>(), static_cast<std::size_t>(c.input(i).count())};
}
inline void yield_number(kernel_context& c, int i, std::int64_t value) {
  *c.allocate(i, dtype::int64, {}).data<std::int64_t>() = value;
}
inline void yield_numbers(kernel_context& c, int i, std::span<const std::int64_t> values) {
  any_tensor& y = c.allocate(i, dtype::int64, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), y.data<std::int64_t>());
}

// Adds x, times a weight, to y.
template <class T>
void add_scaled(const any_tensor& x, T weight, T* y) {
  const T* const from = x.data<T>();
  for (std::int64_t i = 0; i < x.count(); ++i) y[i] += from[i] * weight;
}

inline double weight_of(const attributes& attrs, std::size_t count) {
  return attrs.get_or("sum", false) ? 1.0 : 1.0 / static_cast<double>(count);
}

inline void expect_some(std::size_t count) {
  if (count == 0) throw error(errc::invalid_argument, "the mean of no gradients is taken");
}

inline any_tensor mean_of(kernel_context& c, const std::vector<state::contribution>& all, double weight) {
  expect_some(all.size());
  const any_tensor& first = all[0].dense;
  any_tensor y(first.dtype(), first.shape(), c.device->memory());
  visit_plain(y.dtype(), [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>) {
      std::fill_n(y.data<T>(), y.count(), T(0));
      for (const state::contribution& one : all) {
        if (!(one.dense.shape() == y.shape()) || one.dense.dtype() != y.dtype())
          throw error(errc::invalid_argument, "gradients of shapes " + to_string(y.shape()) + " and " +
                                                  to_string(one.dense.shape()) + " are added up");
        add_scaled(one.dense, static_cast<T>(weight), y.data<T>());
      }
    }
  });
  return y;
}

// Yields the indices and rows of all contributions, one after the other.
inline void join_rows(kernel_context& c, const std::vector<state::contribution>& all, double weight) {
  expect_some(all.size());
  shape extent = all[0].rows.shape();
  std::int64_t n = 0;
  for (const state::contribution& one : all) {
    shape same = one.rows.shape();
    if (same.rank() == 0 || one.indices.count() != same[0])
      throw error(errc::invalid_argument,
                  "rows of shape " + to_string(same) + " at " + std::to_string(one.indices.count()) + " indices");
    n += same[0];
    same.set(0, extent[0]);
    if (!(same == extent) || one.rows.dtype() != all[0].rows.dtype())
      throw error(errc::invalid_argument, "rows of shapes " + to_string(all[0].rows.shape()) + " and " +
                                              to_string(one.rows.shape()) + " are joined");
  }
  extent.set(0, n);
  any_tensor &indices = c.allocate(0, dtype::int64, {n}), &rows = c.allocate(1, all[0].rows.dtype(), extent);
  std::int64_t* to = indices.data<std::int64_t>();
  for (const state::contribution& one : all) {
    visit_plain<dtypes::signed_integers>(one.indices.dtype(), [&]<class Index>() {
      to = std::copy_n(one.indices.data<Index>(), one.indices.count(), to);
    });
  }
  visit_plain(rows.dtype(), [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>) {
      std::fill_n(rows.data<T>(), rows.count(), T(0));
      T* at = rows.data<T>();
      for (const state::contribution& one : all) {
        add_scaled(one.rows, static_cast<T>(weight), at);
        at += one.rows.count();
      }
    }
  });
}

}  // namespace detail

// ---- accumulators

inline std::unique_ptr<kernel> make_kernel(gradient_accumulator, const kernel_setup& setup) {
  return make_function_kernel([state = detail::find_accumulator(setup, setup.node)](kernel_context&) {});
}
inline std::unique_ptr<kernel> make_kernel(accumulator_apply, const kernel_setup& setup) {
  const shape wanted = setup.referenced(0).attrs.get<shape>("shape");
  return make_function_kernel([a = detail::find_accumulator(setup, setup.referenced(0)), wanted](kernel_context& c) {
    if (!fits(c.input(3).shape(), wanted))
      throw error(errc::invalid_argument, "a gradient of shape " + to_string(c.input(3).shape()) +
                                              " for accumulator '" + a->name() + "' of shape " + to_string(wanted));
    a->add(detail::number_at(c, 1), detail::number_at(c, 2), {.dense = c.input(3), .indices = {}, .rows = {}});
  });
}
inline std::unique_ptr<kernel> make_kernel(sparse_accumulator_apply, const kernel_setup& setup) {
  return make_function_kernel([a = detail::find_accumulator(setup, setup.referenced(0))](kernel_context& c) {
    a->add(detail::number_at(c, 1), detail::number_at(c, 2), {.dense = {}, .indices = c.input(3), .rows = c.input(4)});
  });
}
inline std::unique_ptr<kernel> make_kernel(accumulator_take, const kernel_setup& setup) {
  return make_function_kernel(
      [a = detail::find_accumulator(setup, setup.referenced(0)), attrs = setup.attrs()](kernel_context& c) {
        const auto all = a->take(detail::number_at(c, 1), detail::numbers_at(c, 2));
        for (const state::contribution& one : all)
          if (one.is_sparse())
            throw error(errc::invalid_argument, "accumulator '" + a->name() + "' holds rows, not dense gradients");
        c.outputs[0] = detail::mean_of(c, all, detail::weight_of(attrs, all.size()));
      });
}
inline std::unique_ptr<kernel> make_kernel(sparse_accumulator_take, const kernel_setup& setup) {
  return make_function_kernel(
      [a = detail::find_accumulator(setup, setup.referenced(0)), attrs = setup.attrs()](kernel_context& c) {
        const auto all = a->take(detail::number_at(c, 1), detail::numbers_at(c, 2));
        for (const state::contribution& one : all)
          if (!one.is_sparse())
            throw error(errc::invalid_argument, "accumulator '" + a->name() + "' holds dense gradients, not rows");
        detail::join_rows(c, all, detail::weight_of(attrs, all.size()));
      });
}
inline std::unique_ptr<kernel> make_kernel(accumulator_set_step, const kernel_setup& setup) {
  return make_function_kernel([a = detail::find_accumulator(setup, setup.referenced(0))](kernel_context& c) {
    a->set_step(detail::number_at(c, 1));
  });
}

// ---- common to the barrier and the clock

namespace detail {
// From none to a century, which clocks can count: a user may mean "never", and a peer may send any number.
inline std::chrono::milliseconds worker_timeout_of(const attributes& attrs) {
  return bounded(std::chrono::milliseconds(std::max<std::int64_t>(attrs.get<std::int64_t>("patience_ms"), 0)));
}

// Makes a kernel whose body takes the barrier or clock and its node's attributes.
template <class Kind, class F>
std::unique_ptr<kernel> kernel_at(const kernel_setup& setup, F body) {
  return make_function_kernel([state = find_meeting(Kind{}, setup, setup.referenced(0)), attrs = setup.attrs(),
                               body](kernel_context& c) { body(*state, attrs, c); });
}
}  // namespace detail

template <class Kind>
std::unique_ptr<kernel> make_kernel(detail::on_leaving<Kind>, const kernel_setup& setup) {
  return detail::kernel_at<Kind>(
      setup, [](auto& meeting, const attributes&, kernel_context& c) { meeting.leave(detail::number_at(c, 1)); });
}
template <class Kind>
std::unique_ptr<kernel> make_kernel(detail::on_expiry<Kind>, const kernel_setup& setup) {
  return detail::kernel_at<Kind>(setup, [](auto& meeting, const attributes& attrs, kernel_context& c) {
    const std::chrono::milliseconds worker_timeout = detail::worker_timeout_of(attrs), second(1000);
    meeting.expire(worker_timeout);
    const std::vector<std::string> news =
        meeting.news_of(detail::number_at(c, 1), std::min(worker_timeout / 4, second));
    any_tensor& y = c.allocate(0, dtype::string, {static_cast<std::int64_t>(news.size())});
    std::copy(news.begin(), news.end(), y.data<std::string>());
  });
}

// ---- barriers

inline std::unique_ptr<kernel> make_kernel(replica_barrier, const kernel_setup& setup) {
  return make_function_kernel([state = detail::find_meeting(replica_barrier{}, setup, setup.node)](kernel_context&) {});
}

inline std::unique_ptr<kernel> make_kernel(barrier_enter, const kernel_setup& setup) {
  return detail::kernel_at<replica_barrier>(setup, [](state::barrier& b, const attributes&, kernel_context& c) {
    const auto [step, replica, ended] = b.enter(detail::number_at(c, 1), detail::task_at(c, 2));
    detail::yield_number(c, 0, step);
    detail::yield_number(c, 1, replica);
    detail::yield_number(c, 2, ended ? 1 : 0);
  });
}
inline std::unique_ptr<kernel> make_kernel(barrier_commit, const kernel_setup& setup) {
  return make_waiting_kernel(
      [b = detail::find_meeting(replica_barrier{}, setup, setup.referenced(0))](kernel_context& c, kernel::ended done) {
        b->commit(detail::number_at(c, 1), detail::number_at(c, 2), detail::number_at(c, 3), c.cancellation,
                  [&c, done](outcome<state::commit_answer> committed) {
                    done(std::move(committed).then([&](const state::commit_answer& now) {
                      detail::yield_number(c, 0, now.step);
                      *c.allocate(1, dtype::boolean, {}).data<bool>() = now.accepted;
                    }));
                  });
      });
}
inline std::unique_ptr<kernel> make_kernel(barrier_take, const kernel_setup& setup) {
  return make_waiting_kernel(
      [b = detail::find_meeting(replica_barrier{}, setup, setup.referenced(0))](kernel_context& c, kernel::ended done) {
        b->take(c.cancellation, [&c, done](outcome<state::barrier::full_round> taken) {
          done(std::move(taken).then([&](const state::barrier::full_round& round) {
            detail::yield_number(c, 0, round.step);
            detail::yield_numbers(c, 1, round.tickets);
          }));
        });
      });
}
inline std::unique_ptr<kernel> make_kernel(barrier_advance, const kernel_setup& setup) {
  return detail::kernel_at<replica_barrier>(setup, [](state::barrier& b, const attributes& attrs, kernel_context& c) {
    b.advance(detail::number_at(c, 1), attrs.get_or("begins", false));
  });
}
inline std::unique_ptr<kernel> make_kernel(barrier_stop, const kernel_setup& setup) {
  return detail::kernel_at<replica_barrier>(
      setup, [](state::barrier& b, const attributes& attrs, kernel_context&) { b.stop(attrs.get_or("ended", false)); });
}
inline std::unique_ptr<kernel> make_kernel(barrier_counts, const kernel_setup& setup) {
  return detail::kernel_at<replica_barrier>(setup, [](state::barrier& b, const attributes&, kernel_context& c) {
    const state::barrier_counters now = b.counters();
    detail::yield_numbers(c, 0, std::array{now.accepted, now.dropped, now.rounds, b.live()});
    detail::yield_numbers(c, 1, now.staleness.times);
  });
}

// ---- clocks

inline std::unique_ptr<kernel> make_kernel(replica_clock, const kernel_setup& setup) {
  return make_function_kernel([state = detail::find_meeting(replica_clock{}, setup, setup.node)](kernel_context&) {});
}
inline std::unique_ptr<kernel> make_kernel(clock_enter, const kernel_setup& setup) {
  return detail::kernel_at<replica_clock>(setup, [](state::clock& s, const attributes&, kernel_context& c) {
    detail::yield_number(c, 0, s.enter(detail::number_at(c, 1), detail::task_at(c, 2)));
  });
}
inline std::unique_ptr<kernel> make_kernel(clock_tick, const kernel_setup& setup) {
  return make_waiting_kernel([s = detail::find_meeting(replica_clock{}, setup, setup.referenced(0)),
                              bound = setup.attrs().get<std::int64_t>("bound")](kernel_context& c, kernel::ended done) {
    s->tick(detail::number_at(c, 1), bound, c.cancellation, [&c, done](outcome<std::int64_t> ticked) {
      done(std::move(ticked).then([&](std::int64_t ahead) { detail::yield_number(c, 0, ahead); }));
    });
  });
}
inline std::unique_ptr<kernel> make_kernel(clock_counts, const kernel_setup& setup) {
  return detail::kernel_at<replica_clock>(setup, [](state::clock& s, const attributes&, kernel_context& c) {
    const state::clock_counters now = s.counters();
    detail::yield_numbers(c, 0, std::array{now.steps, now.waits, s.live()});
    detail::yield_numbers(c, 1, now.ahead.times);
  });
}

}}}  // namespace pinion::v0::op
