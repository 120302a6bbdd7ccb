// The layered house: which folder may see which, what an umbrella header may bring, how a file begins.
#include "house.hpp"

#include <catch2/catch.hpp>

#include <cstdio>
#include <sstream>
#include <string>

namespace {

const house::headers tree = house::read(PINION_TEST_SOURCE_DIR "/include/pinion");

// The house from the ground up. A room sees those of lower floors; rooms of one floor do not see each other.
const std::vector<house::names> house_plan{
    {"base"},
    {"spec", "tensor", "scalar", "rpc/transport"},
    {"device", "graph", "files", "distributed/report", "rpc/security"},
    {"device/cuda", "data", "rpc/shared_memory"},
    {"opkit", "rpc"},
    {"state", "op/summary", "op/transfer"},
    {"dsl"},
    {"op/convert", "op/source", "op/layout", "op/matmul"},
    {"op/elementwise", "op/conv", "op/einsum", "op/slice"},
    {"op/reduce", "op/sync", "op/variable"},
    {"op/control", "op/gather", "op/random", "place", "placement/policy"},
    {"op/attention", "op/band", "op/bits", "op/ctc", "op/distribution", "op/layer", "op/nn", "op/norm", "op/order",
     "op/queue", "op/recurrent", "op/resize", "op/scatter", "op/strided", "op/volume"},
    {"op/dynamic", "op/rows", "op/search"},
    {"op", "nn"},
    {"autodiff", "placement", "runtime/check"},
    {"placement/cost", "runtime/step"},
    {"placement/plan"},
    {"runtime/optimize", "distributed/wire", "train/summary"},
    {"runtime"},
    {"distributed/worker", "train", "train/checkpoint"},
    {"distributed/master", "train/hooks", "train/optimizers"},
    {"distributed/client", "train/replicas", "train/session"},
    {"distributed/server"},
    {"distributed/status", "netsim"},
};
const std::map<std::string, int> floors = [] {
  std::map<std::string, int> all;
  for (std::size_t floor = 0; floor < house_plan.size(); ++floor)
    for (const std::string& room : house_plan[floor]) all[room] = static_cast<int>(floor);
  return all;
}();

// An umbrella header sees wings of the house, and other umbrella headers.
const house::names graph_rooms{"base", "spec", "tensor", "scalar",   "graph", "opkit",    "state",
                               "dsl",  "op",   "nn",     "autodiff", "place", "placement"};
const house::names session_rooms{"device", "runtime", "graph.hpp"};
const std::map<std::string, house::names> umbrellas{
    {"graph.hpp", {}},
    {"session.hpp", session_rooms},
    {"distributed.hpp", {"rpc", "distributed", "device", "runtime", "graph.hpp", "session.hpp"}},
    {"train.hpp", {"train", "files", "data", "device", "runtime", "graph.hpp", "session.hpp"}},
    {"pinion.hpp", {"graph.hpp", "session.hpp", "distributed.hpp", "train.hpp"}},
    {"cuda.hpp", {"device", "runtime", "graph.hpp", "session.hpp"}},
};

bool may_see(const std::string& from, const std::string& to) {
  const std::string here = house::room(from), there = house::room(to);
  if (here.empty()) {
    const house::names& more = umbrellas.at(from);
    const std::string what = there.empty() ? to : house::wing(to);
    return more.contains(what) || (from != "pinion.hpp" && graph_rooms.contains(what));
  }
  return !there.empty() && (here == there || floors.at(there) < floors.at(here));
}

// The names of what `from` brings that match one of the patterns.
std::string brought(const std::string& from, const std::string& pattern) {
  std::string result;
  for (const std::string& name : house::closure(tree, from)) {
    if (std::regex_match(name, std::regex{pattern})) result += from + " brings " + name + "\n";
  }
  return result;
}

// The first circle found in a relation, as "a -> b -> a", or "".
std::string circle(const std::map<std::string, house::names>& relation) {
  std::map<std::string, int> state;  // 1: on the path, 2: done
  std::vector<std::string> path;
  std::string result;
  const std::function<void(const std::string&)> visit = [&](const std::string& name) {
    state[name] = 1;
    path.push_back(name);
    if (const auto found = relation.find(name); found != relation.end()) {
      for (const std::string& next : found->second) {
        if (!result.empty()) return;
        if (state[next] == 0) visit(next);
        if (state[next] == 1 && result.empty()) {
          for (auto at = std::find(path.begin(), path.end(), next); at != path.end(); ++at) result += *at + " -> ";
          result += next;
        }
      }
    }
    path.pop_back();
    state[name] = 2;
  };
  for (const auto& [name, unused] : relation) {
    if (state[name] == 0 && result.empty()) visit(name);
  }
  return result;
}

// The members of the options structs of a header that stand behind their `name`, as "dense_options: seed is behind
// name".
std::string behind_the_name(const house::header& h) {
  // A program binds designators to the order: those of variables begin with the name for good.
  static const house::names by_contract{"variable_options", "partitioned_variable_options"};
  static const std::regex opening{R"(\s*struct (\w+_options) \{)"}, member{R"(\s+[\w:<>, ]+\s(\w+)( = [^;]*)?;.*)"};
  std::string result, within;
  bool named = false;
  for (const std::string& line : h.lines) {
    std::smatch match;
    if (std::regex_match(line, match, opening)) {
      within = match[1];
      named = false;
    } else if (line == "};") {
      within.clear();
    } else if (!within.empty() && !by_contract.contains(within) && std::regex_match(line, match, member)) {
      if (named && match[1] != "shared_name") result += within + ": " + match.str(1) + " is behind name\n";
      named |= match[1] == "name";
    }
  }
  return result;
}

}  // namespace

TEST_CASE("every file lives in a room with a floor or is a known umbrella, and no room is empty") {
  std::string homeless;
  house::names inhabited;
  for (const auto& [path, unused] : tree) {
    const std::string room = house::room(path);
    if (!(room.empty() ? umbrellas.contains(path) : floors.contains(room))) homeless += path + "\n";
    inhabited.insert(room);
  }
  CHECK(homeless == "");
  for (const auto& [room, unused] : floors) CHECK((inhabited.contains(room) ? "" : room) == "");
}

TEST_CASE("a header includes its own room and lower floors only") {
  std::string offences;
  for (const auto& [path, header] : tree) {
    for (const std::string& other : header.own) {
      if (!tree.contains(other)) {
        offences += path + " includes " + other + ", which does not exist\n";
      } else if (!may_see(path, other)) {
        offences += path + " must not include " + other + "\n";
      }
    }
  }
  CHECK(offences == "");
}

TEST_CASE("bodies stand beside a header that brings them in header-only mode, and in one unit of the library") {
  const house::headers units = house::read(PINION_TEST_SOURCE_DIR "/cmake/compiled", {".cpp"});
  std::string offences;
  for (const auto& [path, unused] : tree) {
    if (!house::is_bodies(path)) continue;
    const auto brings = [&](const auto& file) {
      return std::count(file.second.bodies.begin(), file.second.bodies.end(), path);
    };
    const auto compiles = [&](const auto& file) { return file.second.own.contains(path); };
    if (std::count_if(tree.begin(), tree.end(), brings) != 1) offences += path + " is not brought by one header\n";
    if (std::count_if(units.begin(), units.end(), compiles) != 1) offences += path + " is not compiled by one unit\n";
  }
  CHECK(offences == "");
}

TEST_CASE("the forecast of a build has the seconds of each unit of the library, and of no other") {
  house::names units, timed;
  for (const auto& [path, unused] : house::read(PINION_TEST_SOURCE_DIR "/cmake/compiled", {".cpp"}))
    if (path.find('/') == path.npos) units.insert(path.substr(0, path.rfind('.')));
  std::istringstream seconds(house::text_of(PINION_TEST_SOURCE_DIR "/cmake/compiled/seconds.txt"));
  std::string unit;
  for (int taken = 0; seconds >> unit >> taken;) {
    CHECK(taken > 0);
    timed.insert(unit);
  }
  CHECK(timed == units);
}

TEST_CASE("whichever header comes first, bodies are read when all that they include has been") {
  std::string offences;
  for (const auto& [path, unused] : tree)
    if (!house::is_bodies(path)) offences += house::read_too_early(tree, path);
  CHECK(offences == "");
}

TEST_CASE("headers include each other in no circle, nor do folders") {
  std::map<std::string, house::names> files, folders;
  for (const auto& [path, header] : tree) {
    files[path] = header.own;
    for (const std::string& other : header.own) {
      const std::string here = house::room(path), there = house::room(other);
      if (here != there) folders[here].insert(there);
    }
  }
  CHECK(circle(files) == "");
  CHECK(circle(folders) == "");
}

TEST_CASE("an umbrella header brings no more than promised") {
  const std::string network = "<asio.*|rpc/.*|distributed/.*", archives = "<(cereal|protozero)/.*";
  const std::string nvcc = ".*[.]cuh|<cuda.*|<thrust/.*";
  const std::string threads =
      "<(thread|mutex|shared_mutex|condition_variable|future|semaphore|latch|barrier|stop_token)>|base/thread_pool.hpp";
  const std::string files = "<(filesystem|fstream|iostream)>";
  const std::string tables =
      "graph/attribute_value.hpp|placement/(.*_tables|.*_pool|group_builder|unmet_request|candidates).hpp";
  const std::string engine =
      "device/(cpu|sim).hpp|runtime/(optimize/.*|step/(executor|partition).hpp|direct_session.hpp)";
  const std::string declared = network + "|" + archives + "|" + nvcc + "|" + files + "|" + tables + "|" + engine;
  CHECK(brought("graph.hpp", declared + "|" + threads) == "");
  CHECK(brought("session.hpp", declared + "|" + threads) == "");
  const std::string bodies = "rpc/.*|distributed/(wire|master|worker)/.*|.*/task_server.hpp|<asio.*|" + archives;
  CHECK(brought("train.hpp", network + "|" + nvcc + "|" + tables + "|" + engine + "|" + bodies) == "");
  CHECK(brought("pinion.hpp", nvcc + "|" + tables + "|" + engine + "|" + bodies) == "");
  CHECK(brought("cuda.hpp", network) == "");
}

TEST_CASE("the library's units of CUDA C++ see kernels alone, and nothing of graphs, the runtime and the network") {
  const std::regex kernels(
      "device/cuda/.*|op/[a-z]+/cuda_.*|op/random/(bits|philox).hpp|base/(dtype|half).hpp|scalar/"
      "(opcode|compute|lane).hpp|<(?!asio).*");
  const house::headers units = house::read(PINION_TEST_SOURCE_DIR "/cmake/compiled/cuda", {".cu"});
  CHECK(units.size() > 10);
  std::string offences;
  for (const auto& [unit, read] : units)
    for (const std::string& header : read.own) {
      house::names all = house::closure(tree, header);
      all.insert(header);
      for (const std::string& name : all)
        if (!std::regex_match(name, kernels)) offences += unit + " brings " + name + "\n";
    }
  CHECK(offences == "");
}

TEST_CASE("Asio is met in rpc alone, Cereal in rpc and distributed") {
  std::string offences;
  for (const auto& [path, header] : tree) {
    const std::string room = house::wing(path);
    for (const std::string& name : header.foreign) {
      const bool asio = name.starts_with("asio"), cereal = name.starts_with("cereal/");
      if ((asio || cereal) && room != "rpc" && !(cereal && room == "distributed"))
        offences += path + ": " + name + "\n";
    }
  }
  CHECK(offences == "");
}

TEST_CASE("a header says what it is, is read once, and names its includes and nothing else") {
  std::string offences;
  for (const auto& [path, header] : tree) {
    const auto& lines = header.lines;
    const auto begins = [&](const char* with) {
      return std::any_of(lines.begin(), lines.end(), [=](const std::string& line) { return line.starts_with(with); });
    };
    if (lines.empty() || !lines[0].starts_with("// ")) offences += path + " does not begin with what it is\n";
    if (!begins("#pragma once")) offences += path + " has no #pragma once\n";
    if (begins("#include \"")) offences += path + " includes \"...\", not <pinion/...>\n";
    if (begins("using namespace")) offences += path + " says using namespace\n";
    const bool knows_mode = header.own.contains("base/config.hpp") || path == "base/config.hpp";
    if (begins("#if PINION_HEADER_ONLY") && !knows_mode) offences += path + " does not include base/config.hpp\n";
  }
  CHECK(offences == "");
}

TEST_CASE("a file that names errors, or formats text, includes what has them") {
  const auto names_it = [](const house::header& h, const std::regex& what) {
    return std::any_of(h.lines.begin(), h.lines.end(), [&](const std::string& line) {
      return line.find("//") == std::string::npos && std::regex_search(line, what);
    });
  };
  const std::regex errors{R"(\berrc::)"}, text{R"(\bfmt::(format|print|join)\b)"};
  for (const auto& [path, header] : tree) {
    house::names all = house::closure(tree, path);
    all.insert(path);
    const auto has_fmt = [](const std::string& one) {
      const auto found = tree.find(one);
      return found != tree.end() && found->second.foreign.contains("fmt/format.h");
    };
    INFO(path);
    if (names_it(header, errors)) CHECK(all.contains("base/error.hpp"));
    if (names_it(header, text)) CHECK(std::any_of(all.begin(), all.end(), has_fmt));
  }
}

TEST_CASE("a list in a comment is whole: what continues an item stands below its text") {
  static const std::regex item{R"(\s*//   [0-9]+\. .*)"}, more{R"(\s*//      .*)"}, stray{R"(\s*//   \S.*)"};
  std::string broken;
  for (const auto& [path, header] : tree) {
    bool within = false;
    for (const std::string& line : header.lines) {
      const bool before = within;
      within = std::regex_match(line, item) || (before && std::regex_match(line, more));
      if (before && !within && std::regex_match(line, stray)) broken += path + ": " + line + "\n";
    }
  }
  CHECK(broken == "");
}

TEST_CASE("files stay small") {
  const auto longest = std::max_element(tree.begin(), tree.end(), [](const auto& a, const auto& b) {
    return a.second.lines.size() < b.second.lines.size();
  });
  const std::size_t most = longest->second.lines.size();
  std::printf("%zu headers, %zu lines at most (%s)\n", tree.size(), most, longest->first.c_str());
  CHECK(most <= 480);
}

TEST_CASE("options are written in one order: the name is the last of them") {
  static const house::names written_by_users{"dsl", "op", "nn", "train"};
  std::string found;
  for (const auto& [name, header] : tree)
    if (written_by_users.contains(house::wing(name))) found += behind_the_name(header);
  CHECK(found == "");
  CHECK(behind_the_name(house::header{
            {"struct odd_options {", "  std::string name = {};", "  int seed = 0;", "};"}, {}, {}, {}, {}}) ==
        "odd_options: seed is behind name\n");
}
