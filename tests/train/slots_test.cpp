// What optimizers keep: where it stands, what it is called, whose it is.
#include <pinion/train.hpp>

#include <catch2/catch.hpp>

#include <support/caught.hpp>
#include <support/ends.hpp>
#include <support/own_session.hpp>
#include <support/tensor_text.hpp>

namespace {

using namespace pinion;
namespace tr = pinion::train;

struct one_weight : own_graph {
  variable_handle<float> w = variable(tensor<float>::of({1, 2}), {.name = "w"});
  expr<float> loss = reduce_sum(square(w));
};

std::vector<std::string> names_of_nodes(graph& g, const std::string& collection) {
  std::vector<std::string> all;
  for (node_id id : g.collection(collection)) all.push_back(g[id].name);
  return all;
}

}  // namespace

TEST_CASE("slots have TensorFlow's names and first values, and are state that is not trained") {
  one_weight m;
  const tr::momentum momentum{{}};
  const tr::adagrad adagrad{{.initial_accumulator_value = .5}};
  const tr::rmsprop rmsprop{{.centered = true}};
  const tr::adam adam{{}};
  momentum.minimize(m.loss);
  adagrad.minimize(m.loss);
  rmsprop.minimize(m.loss);
  adam.minimize(m.loss);
  CHECK(names_of_nodes(m.g, "variables") == std::vector<std::string>{"w", "w/Momentum", "w/Adagrad", "w/RMSProp",
                                                                     "w/RMSProp_1", "w/RMSProp_2", "beta1_power",
                                                                     "beta2_power", "w/Adam", "w/Adam_1"});
  CHECK(names_of_nodes(m.g, "trainable_variables") == std::vector<std::string>{"w"});
  session sess;
  sess.run(global_variables_initializer());
  CHECK(sess.run(momentum.get_slot(m.w, "momentum")) == tensor<float>::of({0, 0}));
  CHECK(sess.run(adagrad.get_slot(m.w, "accumulator")) == tensor<float>::of({.5, .5}));
  CHECK(rmsprop.get_slot(m.w, "mg").name() == "w/RMSProp_1");
  CHECK(sess.run(rmsprop.get_slot(m.w, "rms")) == tensor<float>::of({1, 1}));
  CHECK(adam.get_slot(m.w, "v").name() == "w/Adam_1");
}

TEST_CASE("slots of optimizers of today are named as the others are, and powers are each optimizer's own") {
  one_weight m;
  const tr::adamw adamw{{}};
  const tr::lion lion{{}};
  const tr::lamb lamb{{}};
  adamw.minimize(m.loss);
  lion.minimize(m.loss);
  lamb.minimize(m.loss);
  CHECK(names_of_nodes(m.g, "variables") == std::vector<std::string>{"w", "beta1_power", "beta2_power", "w/AdamW",
                                                                     "w/AdamW_1", "w/Lion", "beta1_power_1",
                                                                     "beta2_power_1", "w/LAMB", "w/LAMB_1"});
  CHECK(names_of_nodes(m.g, "trainable_variables") == std::vector<std::string>{"w"});
  CHECK(adamw.get_slot(m.w, "v").name() == "w/AdamW_1");
  CHECK(lion.get_slot(m.w, "momentum").name() == "w/Lion");
  CHECK(lamb.get_slot(m.w, "m").name() == "w/LAMB");
}

TEST_CASE("AdamW without decay is Adam, bit for bit") {
  const auto trained = [](const auto& o) {
    one_weight m;
    const auto train = o.minimize(m.loss);
    session sess;
    sess.run(global_variables_initializer());
    for (int step = 0; step < 10; ++step) sess.run(train);
    return sess.run(m.w);
  };
  const auto wanted = trained(tr::adam{{.learning_rate = .1}});
  CHECK(trained(tr::adamw{{.learning_rate = .1, .weight_decay = 0}}) == wanted);
  CHECK(trained(tr::adamw{{.learning_rate = .1, .decays = [](std::string_view name) { return name != "w"; }}}) ==
        wanted);
  CHECK_FALSE(trained(tr::adamw{{.learning_rate = .1}}) == wanted);
}

TEST_CASE("a slot that there is not is not found, and the sentence names those there are") {
  one_weight m;
  const tr::adam adam{{}};
  CHECK(failure([&] { adam.get_slot(m.w, "momentum"); }) ==
        "not_found: Adam keeps no 'momentum' of 'w'; its slots are 'm' 'v', of the variables it was applied to");
  CHECK(tr::adam::slot_names().size() == 2);
}

TEST_CASE("an optimizer applied twice, or copied, uses the same slots; in another graph it has others") {
  one_weight m;
  const tr::adam adam{{}};
  const tr::adam copy = adam;
  adam.minimize(m.loss);
  const auto made = m.g.collection("variables").size();
  copy.minimize(m.loss);
  CHECK(m.g.collection("variables").size() == made);
  one_weight other;
  adam.minimize(other.loss);
  CHECK(other.g.collection("variables").size() == made);
}

TEST_CASE("slots and the beta powers stand with their variables, whatever guards are open") {
  graph g;
  const auto use = g.as_default();
  const auto on = [](const char* where, const char* name) {
    const device there{where};
    return variable(tensor<float>::of({1, 2}), {.name = name});
  };
  auto b = on("/cpu:1", "b"), a = on("/gpu:0", "a");
  const auto rate = placeholder<float>({}, "rate");
  const device elsewhere{"/cpu:0"};
  const auto train = tr::adam{{.learning_rate = rate}}.minimize(reduce_sum(a * b));
  const auto init = global_variables_initializer();
  session sess{{.cpu_devices = 2, .simulated = {sim::gpu()}}};
  const auto p = sess.plan(train, init);
  for (const char* node : {"a/Adam", "a/Adam_1", "a/ApplyAdam", "beta1_power", "beta2_power", "Adam/rate",
                           "Adam/beta1_power", "a/Adam/Assign"})
    CHECK(p.device_of(node) == p.device_of("a"));
  for (const char* node : {"b/Adam", "b/Adam_1", "b/ApplyAdam", "b/Adam_1/Assign"})
    CHECK(p.device_of(node) == p.device_of("b"));
  CHECK_THAT(p.device_of("a"), Catch::EndsWith("GPU:0"));
  CHECK_THAT(p.device_of("b"), Catch::EndsWith("CPU:1"));
  sess.run(init);
  sess.run({{rate, .5f}}, train);
  CHECK(sess.run(a)(0) == Approx(.5f));
  CHECK(sess.run(b)(1) == Approx(1.5f));
}

TEST_CASE("the beta powers are multiplied once a step, after the updates, and are double") {
  one_weight m;
  auto v = variable(3., {.name = "v"});
  const auto train = tr::adam{{.beta1 = .5, .beta2 = .25}}.minimize(cast<double>(m.loss) + square(v));
  auto one = tr::handle_of<double>(m.g, m.g.id_of("beta1_power")),
       two = tr::handle_of<double>(m.g, m.g.id_of("beta2_power"));
  session sess;
  sess.run(global_variables_initializer());
  for (int step = 1; step <= 10; ++step) sess.run(train);
  CHECK(double(sess.run(one)) == std::pow(.5, 11));
  CHECK(double(sess.run(two)) == std::pow(.25, 11));
  const auto& n = m.g[m.g.id_of("Adam/beta1_power")];
  CHECK(n.op == "AssignMul");
  CHECK(n.control_inputs.size() == 2);
}

TEST_CASE("a slot is shared, and kept in a container, as its variable is") {
  graph g;
  const auto use = g.as_default();
  auto w = [] {
    const container box{"experiment"};
    return variable(1.f, {.name = "w", .shared_name = "common"});
  }();
  tr::momentum{{}}.minimize(square(w));
  const auto& slot = g[g.id_of("w/Momentum")];
  CHECK(slot.attrs.get<std::string>("shared_name") == "common/Momentum");
  CHECK(slot.attrs.get<std::string>("container") == "experiment");
}

TEST_CASE("slots do not wait for what updates wait for") {
  one_weight m;
  auto seen = variable(0, {.name = "seen", .trainable = false});
  const auto count = assign_add(seen, 1);
  const auto train = [&] {
    const control_dependencies after{count};
    return tr::adam{{}}.minimize(m.loss);
  }();
  session sess;
  sess.run(global_variables_initializer());
  CHECK(int(sess.run(seen)) == 0);
  sess.run(train);
  CHECK(int(sess.run(seen)) == 1);
}

TEST_CASE("gradients that are empty are passed over") {
  one_weight m;
  auto v = variable(1.f, {.name = "v"});
  const tr::gradient_descent o{{.learning_rate = .25}};
  auto gradients = o.compute_gradients(m.loss);
  gradients.push_back({{}, id_of(v)});
  const auto train = o.apply_gradients(gradients);
  session sess;
  sess.run(global_variables_initializer());
  sess.run(train);
  CHECK(sess.run(m.w) == tensor<float>::of({.5, 1}));
  CHECK(float(sess.run(v)) == 1);
  CHECK(failure([&] {
          o.apply_gradients({{{}, id_of(v)}});
        }) == "invalid_argument: apply_gradients was given no gradients");
}

TEST_CASE("what cannot be trained is refused, and named") {
  one_weight m;
  auto whole = variable(1, {.name = "whole"});
  auto open = variable(placeholder<float>({unknown}, "x"), {.name = "open"});
  const auto gradient = tr::gradient_descent{{}}.compute_gradients(m.loss)[0].gradient;
  CHECK(failure([&] {
          tr::gradient_descent{{}}.apply_gradients({{gradient, id_of(whole)}});
        }) == "invalid_argument: variable 'whole' is int32; only floating-point variables are trained");
  CHECK(failure([&] {
          tr::gradient_descent{{}}.apply_gradients({{gradient, id_of(m.loss)}});
        }) == "invalid_argument: apply_gradients: a gradient is given for what is no variable of the default graph");
  const auto e = caught([&] { tr::momentum{{}}.minimize(reduce_sum(square(open))); });
  CHECK(e.sentence() == "variable 'open' has the shape [?]; an optimizer needs a known one for its slots");
  CHECK(e.node() == "open");
  CHECK(tr::gradient_descent{{}}.minimize(reduce_sum(square(open))).op() == "NoOp");
}

TEST_CASE("a rate that is no scalar, or of another graph, is refused") {
  one_weight m;
  CHECK(failure([&] {
          tr::momentum{{.learning_rate = constant<float>({1, 2}, "rates")}};
        }) == "invalid_argument: 'rates' of shape [2] is given where a scalar is wanted");
  const auto rate = placeholder<float>(shape::any(), "rate");
  const auto train = tr::momentum{{.learning_rate = rate}}.minimize(m.loss);
  session sess;
  sess.run(global_variables_initializer());
  CHECK(caught([&] {
          sess.run({{rate, {1, 2}}}, train);
        }).sentence() == "a rate of shape [2] updates variable 'w'; it is a scalar");
  CHECK_NOTHROW(sess.run({{rate, .5f}}, train));
  one_weight other;
  CHECK(failure([&] { tr::gradient_descent{{.learning_rate = rate}}.minimize(other.loss); }) ==
        "invalid_argument: 'rate' belongs to another graph than the variables whose learning rate it is; each thread "
        "has a default graph of its own");
  CHECK(
      failure([&] { tr::adam{{.learning_rate = rate}}.minimize(other.loss); }) ==
      "invalid_argument: 'rate' belongs to another graph than 'Adam/rate'; each thread has a default graph of its own");
}

TEST_CASE("numbers that an optimizer cannot use are refused") {
  CHECK(failure([] { tr::adagrad{{.initial_accumulator_value = 0}}; }) ==
        "invalid_argument: the initial_accumulator_value of adagrad is 0; it must be positive");
  CHECK(failure([] { tr::adam{{.beta2 = 1}}; }) == "invalid_argument: a beta of adam is 1; it must be in [0, 1)");
}

TEST_CASE_METHOD(own_session, "a rate of one dtype serves variables of another, converted once") {
  auto a = variable(1.f, {.name = "a"}), b = variable(1.f, {.name = "b"});
  auto c = variable(1., {.name = "c"});
  const auto rate = placeholder<double>({}, "rate");
  const auto train = tr::gradient_descent{{.learning_rate = rate}}.minimize(cast<double>(a * b) + c);
  CHECK(g[g.id_of("a/ApplyGradientDescent")].inputs[2] == g[g.id_of("b/ApplyGradientDescent")].inputs[2]);
  sess.run(global_variables_initializer());
  sess.run({{rate, .25}}, train);
  CHECK(float(sess.run(a)) == .75f);
  CHECK(double(sess.run(c)) == .75);
}
