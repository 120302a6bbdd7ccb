// The programs as processes.
#pragma once

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <distributed/real_cluster.hpp>

#include <support/temporary_file.hpp>

// A program and its words, of which both outputs come in one stream, or go to a file.
inline real::process run_program(const std::string& program, const std::vector<std::string>& words,
                                 const std::string& environment = "", const std::string& file = "") {
  std::string line = environment + (environment.empty() ? "" : " ") + "exec '" + program + "'";
  for (const std::string& word : words) line += " '" + word + "'";
  return real::process({"/bin/sh", "-c", line + (file.empty() ? "" : " >" + file) + " 2>&1"});
}

// The text that a program prints until it ends, and its exit status.
struct ended_program {
  std::string text;
  int status;
};
inline ended_program end_of(const std::string& program, const std::vector<std::string>& words,
                            const std::string& environment = "") {
  const temporary_file file;
  const int status = run_program(program, words, environment, file.path).result();
  std::ifstream in(file.path);
  return {{std::istreambuf_iterator<char>(in), {}}, status};
}

// The next line with a part, past empty ones; "" when there is none among many.
inline std::string line_with(real::process& of, const std::string& part) {
  for (int lines = 0; lines < 1000; ++lines)
    if (const std::string line = of.line(); line.find(part) != line.npos) return line;
  return "";
}

// A pinion_server that serves, when this has been made.
class server_program : public real::process {
 public:
  explicit server_program(const std::vector<std::string>& words, const std::string& environment = "")
      : process(run_program(PINION_TEST_SERVER, words, environment)), target_(line()) {}
  const std::string& target() const { return target_; }

 private:
  std::string target_;
};

// "ps=127.1.2.3:4000;worker=..." of a cluster of free addresses.
inline std::string words_of(const pinion::cluster_spec& spec) {
  std::string text;
  for (const auto& job : spec.jobs()) {
    text += (text.empty() ? "" : ";") + job;
    for (const int task : spec.task_indices(job)) text += (task == 0 ? "=" : ",") + spec.address(job, task);
  }
  return text;
}
