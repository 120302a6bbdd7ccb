// What the first matrix product of a process takes: the library behind it compiles its kernels then, or before.
//
//   first_product [--processes=N]
//
// Each measurement has a process of its own. "at once": the product is the first thing a session does. "after other
// work": the session has initialised a model of three layers before, made its step ready and read its input.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <pinion/session.hpp>

namespace {

namespace pn = pinion;
using seconds_clock = std::chrono::steady_clock;

struct times {
  double session = 0, first = 0, second = 0;  // milliseconds
};

template <class F>
double milliseconds(F&& f) {
  const auto began = seconds_clock::now();
  f();
  return std::chrono::duration<double, std::milli>(seconds_clock::now() - began).count();
}

pn::tensor<float> input(std::int64_t rows, std::int64_t columns) {
  pn::tensor<float> x({rows, columns});
  for (std::int64_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i % 97) / 97;
  return x;
}

times at_once() {
  auto a = pn::placeholder<float>({100, 100}), b = pn::placeholder<float>({100, 100});
  auto c = pn::matmul(a, b);
  times t;
  std::optional<pn::session> sess;
  t.session = milliseconds([&] { sess.emplace(); });
  const auto x = input(100, 100);
  auto product = sess->make_callable(pn::feeds(a, b), pn::fetches(c));
  t.first = milliseconds([&] { product(x, x); });
  t.second = milliseconds([&] { product(x, x); });
  return t;
}

times after_other_work() {
  auto image = pn::placeholder<float>({pn::unknown, 784});
  pn::expr<float> h = image;
  for (const std::int64_t units : {300, 100, 10}) {
    auto w = pn::variable(pn::truncated_normal<float>({h.shape()[1], units}, {.stddev = .1, .seed = 1}));
    h = pn::relu(pn::matmul(h, w));
  }
  times t;
  std::optional<pn::session> sess;
  t.session = milliseconds([&] { sess.emplace(); });
  sess->run(pn::global_variables_initializer());
  auto scores = sess->make_callable(pn::feeds(image), pn::fetches(h));
  std::vector<pn::tensor<float>> batches;
  for (int i = 0; i < 400; ++i) batches.push_back(input(50, 784));
  t.first = milliseconds([&] { scores(batches[0]); });
  t.second = milliseconds([&] { scores(batches[1]); });
  return t;
}

times in_a_new_process(times (*measure)()) {
  int ends[2];
  times t;
  if (::pipe(ends) != 0) return t;
  if (::fork() == 0) {
    t = measure();
    std::exit(::write(ends[1], &t, sizeof t) == sizeof t ? 0 : 1);
  }
  ::close(ends[1]);
  if (::read(ends[0], &t, sizeof t) != sizeof t) fmt::print("a process failed\n");
  ::close(ends[0]);
  ::wait(nullptr);
  return t;
}

double median(std::vector<double> all) {
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
  return all[all.size() / 2];
}

void report(const char* what, int processes, times (*measure)()) {
  std::vector<double> session, first, second;
  for (int i = 0; i < processes; ++i) {
    const times t = in_a_new_process(measure);
    session.push_back(t.session);
    first.push_back(t.first);
    second.push_back(t.second);
  }
  fmt::print("{:<17} session made in {:6.2f} ms, first call {:6.2f} ms (worst {:6.2f}), second {:6.3f} ms\n", what,
             median(session), median(first), *std::max_element(first.begin(), first.end()), median(second));
}

}  // namespace

int main(int argc, char** argv) {
  const int processes = argc > 1 ? std::max(1, std::atoi(argv[1] + std::string(argv[1]).find('=') + 1)) : 20;
  std::setvbuf(stdout, nullptr, _IONBF, 0);  // or each child would print what is still to be printed
  report("at once:", processes, at_once);
  report("after other work:", processes, after_other_work);
}
