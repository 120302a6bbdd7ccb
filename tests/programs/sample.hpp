// A report of a cluster, made up: its figures are those of a run, its names and addresses are not.
#pragma once

#include <pinion/distributed/status/inspect.hpp>

// Two ps tasks, of which one is dead, and a worker.
inline pinion::cluster_report sample() {
  using namespace pinion;
  const std::string ps = "/job:ps/replica:0/task:0", dead = "/job:ps/replica:0/task:1",
                    worker = "/job:worker/replica:0/task:0";
  task_report p{.name = ps, .address = "10.0.0.1:2222", .version = PINION_VERSION, .process = 4711, .uptime = 754.2};
  p.parts = {.ended = 40213, .failed = 2, .running = 1, .per_second = 54.2};
  p.devices = {
      {.name = ps + "/device:CPU:0", .memory_used = 3'900'000, .memory_limit = 256 << 20, .memory_is_limited = false}};
  p.variables = {
      {.name = "hidden/weights",
       .device = ps + "/device:CPU:0",
       .dtype = dtype::float32,
       .shape = {784, 500},
       .bytes = 1568000},
      {.name = "hidden/bias", .device = ps + "/device:CPU:0", .dtype = dtype::float32, .shape = {500}, .bytes = 2000},
      {.name = "global_step",
       .container = "experiment",
       .device = ps + "/device:CPU:0",
       .dtype = dtype::int64,
       .bytes = 8}};
  p.variable_count = 3;
  p.variable_bytes = 1570008;
  p.queues = {{.name = "tokens", .kind = "FIFOQueue", .size = 2, .capacity = 64}};
  p.runs = {{.master = worker, .step = 40214, .age = 0.02, .computes = "'hidden/weights/ApplyGradientDescent'"}};
  p.peers = {{.name = dead, .address = "10.0.0.2:2222"},
             {.name = worker, .address = "10.0.0.3:2222", .state = "running", .silence = 0.4}};
  p.clients = {{.address = "10.0.0.3:41700", .task = worker, .silence = .4, .connections = 2, .runs = 1}};
  p.pool = {.threads = 4, .queued = 0};
  p.backlog = {.clients = 1};
  p.descriptors = {.open = 23, .limit = 1024};
  p.traffic = {.bytes_sent = 63'400'000'000,
               .bytes_received = 63'100'000'000,
               .messages_sent = 90311,
               .messages_received = 90200,
               .requests = 3,
               .writes = 80121};

  task_report w{.name = worker, .address = "10.0.0.3:2222", .version = PINION_VERSION, .process = 815, .uptime = 751};
  w.steps = {.ended = 40213, .failed = 2, .per_second = 54.2};
  w.parts = {.ended = 40213, .failed = 2, .running = 1, .per_second = 54.2};
  w.devices = {{.name = worker + "/device:CPU:0",
                .memory_used = 22'100'000,
                .memory_limit = 256 << 20,
                .memory_is_limited = false},
               {.name = worker + "/device:GPU:0",
                .description = "NVIDIA H200, compute capability 9.0",
                .memory_used = std::int64_t{3} << 30,
                .memory_limit = std::int64_t{139} << 30}};
  w.sessions = {{.number = 1,
                 .owner = "10.0.0.3:41822",
                 .age = 748,
                 .quiet = 0.02,
                 .memory = 410'000,
                 .steps = {.ended = 40213, .failed = 2, .running = 1, .per_second = 54.2}}};
  w.runs = {{.master = worker,
             .step = 40214,
             .age = 0.02,
             .computes = "'loss'",
             .waits_for = "hidden/weights/read:0 from " + ps}};
  w.peers = {
      {.name = ps, .address = "10.0.0.1:2222", .state = "running", .silence = 0.3},
      {.name = dead,
       .address = "10.0.0.2:2222",
       .state = "dead",
       .why = "/job:ps/replica:0/task:1 at 10.0.0.2:2222 has not answered for 2.0 s: it is dead, stopped or cut off"}};
  w.clients = {{.address = "10.0.0.3:41822",
                .silence = .02,
                .connections = 2,
                .runs = 1,
                .sessions = 1,
                .slabs = 2,
                .slab_bytes = 96 << 20,
                .bytes_lent = 4 << 20}};
  w.descriptors = {.open = 31, .limit = 1024};
  w.shared = {.connections = 1, .slabs = 2, .slab_bytes = 96 << 20, .bytes_lent = 4 << 20};
  w.failures = {{.time = 1'795'422'153'000,
                 .times = 2,
                 .sentence = "/job:ps/replica:0/task:1 at 10.0.0.2:2222 has not answered for 2.0 s: it is dead, "
                             "stopped or cut off [in task /job:ps/task:1]"}};
  w.pool = {.threads = 4, .queued = 3};
  w.backlog = {.clients = 1, .bytes_waiting = 1'600'000};
  w.traffic = {.bytes_sent = 63'100'000'000,
               .bytes_received = 63'400'000'000,
               .messages_sent = 90200,
               .messages_received = 90311,
               .requests = 80426,
               .writes = 80430};
  return {
      {{ps, "10.0.0.1:2222", p, ""},
       {dead, "10.0.0.2:2222", {}, "waited 2.0 s for /job:ps/replica:0/task:1 at 10.0.0.2:2222: Connection refused"},
       {worker, "10.0.0.3:2222", w, ""}}};
}
