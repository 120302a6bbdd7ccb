// expect within 5 of 15: a feed has the dtype of what it is fed to
// Vectors, spans and arrays are fed, of the dtype alone.
#include <array>
#include <span>
#include <vector>

#include <pinion/session.hpp>

void feed(pinion::session& s, pinion::expr<float> x, pinion::variable_handle<float> w) {
#ifdef ACCEPT
  const std::vector<float> v{1, 2};
  const float c[2][3]{};
  s.run({{x, v}, {w, std::span<const float>(v)}}, x);
  s.run({{x, std::vector<std::array<float, 3>>(2)}, {w, c}}, x);
#else
  s.run({{x, std::vector<double>{1, 2}}}, x);
#endif
}
