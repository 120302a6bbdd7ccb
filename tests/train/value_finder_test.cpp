// The hook that finds where the first NaN of a training comes to be.
#include <pinion/train.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#include <support/caught.hpp>
#include <support/own_graph.hpp>

namespace pn = pinion;
namespace tr = pinion::train;
using pn::errc;

namespace {

// A training whose loss is log(w), and whose steps take 1 from w.
struct falling : own_graph {
  pn::variable_handle<std::int64_t> step = tr::get_or_create_global_step();
  pn::variable_handle<float> w = pn::variable(3.0f, {.name = "w"});
  pn::expr<float> loss = pn::log(w, "loss");
  pn::operation train = [this] {
    const pn::expr<float> one = pn::minimum(pn::square(loss), 0.0f) + 1.0f;  // reads the loss
    const auto less = pn::assign_sub(w, one);
    const pn::control_dependencies after{less};
    return pn::operation(pn::assign_add(step, 1));
  }();

  static tr::monitored_session_options with(tr::any_hook hook) {
    return {.hooks = {std::move(hook)}, .log = [](std::string_view) {}};
  }
  // Steps until one fails.
  pn::error ended(tr::monitored_training_session& sess) const {
    return caught([&] {
      for (int i = 0; i < 9; ++i) sess.run(train);
    });
  }
};

TEST_CASE_METHOD(falling, "a training ends where a value comes to be infinite, and the step has written nothing") {
  tr::monitored_training_session sess{with(tr::nan_finder(loss))};
  const auto e = ended(sess);
  CHECK(e.code() == errc::invalid_argument);
  CHECK(e.node() == "loss");
  CHECK(e.sentence() ==
        "'loss' (Log) makes infinity of finite values: the one element of a float [] is -inf; it was given 'w/read', a "
        "float [] (0)");
  CHECK(std::int64_t(sess.raw_session().run(step)) == 3);
}

TEST_CASE_METHOD(falling, "without a loss the hook finds it, too") {
  tr::monitored_training_session sess{with(tr::nan_finder({.every_n_iter = 1}))};
  CHECK_THAT(ended(sess).sentence(), Catch::StartsWith("'loss' (Log) makes infinity"));
}

TEST_CASE_METHOD(falling, "a loss of a step that was not checked tells at which global step to look") {
  tr::monitored_training_session sess{with(tr::nan_finder(loss, {.from_step = 100}))};
  const auto e = ended(sess);
  CHECK(e.code() == errc::invalid_argument);
  CHECK(e.node() == "loss");
  CHECK_THAT(e.sentence(), Catch::StartsWith("loss 'loss' is not finite at global step ") &&
                               Catch::Contains("in a step that was not checked"));
}

TEST_CASE_METHOD(falling, "steps are checked once the global step is there, and one of so many") {
  {
    tr::monitored_training_session sess{with(tr::nan_finder(loss, {.from_step = 3}))};
    CHECK_THAT(ended(sess).sentence(), Catch::StartsWith("'loss' (Log) makes infinity"));
  }
  {
    tr::monitored_training_session sess{with(tr::nan_finder(loss, {.every_n_iter = 3}))};
    CHECK_THAT(ended(sess).sentence(), Catch::StartsWith("'loss' (Log) makes infinity"));
  }
  tr::monitored_training_session sess{with(tr::nan_finder(loss, {.every_n_iter = 2}))};
  CHECK_THAT(ended(sess).sentence(), Catch::Contains("in a step that was not checked"));
}

TEST_CASE_METHOD(falling, "a loss that is never NaN, and numbers of steps that are none, are refused") {
  CHECK(refusal([&] { tr::nan_finder(step.read()); }, errc::invalid_argument, "which is never NaN") == "");
  CHECK(refusal([&] { tr::nan_finder(loss, {.every_n_iter = 0}); }, errc::invalid_argument, "at least 1, not 0") == "");
  CHECK(refusal([&] { tr::nan_finder({.from_step = -1}); }, errc::invalid_argument, "at least 0, not -1") == "");
}

}  // namespace
