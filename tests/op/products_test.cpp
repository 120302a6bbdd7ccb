// Matrix products of the libraries, in several threads.
#include <catch2/catch.hpp>

#include <pthread.h>

#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

#include <pinion/op/matmul/gemm.hpp>

using namespace pinion;

namespace {

constexpr std::int64_t m = 50, n = 48, k = 784;

template <class T>
std::vector<T> filled(std::int64_t size, int period) {
  std::vector<T> values(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<T>(static_cast<int>(i) % period) / static_cast<T>(period) - T(.4);
  return values;
}

// The number of products of some threads at once that are not that of one thread alone.
template <class T>
int unlike_alone() {
  const auto a = filled<T>(m * k, 97), b = filled<T>(k * n, 89);
  const auto product_of = [&] {
    std::vector<T> c(static_cast<std::size_t>(m * n));
    op::gemm(op::product<T>{a.data(), b.data(), c.data(), m, n, k, false, false});
    return c;
  };
  const auto alone = product_of();
  std::atomic<int> unlike{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) unlike += product_of() != alone;
    });
  for (auto& t : threads) t.join();
  return unlike;
}

// The stack of the thread that computes, and what became of the signals that it was sent.
struct {
  const char *lowest, *highest;
  std::atomic<int> taken, beside_the_stack;
} signals;

void take_signal(int) {
  const char here = 0;
  ++signals.taken;
  if (&here < signals.lowest || &here >= signals.highest) ++signals.beside_the_stack;
}

// This thread's stack, while it lives noted for take_signal(), which the signal has as its handler.
struct noting_signals {
  explicit noting_signals(int number) : number_(number), before_(std::signal(number, take_signal)) {
    pthread_attr_t is;
    void* lowest = nullptr;
    std::size_t size = 0;
    REQUIRE(::pthread_getattr_np(::pthread_self(), &is) == 0);
    ::pthread_attr_getstack(&is, &lowest, &size);
    ::pthread_attr_destroy(&is);
    signals.lowest = static_cast<char*>(lowest);
    signals.highest = signals.lowest + size;
    signals.taken = signals.beside_the_stack = 0;
  }
  ~noting_signals() { std::signal(number_, before_); }

  int number_;
  void (*before_)(int);
};

}  // namespace

TEST_CASE("a signal during a product finds the stack of its thread, not memory that the library uses as one") {
  const noting_signals noted(SIGUSR1);
  const auto a = filled<float>(m * k, 97), b = filled<float>(k * n, 89);
  std::vector<float> c(static_cast<std::size_t>(m * n));
  std::atomic<bool> done = false;
  std::thread sender([&, computing = ::pthread_self()] {
    for (int sent = 0; !done; std::this_thread::yield())
      if (signals.taken == sent && ++sent) ::pthread_kill(computing, SIGUSR1);
  });
  for (int i = 0; i < 500 || signals.taken == 0; ++i)
    op::gemm(op::product<float>{a.data(), b.data(), c.data(), m, n, k, false, false});
  done = true;
  sender.join();
  CHECK(signals.beside_the_stack == 0);
}

TEST_CASE("products in several threads at once have the bits of one thread's") {
  CHECK(unlike_alone<float>() == 0);
  CHECK(unlike_alone<double>() == 0);
}
