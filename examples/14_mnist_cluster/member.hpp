// A task of the example's cluster: its place, and what it knows of the others.
#pragma once

#include <string>

#include <pinion/spec/cluster_spec.hpp>

struct member {
  pinion::cluster_spec cluster;
  std::string job;  // "ps" or "worker"
  int task = 0;

  std::string name() const { return job + " " + std::to_string(task); }
  std::string device() const { return "/job:" + job + "/task:" + std::to_string(task); }
  bool is_chief() const { return job == "worker" && task == 0; }
  int workers() const { return cluster.num_tasks("worker"); }
};
