// Clusters as text: what a command line, a file or the environment says of one.
#pragma once

#include <optional>
#include <string>

#include <pinion/spec/cluster_spec.hpp>

// A cluster that was read, and the task of it that this process is to be, where the text tells that.
struct cluster_text {
  pinion::cluster_spec cluster;
  std::string job;  // "": it does not tell
  std::optional<int> task;
};

// Reads a cluster in one of these forms:
//
//   ps=10.0.0.1:2222;worker=10.0.0.2:2222,10.0.0.3:2222
//   ps=10.0.0.1:2222;worker:5=10.0.0.2:2222                          // of the workers it tells the sixth alone
//   {"ps": ["10.0.0.1:2222"], "worker": {"5": "10.0.0.2:2222"}}
//   {"cluster": {...}, "task": {"type": "worker", "index": 5}}       // TensorFlow's TF_CONFIG
//
// A text "@FILE" names a file that holds one, and "env" stands for what PINION_CLUSTER or else TF_CONFIG holds. Throws
// invalid_argument for a text of no such form, and not_found for a file or variable that is not there.
cluster_text read_cluster(const std::string& text);
