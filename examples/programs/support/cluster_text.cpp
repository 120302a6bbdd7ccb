#include "cluster_text.hpp"

#include <cstdint>
#include <cstdlib>
#include <set>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <pinion/base/error.hpp>
#include <pinion/files/input_file.hpp>

namespace {

using nlohmann::json;
using pinion::errc;
using pinion::error;

constexpr auto blanks = " \t\r\n";
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";  // some editors put it before UTF-8

std::string trimmed(const std::string& text) {
  const auto from = text.find_first_not_of(blanks);
  return from == text.npos ? "" : text.substr(from, text.find_last_not_of(blanks) + 1 - from);
}

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw error(errc::invalid_argument,
              "'" + text.substr(0, 200) + "' is no cluster: " + why +
                  "; a cluster is written as ps=host:port;worker=host:port,host:port or as JSON, as in TF_CONFIG");
}

// The parts of a text between separators.
std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(separator, at), text.size());
    all.push_back(trimmed(text.substr(at, end - at)));
    at = end + 1;
  }
  return all;
}

// A number of a task, in digits alone.
bool is_task_number(const std::string& text) {
  return !text.empty() && text.size() <= 9 && text.find_first_not_of("0123456789") == text.npos;
}

pinion::cluster_spec read_words(const std::string& text) {
  pinion::cluster_spec cluster;
  for (const std::string& part : parts_of(text, ';')) {
    if (part.empty()) continue;
    const auto equals = part.find('=');
    if (equals == part.npos) refuse(text, "'" + part + "' is not of the form job=host:port");
    const std::vector<std::string> name = parts_of(part.substr(0, equals), ':');  // "worker", or "worker:3"
    if (name.size() > 2 || (name.size() == 2 && !is_task_number(name[1])))
      refuse(text, "'" + part + "' is not of the form job=host:port or job:number=host:port");
    const std::string& job = name[0];
    int task = name.size() == 2 ? std::stoi(name[1]) : 0;
    for (const std::string& address : parts_of(part.substr(equals + 1), ',')) cluster.add_task(job, task++, address);
  }
  if (cluster.jobs().empty()) refuse(text, "it has no jobs");
  return cluster;
}

void add_job(pinion::cluster_spec& to, const std::string& job, const json& tasks, const std::string& text) {
  to.add_job(job);
  if (tasks.is_array()) {
    int task = 0;
    for (const json& address : tasks) to.add_task(job, task++, address.get<std::string>());
  } else if (tasks.is_object()) {
    for (const auto& [number, address] : tasks.items()) {
      if (!is_task_number(number)) refuse(text, "'" + number + "' is no number of a task");
      to.add_task(job, std::stoi(number), address.get<std::string>());
    }
  } else {
    refuse(text, "the tasks of job '" + job + "' are neither a list nor an object");
  }
}

// JSON in which no object has a key twice: the parser would take the last one without a word.
json parse(const std::string& text) {
  std::vector<std::set<std::string>> keys;
  return json::parse(text, [&](int, json::parse_event_t event, const json& value) {
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second)
      refuse(text, "it has '" + value.get<std::string>() + "' twice");
    return true;
  });
}

// TensorFlow takes the number of a task as a text as well.
int task_number(const json& index, const std::string& text) {
  if (index.is_structured())  // it may be too deep to be told
    refuse(text, "the task's index is an " + std::string(index.type_name()) + ", and not a number like 0");
  const std::string said = index.is_string() ? index.get<std::string>() : index.dump();
  if (!is_task_number(said)) refuse(text, "the task's index is " + index.dump() + ", and not a number like 0");
  return std::stoi(said);
}

cluster_text read_json(const std::string& text) try {
  const json all = parse(text);
  // Kubeflow's jobs of varying size tell a task of itself and of the ps alone, under another name.
  const char* const key = all.contains("sparseCluster") ? "sparseCluster" : "cluster";
  const json& jobs = all.contains(key) ? all.at(key) : all;
  if (!jobs.is_object()) refuse(text, "the cluster is not an object of jobs");
  if (&jobs == &all && all.contains("task") && all.at("task").is_object() && all.at("task").contains("type"))
    refuse(text, "it tells a task, and no cluster of which that is one");
  cluster_text result;
  for (const auto& [job, tasks] : jobs.items()) add_job(result.cluster, job, tasks, text);
  if (!all.contains(key) || !all.contains("task")) return result;
  const json& task = all.at("task");
  if (!task.is_object() || !task.contains("type") || !task.at("type").is_string() || !task.contains("index"))
    refuse(text, R"(its task is not of the form {"type": "worker", "index": 0})");
  result.job = task.at("type").get<std::string>();
  result.task = task_number(task.at("index"), text);
  if (result.job == "evaluator" && !jobs.contains("evaluator"))
    refuse(text,
           "its task is the evaluator, which is none of the cluster's and runs no server: it restores checkpoints "
           "in a session of its own");
  return result;
} catch (const json::exception& e) {
  refuse(text, e.what());
}

std::string file_text(const std::string& name) {
  constexpr std::uint64_t most = std::uint64_t{16} << 20;
  const pinion::files::input_file file(name);
  if (file.size() > most) throw error(errc::invalid_argument, "'" + name + "' has more than 16 MiB, and is no cluster");
  return file.whole();
}

cluster_text read_text(std::string text) {
  if (text.starts_with(byte_order_mark)) text = trimmed(text.substr(byte_order_mark.size()));
  if (text.starts_with("{")) return read_json(text);
  return {read_words(text), "", std::nullopt};
}

// An error tells nothing of what is in the file: it may be that of a key.
cluster_text read_file(const std::string& name) {
  const std::string text = trimmed(file_text(name));
  try {
    return read_text(text);
  } catch (const error& e) {
    throw error(e.code(), "the file '" + name +
                              "' is no cluster, or has a fault: a cluster is written as ps=host:port;" +
                              "worker=host:port,host:port or as JSON, as in TF_CONFIG; given in place of @" + name +
                              ", its text is told what is wrong with it");
  }
}

std::string environment_text() {
  for (const char* name : {"PINION_CLUSTER", "TF_CONFIG"})
    if (const char* text = std::getenv(name); text && *text) return text;
  throw error(errc::not_found, "neither PINION_CLUSTER nor TF_CONFIG tells a cluster");
}

}  // namespace

cluster_text read_cluster(const std::string& given) {
  const std::string text = trimmed(given == "env" ? environment_text() : given);
  return text.starts_with("@") ? read_file(text.substr(1)) : read_text(text);
}
