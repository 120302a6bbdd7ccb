// The cases of placer_cases.md, read as data; what has any other form is an error that names its line.
#pragma once

#include <fstream>
#include <map>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/spec_table.hpp"

namespace spec_table {

// A row of the op catalogue.
struct op_row {
  std::map<std::string, int> kernels;        // device type -> priority
  std::vector<std::string> inputs, outputs;  // f, i, ref or res
  bool metadata = false;
};

// `name = Op(inputs) @request loc:group =assigned ^control`
struct node_row {
  std::string name, op, request, assigned;
  std::vector<std::string> inputs, groups, controls;
};

struct placer_case {
  std::string name;
  int line = 0;
  std::vector<std::string> devices = {};
  bool soft = false;
  std::string master = {}, local = {}, first = {};
  std::vector<node_row> graph = {};
  std::string expected = {};   // the `pinion` line where there is one
  bool tells_dropped = false;  // a line is logged for what is dropped
};

struct placer_file {
  std::map<std::string, op_row> ops;
  std::vector<placer_case> cases;
};

// Reads the file once, from the top.
class placer_reader {
 public:
  explicit placer_reader(const std::string& path) : path_(path), file_(path) {
    if (!file_) throw std::runtime_error("cannot read " + path);
  }

  placer_file read() {
    for (std::string text; std::getline(file_, text);) {
      ++line_;
      if (text.rfind("## ", 0) == 0)
        begin(text.substr(3));
      else if (section_ == catalogue && text.rfind("| ", 0) == 0)
        op(text);
      else if (section_ == one_case && !text.empty())
        in_case(text);
    }
    for (const placer_case& c : all_.cases)
      if (c.graph.empty() || c.expected.empty()) throw std::runtime_error(path_ + ": " + c.name + " is not complete");
    return std::move(all_);
  }

 private:
  [[noreturn]] void fail(const std::string& text) const {
    throw std::runtime_error(path_ + ":" + std::to_string(line_) + ": not a line of a placer case: " + text);
  }

  void begin(const std::string& title) {
    section_ = title == "Op catalogue" ? catalogue : one_case;
    if (section_ == catalogue) return;
    if (!std::regex_match(title, std::regex("P[0-9]+.*"))) fail(title);
    all_.cases.push_back({.name = title, .line = line_});
  }

  void op(const std::string& text) {
    std::vector<std::string> cells = split(text.substr(2, text.rfind('|') - 2), " | ");
    for (auto& c : cells) c = trimmed(c);
    if (cells.size() < 4) fail(text);
    if (cells[0] == "op") return;
    op_row row;
    if (cells[1] != "none")
      for (const auto& type : split(cells[1], ", ")) row.kernels[type] = 0;
    row.inputs = list(cells[2]);
    row.outputs = list(cells[3]);
    const std::string note = cells.size() > 4 ? cells[4] : "";
    row.metadata = note.find("metadata op") != note.npos;
    if (const auto at = note.find("kernel priorities "); at != note.npos)
      for (const auto& pair : split(note.substr(at + 18), ", ")) {
        const auto words = split(pair, " ");
        if (words.size() != 2) fail(text);
        row.kernels.at(words[0]) = std::stoi(words[1]);
      }
    all_.ops[cells[0]] = row;
  }

  void in_case(const std::string& text) {
    placer_case& c = all_.cases.back();
    if (text.rfind("  - `", 0) == 0 && text.back() == '`') {
      c.graph.push_back(node(text.substr(5, text.size() - 6)));
      return;
    }
    const auto colon = text.find(':');
    if (text.rfind("- ", 0) != 0 || colon == text.npos) fail(text);
    const std::string key = text.substr(2, colon - 2), value = trimmed(text.substr(colon + 1));
    if (key == "devices")
      c.devices = value == "(none)" ? std::vector<std::string>() : split(value, ", ");
    else if (key == "soft placement")
      c.soft = value == "on" || (value != "off" && (fail(text), false));
    else if (key == "master")
      c.master = value;
    else if (key == "local process device")
      c.local = value;
    else if (key == "default local device")
      c.first = value;
    else if (key == "expect") {
      if (c.expected.empty()) c.expected = value;
    } else if (key == "pinion")
      c.expected = value;
    else if (key == "note")
      c.tells_dropped = value.find("one line per dropped request") != value.npos;
    else if (key != "source" && key != "why" && !(key == "graph" && value.empty()))
      fail(text);
  }

  node_row node(const std::string& text) const {
    std::smatch m;
    if (!std::regex_match(text, m, std::regex(R"((\S+) = (\w+)\(([^)]*)\)(.*))"))) fail(text);
    node_row n{
        .name = m[1], .op = m[2], .request = {}, .assigned = {}, .inputs = list(m[3]), .groups = {}, .controls = {}};
    for (const auto& word : split(trimmed(m[4]), " ")) {
      if (word.empty()) continue;
      if (word[0] == '@')
        n.request = word.substr(1);
      else if (word[0] == '=')
        n.assigned = word.substr(1);
      else if (word[0] == '^')
        n.controls.push_back(word.substr(1));
      else if (word.rfind("loc:", 0) == 0)
        n.groups.push_back(word.substr(4));
      else
        fail(text);
    }
    return n;
  }

  static std::vector<std::string> list(const std::string& cell) {
    return cell.empty() || cell == "-" ? std::vector<std::string>() : split(cell, ", ");
  }
  static std::string trimmed(const std::string& text) {
    const auto from = text.find_first_not_of(' ');
    return from == text.npos ? "" : text.substr(from, text.find_last_not_of(' ') - from + 1);
  }

  const std::string path_;
  std::ifstream file_;
  int line_ = 0;
  enum { preamble, catalogue, one_case } section_ = preamble;
  placer_file all_;
};

inline placer_file placer_cases(const std::string& folder) {
  return placer_reader(folder + "/placer_cases.md").read();
}

}  // namespace spec_table
