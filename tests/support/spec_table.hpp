// The tables of exact cases (tests/data/spec), read as rows; a row of any other form is an error that names its line.
#pragma once

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <pinion/base/error.hpp>
#include <pinion/spec/device_spec.hpp>

namespace spec_table {

// input, then what pinion and the two grammars of TensorFlow 1.15 make of it: a canonical text, <empty> or ERROR.
struct parse_row {
  int line;
  std::string input, pinion, front_end, runtime;
};

// Nested scopes, outermost first, and the requested device of an op built innermost.
struct merge_row {
  int line;
  std::vector<std::string> scopes;
  std::string pinion, tensorflow, op_type, note;
};

// The ops built under a replica_device_setter, each as Type[extra]@scopes, and the requested device of each.
struct setter_row {
  int line;
  std::string arguments;
  std::vector<std::string> operations, expected;
  std::string note;
};

// The project's own copies, and the folder to run, which the environment may replace by a larger set.
inline std::string own_folder() {
  return PINION_TEST_SPEC_DIR;
}
inline std::string folder() {
  const char* given = std::getenv("PINION_SPEC_DIR");
  return given && *given ? given : own_folder();
}

inline std::vector<std::string> split(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  for (auto at = text.find(separator); at != text.npos; at = text.find(separator)) {
    parts.emplace_back(text.substr(0, at));
    text.remove_prefix(at + separator.size());
  }
  parts.emplace_back(text);
  return parts;
}

// What a cell stands for.
inline std::string text_of(std::string_view cell) {
  return cell == "<empty>" ? "" : std::string(cell);
}

namespace detail {

struct cells {
  int line;
  std::vector<std::string> at;
};

// The rows of a file: comments stand only above the first one, and empty trailing columns may be left out.
inline std::vector<cells> read(const std::string& path, std::size_t required, std::size_t columns) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::vector<cells> rows;
  int line = 0;
  for (std::string text; std::getline(file, text);) {
    ++line;
    if (text.empty() || (rows.empty() && text.front() == '#')) continue;
    cells row{line, split(text, "\t")};
    if (row.at.size() < required || row.at.size() > columns)
      throw std::runtime_error(path + ":" + std::to_string(line) + ": not a row of this table: " + text);
    row.at.resize(columns);
    rows.push_back(row);
  }
  if (rows.empty()) throw std::runtime_error(path + " has no rows");
  return rows;
}

}  // namespace detail

inline std::vector<parse_row> parse_rows(const std::string& folder) {
  std::vector<parse_row> rows;
  for (const auto& [line, at] : detail::read(folder + "/device_parse.tsv", 4, 4))
    rows.push_back({line, text_of(at[0]), at[1], at[2], at[3]});
  return rows;
}

inline std::vector<merge_row> merge_rows(const std::string& folder) {
  std::vector<merge_row> rows;
  for (const auto& [line, at] : detail::read(folder + "/device_merge.tsv", 4, 5)) {
    const auto scopes = at[0] == "<no scope>" ? std::vector<std::string>() : split(at[0], " ; ");
    rows.push_back({line, scopes, at[1], at[2], at[3], at[4]});
  }
  return rows;
}

inline std::vector<setter_row> setter_rows(const std::string& folder) {
  std::vector<setter_row> rows;
  for (const auto& [line, at] : detail::read(folder + "/replica_setter.tsv", 3, 4))
    rows.push_back({line, at[0], split(at[1], " , "), split(at[2], " , "), at[3]});
  return rows;
}

// The device that a 'spec:k=v,..' scope names.
inline pinion::device_spec spec_of(std::string_view token) {
  std::string job, type;
  int replica = -1, task = -1, index = -1;
  for (const std::string& pair : split(token.substr(token.find(':') + 1), ",")) {
    const std::string key = pair.substr(0, pair.find('=')), value = pair.substr(pair.find('=') + 1);
    if (key == "job")
      job = value;
    else if (key == "device_type")
      type = value;
    else if (key == "replica")
      replica = std::stoi(value);
    else if (key == "task")
      task = std::stoi(value);
    else if (key == "device_index")
      index = std::stoi(value);
    else
      throw std::runtime_error("not a field of a device_spec: '" + pair + "' in '" + std::string(token) + "'");
  }
  return pinion::device_spec{}.with_job(job).with_replica(replica).with_task(task).with_type(type).with_index(index);
}

// What a cell says about making a spec: its canonical text, "<empty>", or "ERROR" where it is refused.
template <class Make>
std::string outcome(Make make) {
  try {
    const std::string text = to_string(pinion::device_spec(make()));
    return text.empty() ? "<empty>" : text;
  } catch (const pinion::error& e) {
    if (e.code() != pinion::errc::invalid_argument) throw;
    return "ERROR";
  }
}

}  // namespace spec_table
