// Graphs for TensorBoard: nodes, edges, attributes and devices, as a decoder of messages finds them.
#include <pinion/train.hpp>

#include <catch2/catch.hpp>

#include <set>

#include <support/own_session.hpp>
#include <support/temporary_folder.hpp>
#include <support/wire_message.hpp>

#if PINION_HAS_PROTOZERO
namespace {

using namespace pinion;
namespace tr = pinion::train;

// Nodes by name.
std::map<std::string, wire_message> nodes_of(const std::string& graph_def) {
  const wire_message all(graph_def);
  std::map<std::string, wire_message> nodes;
  for (std::size_t i = 0; i < all.count(1); ++i) nodes[all.sub(1, i).text(1)] = all.sub(1, i);
  return nodes;
}
std::string inputs_of(const wire_message& n) {
  std::string all;
  for (std::size_t i = 0; i < n.count(3); ++i) all += (i ? " " : "") + n.text(3, i);
  return all;
}
// The value of an attribute.
wire_message attribute_of(const wire_message& n, const std::string& name) {
  for (std::size_t i = 0; i < n.count(5); ++i)
    if (n.sub(5, i).text(1) == name) return n.sub(5, i).sub(2);
  throw std::runtime_error("no attribute " + name);
}
std::string shape_text(const wire_message& s) {
  if (s.integer(3)) return "?";
  std::string all;
  for (std::size_t i = 0; i < s.count(2); ++i) all += (i ? "," : "") + std::to_string(s.sub(2, i).integer(1));
  return "[" + all + "]";
}

TEST_CASE("a graph tells names, ops, inputs and what runs before, absorbed nodes apart") {
  graph g;
  const auto use = g.as_default();
  auto x = placeholder<float>({unknown, 3}, "x");
  auto halves = split<3>(x, 1);
  auto sum = std::get<0>(halves) + std::get<2>(halves);
  const control_dependencies after{x};
  no_op("end");
  const auto nodes = nodes_of(tr::graph_message(g));
  CHECK(nodes.size() == 4);
  CHECK(nodes.at("x").text(2) == "Placeholder");
  CHECK(inputs_of(nodes.at(sum.name())) == "split split:2");
  CHECK(inputs_of(nodes.at("end")) == "^x");
}

TEST_CASE("attributes are told in the field of their type, and shapes of outputs beside them") {
  graph g;
  const auto use = g.as_default();
  auto x = placeholder<float>({unknown, 3}, "x");
  auto y = placeholder<double>(shape::any(), "y");
  auto m = matmul(x, constant<float>({{1}, {2}, {3}}, "c"), {.transpose_a = false});
  auto t = transpose(x, {1, 0});
  auto words = constant<std::string>({"a", "bc"}, "words");
  tr::summary::scalar("s", constant(1.f, "one"));
  auto f = elu(x * 2.f);
  placeholder<float>({}, "scalar");
  placeholder<float>({0}, "empty");
  const auto nodes = nodes_of(tr::graph_message(g));
  CHECK(attribute_of(nodes.at("scalar"), "_output_shapes").sub(1).count(7) == 1);
  CHECK(attribute_of(nodes.at("scalar"), "shape").has(7));
  CHECK(shape_text(attribute_of(nodes.at("empty"), "shape").sub(7)) == "[0]");
  CHECK(attribute_of(nodes.at("x"), "dtype").integer(6) == 1);
  CHECK(shape_text(attribute_of(nodes.at("x"), "shape").sub(7)) == "[-1,3]");
  CHECK(shape_text(attribute_of(nodes.at("x"), "_output_shapes").sub(1).sub(7)) == "[-1,3]");
  CHECK(attribute_of(nodes.at("y"), "dtype").integer(6) == 2);
  CHECK(shape_text(attribute_of(nodes.at("y"), "_output_shapes").sub(1).sub(7)) == "?");
  CHECK(attribute_of(nodes.at("s"), "tag").text(2) == "s");
  CHECK(attribute_of(nodes.at("s"), "T").integer(6) == 7);
  CHECK(attribute_of(nodes.at(t.name()), "perm").sub(1).text(3) == std::string("\x01\x00", 2));
  const auto c = attribute_of(nodes.at("c"), "value").sub(8);
  CHECK(c.integer(1) == 1);
  CHECK(shape_text(c.sub(2)) == "[3,1]");
  const float elements[] = {1, 2, 3};
  CHECK(c.text(4) == std::string(reinterpret_cast<const char*>(elements), sizeof elements));
  CHECK(attribute_of(nodes.at("words"), "value").sub(8).text(8, 1) == "bc");
  CHECK(attribute_of(nodes.at(f.name()), "program").text(2).find("mul") != std::string::npos);
}

TEST_CASE("weights are not embedded") {
  graph g;
  const auto use = g.as_default();
  constant(tensor<float>({256}), "kept");
  constant(tensor<float>({257}), "dropped");
  constant(std::string(2000, 'x'), "text");
  constant(std::string(900, 'x'), "note");
  const std::string message = tr::graph_message(g);
  const auto nodes = nodes_of(message);
  const auto value = [&](const char* name) { return attribute_of(nodes.at(name), "value").sub(8); };
  CHECK(value("kept").text(4).size() == 1024);
  CHECK(!value("dropped").has(4));
  CHECK(shape_text(value("dropped").sub(2)) == "[257]");
  CHECK(!value("text").has(8));
  CHECK(value("note").has(8));
  CHECK(message.size() < 4096);
}

TEST_CASE("beside a plan every device has one name, also under nodes that the plan leaves out") {
  graph g;
  const auto use = g.as_default();
  const auto on = [](const char* spec, auto make) {
    const device here{spec};
    return make();
  };
  auto v = on("/cpu:0", [] { return variable(1.f, {.name = "v"}); });
  on("/gpu:0", [] { return placeholder<float>({}, "fast"); });
  on("/cpu", [] { return placeholder<float>({}, "any_cpu"); });
  on("/device:GPU:7", [] { return placeholder<float>({}, "missing"); });
  placeholder<float>({}, "anywhere");
  session sess{{.graph = &g, .simulated = {sim::gpu()}}};
  const auto nodes = nodes_of(tr::graph_message(g, sess.plan(v)));
  const std::string task = "/job:localhost/replica:0/task:0";
  CHECK(nodes.at("v").text(4) == task + "/device:CPU:0");
  CHECK(nodes.at("v/Assign").text(4) == task + "/device:CPU:0");
  CHECK(nodes.at("v/initial_value").text(4) == task + "/device:CPU:0");
  CHECK(nodes.at("fast").text(4) == task + "/device:GPU:0");
  CHECK(nodes.at("any_cpu").text(4) == task + "/device:CPU:0");
  CHECK(nodes.at("missing").text(4) == "/device:GPU:7");
  CHECK(!nodes.at("anywhere").has(4));
}

// The device of each node of one name, in a graph of requests.
std::string device_shown(const std::string& message, const std::string& name) {
  return nodes_of(message).at(name).text(4);
}

TEST_CASE_METHOD(own_session, "without a plan, requests for one device have its full name, as a plan has") {
  for (const char* spec : {"/cpu", "/cpu:0", "/task:0/cpu:0"}) {
    const device on{spec};
    no_op();
  }
  const std::string local = "/job:localhost/replica:0/task:0/device:CPU:0", message = tr::graph_message_of_requests(g);
  std::set<std::string> shown;
  for (const auto& [name, node] : nodes_of(message)) shown.insert(node.has(4) ? node.text(4) : "none");
  CHECK(sess.list_devices()[0].name == local);
  CHECK(shown == std::set<std::string>{local});
}

TEST_CASE("without a plan, only what a request leaves no choice of is completed") {
  graph g;
  const auto use = g.as_default();
  const auto on = [](const char* spec, const char* name) {
    const device here{spec};
    return no_op(name);
  };
  on("/job:ps/task:1/cpu", "whole");
  on("/job:ps/task:1", "of_any_type");
  on("/job:ps", "of_any_task");
  const operation anchor = on("/gpu:1", "of_any_job");
  no_op("anywhere");
  const colocate_with near(anchor);
  no_op("beside");
  const std::string message = tr::graph_message_of_requests(g);
  CHECK(device_shown(message, "whole") == "/job:ps/replica:0/task:1/device:CPU:0");
  CHECK(device_shown(message, "of_any_type") == "/job:ps/replica:0/task:1");
  CHECK(device_shown(message, "of_any_task") == "/job:ps");
  CHECK(device_shown(message, "of_any_job") == "/device:GPU:1");
  CHECK(device_shown(message, "beside") == "/device:GPU:1");
  CHECK(!nodes_of(message).at("anywhere").has(4));
}

TEST_CASE("beside the devices of a session, a request has the name of the first that meets it") {
  graph g;
  const auto use = g.as_default();
  const auto on = [](const char* spec, const char* name) {
    const device here{spec};
    no_op(name);
  };
  on("/gpu", "fast");
  on("/gpu:1", "faster");
  on("/gpu:2", "missing");
  no_op("anywhere");
  session sess{{.simulated = {sim::gpu(), sim::gpu()}}};
  const std::string message = tr::graph_message(g, sess.list_devices()), task = "/job:localhost/replica:0/task:0";
  CHECK(device_shown(message, "fast") == task + "/device:GPU:0");
  CHECK(device_shown(message, "faster") == task + "/device:GPU:1");
  CHECK(device_shown(message, "missing") == "/device:GPU:2");
  CHECK(!nodes_of(message).at("anywhere").has(4));
}

TEST_CASE("a node stands on the device that was asked for, or on that of a plan, by its full name") {
  graph g;
  const auto use = g.as_default();
  auto near = constant(1.f, "near");
  auto on_gpu = place<"/gpu:0">(pinion::identity(near, "on_gpu"));
  auto apart = constant(2.f, "apart");
  const auto asked = nodes_of(tr::graph_message(g));
  CHECK(!asked.at("near").has(4));
  CHECK(asked.at("on_gpu").text(4) == "/device:GPU:0");
  session sess{{.simulated = {sim::gpu()}}};
  const auto placed = nodes_of(tr::graph_message(g, sess.plan(on_gpu)));
  CHECK(placed.at("near").text(4).find("/job:localhost/replica:0/task:0/device:") == 0);
  CHECK(placed.at("on_gpu").text(4) == "/job:localhost/replica:0/task:0/device:GPU:0");
  CHECK(!placed.at("apart").has(4));
}

TEST_CASE("an event file shows a graph on full names, with a session and without") {
  temporary_folder alone, watched;
  graph g;
  const auto use = g.as_default();
  const auto step = tr::get_or_create_global_step();
  {
    const device on{"/cpu"};
    no_op("near");
  }
  tr::summary_writer writer{alone.path()};
  writer.add_graph(g);
  writer.close();
  tr::monitored_training_session{{.checkpoint_dir = watched.path(), .log = [](std::string_view) {}}}.close();
  for (const temporary_folder* dir : {&alone, &watched}) {
    tr::event_file_reader r(tr::event_files(dir->folder()).at(0));
    auto e = r.next();
    while (e && e->kind != tr::event_kind::graph) e = r.next();
    CHECK(device_shown(e->body, "near") == "/job:localhost/replica:0/task:0/device:CPU:0");
  }
}

TEST_CASE("what must stand together says with whom") {
  graph g;
  const auto use = g.as_default();
  auto v = variable(1.f, {.name = "v"});
  const auto nodes = nodes_of(tr::graph_message(g));
  CHECK(attribute_of(nodes.at("v/Assign"), "_class").sub(1).text(2) == "loc:@v");
}

TEST_CASE("the same graph gives the same bytes") {
  const auto bytes = [] {
    graph g;
    const auto use = g.as_default();
    auto v = variable(1.f, {.name = "v"});
    auto y = v * 2.f;
    return tr::graph_message(g);
  };
  CHECK(bytes() == bytes());
}

}  // namespace
#endif
