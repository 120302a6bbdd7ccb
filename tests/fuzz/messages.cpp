// Every message of the protocol: what is read is written again as it was, and read as the same.
#include <distributed/wire.hpp>

#include <pinion/distributed/wire/messages.hpp>
#include <pinion/session.hpp>

#include <fuzz/letters.hpp>
#include <fuzz/target.hpp>
#include <fuzz/tensors.hpp>

#include <support/ends.hpp>

namespace fuzz { namespace {

using namespace distributed;

template <class M>
std::string written_again(std::string_view input) {
  return input_of(rpc::encode(opened<M>(letter_of(input))));
}
// What is written in a form of its own (the name of a device, say) is in that form from then on.
template <class M>
void check(std::string_view input) {
  const std::string once = written_again<M>(input);
  law(written_again<M>(once) == once, "a message changes as it is written again");
}

using reading = void (*)(std::string_view);
constexpr reading kinds[] = {
#define PINION_KIND(M) check<M>,
    PINION_EACH_MESSAGE(PINION_KIND)
#undef PINION_KIND
};
enum kind : unsigned char {
#define PINION_KIND(M) kind_of_##M,
  PINION_EACH_MESSAGE(PINION_KIND)
#undef PINION_KIND
};

// An input is the number of the message's kind, and the message.
void read(std::string_view input) {
  if (input.empty()) return;
  kinds[static_cast<unsigned char>(input[0]) % std::size(kinds)](input.substr(1));
}

template <class M>
std::string seed(kind of, const M& value) {
  return static_cast<char>(of) + input_of(rpc::encode(value));
}

std::vector<any_tensor> values() {
  return {counting(dtype::float32, {2, 3}),
          tensor<std::string>::of({"a", "naïve", ""}).untyped(),
          {},
          counting(dtype::boolean, {3})};
}
shared_error broken() {
  return std::make_shared<const error>(errc::aborted, "it broke");
}
step_trace trace() {
  return {{{trace_event::send, "a/b", "Op", "/cpu:0", "a/b:0;/cpu:0;/gpu:0", 9, 8, 7, 6, 5, "add, mul"}},
          3,
          {{"/cpu:0", 12, 5}},
          "it broke"};
}
std::vector<device_info> devices() {
  return {{parse_device("/job:a/task:0/cpu:0"), "/job:a/replica:0/task:0/device:CPU:0", 5, "a CPU"}};
}
task_report report() {
  task_report r{.name = "/job:a/replica:0/task:0", .address = "a:1", .uptime = 1.5};
  r.devices = {{.name = "/cpu:0", .description = "a CPU", .memory_used = 5, .memory_limit = 6}};
  r.variables = {{.name = "W", .container = "c", .device = "/cpu:0", .shape = {2, 3}, .bytes = 24}};
  r.queues = {{.name = "q", .kind = "FIFOQueue", .size = 1, .capacity = -1}};
  r.sessions = {{.number = 1, .owner = "b:2", .age = 2, .steps = {.ended = 7, .per_second = 3.5}}};
  r.runs = {{.master = "/job:a/replica:0/task:0", .step = 3, .age = .1, .waits_for = "W from /job:b/task:0"}};
  r.peers = {{.name = "/job:b/task:0", .address = "b:1", .state = "dead", .why = "it is dead"}};
  r.failures = {{.time = 9, .times = 2, .sentence = "a failure"}};
  return r;
}
pinion::plan small_plan() {
  const own_graph small;
  const auto x = constant(tensor<float>::of({1, 2}), "x");
  return session().plan(exp(x) * 2.f);
}

std::vector<std::string> seeds() {
  std::vector<std::string> all{
#define PINION_KIND(M) seed(kind_of_##M, M{}),
      PINION_EACH_MESSAGE(PINION_KIND)
#undef PINION_KIND
  };
  wire::model m;
  register_step step;
  step.part = cut(m.g, wire::partitions(m));
  step.peers = {{"/job:ps/replica:0/task:0", 7}};
  all.push_back(seed(kind_of_register_step, step));
  register_known known;
  known.parts = step.part.parts;
  known.peers = step.peers;
  all.push_back(seed(kind_of_register_known, known));
  extend_graph graph;
  graph.delta = delta_since(m.g);
  all.push_back(seed(kind_of_extend_graph, graph));
  prepare_step prepared;
  prepared.signature = {{end_of(m.x)}, {end_of(m.loss)}, {id_of(m.train)}};
  all.push_back(seed(kind_of_prepare_step, prepared));
  run_prepared run;
  run.feeds = values();
  all.push_back(seed(kind_of_run_prepared, run));
  all.push_back(seed(kind_of_continue_partial_run, continue_partial_run{1, 2, 1000, {0, 1}, {1}, {0}, values()}));
  all.push_back(seed(kind_of_run_reply, run_reply{values(), {"a notice", ""}, trace(), broken()}));
  all.push_back(seed(kind_of_part_ended, part_ended{{"a notice"}, trace(), broken(), true}));
  all.push_back(seed(kind_of_plan_reply, plan_reply{small_plan()}));
  all.push_back(seed(kind_of_status_reply, status_reply{devices()}));
  all.push_back(seed(kind_of_report_reply, report_reply{report()}));
  push_value pushed;
  pushed.key = transfer_key("a/b", "0", "/cpu:0", "/gpu:0");
  pushed.value = counting(dtype::int64, {4});
  all.push_back(seed(kind_of_push_value, pushed));
  cancel_run cancelled;
  cancelled.why = error(errc::not_found, "no file").at_node("a/b", "Op", "x.cpp:3").in_task("ps:0");
  all.push_back(seed(kind_of_cancel_run, cancelled));
  return all;
}

const enrolled here({.name = "messages",
                     .read = read,
                     .seeds = seeds,
                     .most_memory = [](std::string_view input) { return 256 * input.size() + (std::size_t{8} << 20); },
                     .rounds = 20000});

}}  // namespace fuzz
