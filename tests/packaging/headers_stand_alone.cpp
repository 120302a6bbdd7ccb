// Compiles each header as the first thing that a unit includes, but not in a unit of its own: a header may stand behind
// those that it would bring itself, since what is before it then is the same. So one unit serves a chain of headers,
// each of which brings the one before it; and what the first of a chain brings may have been compiled before.
//
//   headers_stand_alone <include/pinion> <folder for the units> <compiler and its options>...
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "../structure/house.hpp"

namespace {

using brought = std::map<std::string, house::names>;  // by each header

// A header that is precompiled, or none, and those behind it, each of which brings the one before.
struct chain {
  std::string base;
  std::vector<std::string> headers;
};

// The headers that it pays most to precompile, the time of a header being taken for the number of those that it brings.
std::vector<std::string> bases_of(const brought& by) {
  std::map<std::string, std::size_t> saved;  // for each header, by the bases so far
  std::vector<std::string> bases;
  while (bases.size() < 6) {
    std::map<std::string, std::size_t> gains;
    for (const auto& [path, brings] : by)
      for (const std::string& base : brings)
        if (const auto found = by.find(base); found != by.end() && found->second.size() > saved[path])
          gains[base] += found->second.size() - saved[path];
    const auto best =
        std::max_element(gains.begin(), gains.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    if (best == gains.end()) break;
    bases.push_back(best->first);
    for (const auto& [path, brings] : by)
      if (brings.contains(bases.back())) saved[path] = std::max(saved[path], by.at(bases.back()).size());
  }
  return bases;
}

// The largest of the bases that a header brings; empty if it brings none.
std::string base_of(const std::string& path, const std::vector<std::string>& bases, const brought& by) {
  std::string largest;
  for (const std::string& base : bases)
    if (by.at(path).contains(base) && (largest.empty() || by.at(largest).size() < by.at(base).size())) largest = base;
  return largest;
}

// Chains in which each header is once.
std::vector<chain> chains_of(const brought& by, const std::vector<std::string>& bases) {
  std::vector<std::string> smallest_first;
  for (const auto& [path, brings] : by) smallest_first.push_back(path);
  const auto size_of = [&](const std::string& path) { return by.at(path).size(); };
  std::stable_sort(smallest_first.begin(), smallest_first.end(),
                   [&](const auto& a, const auto& b) { return size_of(a) < size_of(b); });
  std::vector<chain> chains;
  for (const std::string& path : smallest_first) {
    const std::string base = base_of(path, bases, by);
    chain* longest = nullptr;
    for (chain& c : chains)
      if (c.base == base && by.at(path).contains(c.headers.back()) &&
          (!longest || size_of(longest->headers.back()) < size_of(c.headers.back())))
        longest = &c;
    if (!longest) longest = &chains.emplace_back(chain{base, {}});
    longest->headers.push_back(path);
  }
  return chains;
}

// A compiler with its options, and the folder of its units.
class checker {
 public:
  checker(std::filesystem::path folder, std::string command)
      : folder_(std::move(folder)), command_(std::move(command)) {}

  // Both return the words of the compiler about a unit; empty where it takes it.
  std::string precompile(const std::string& path) const {
    const std::string unit = file_of(path);
    return refusal(unit, {path}, "-x c++-header '" + unit + "' -o '" + unit + ".gch'");
  }
  std::string check(const chain& c) const {
    const std::string unit = file_of(c.headers.back()) + ".cpp";
    return refusal(unit, c.headers,
                   "-fsyntax-only " + (c.base.empty() ? "" : "-include '" + file_of(c.base) + "' ") + "'" + unit + "'");
  }

 private:
  std::string file_of(std::string path) const {
    std::replace(path.begin(), path.end(), '/', '.');
    return (folder_ / path).string();
  }
  std::string refusal(const std::string& unit, const std::vector<std::string>& headers, const std::string& what) const {
    {
      std::ofstream out{unit};
      for (const std::string& path : headers) out << "#include <pinion/" << path << ">\n";
    }
    const std::string said = unit + ".txt";
    if (std::system((command_ + what + " > '" + said + "' 2>&1").c_str()) == 0) return "";
    return house::text_of(said) + "in the unit of\n" + house::text_of(unit);
  }

  const std::filesystem::path folder_;
  const std::string command_;
};

// Prints the refusals of so many units, of which two are compiled at a time. Returns how many there are.
template <class Unit>
std::size_t refused_of(std::size_t count, const Unit& unit) {
  std::vector<std::string> refusals(count);
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i; (i = next++) < count;) refusals[i] = unit(i);
  };
  {
    const std::jthread beside(work);
    work();
  }
  for (const std::string& refusal : refusals) std::cout << refusal;
  return count - std::size_t(std::count(refusals.begin(), refusals.end(), ""));
}

}  // namespace

int main(int count, char** words) {
  if (count < 4) return 2;
  house::headers all = house::read(words[1], {".hpp"});
  if (!PINION_HAS_DISTRIBUTED)
    std::erase_if(all, [](const auto& h) {
      return h.first.starts_with("distributed") || h.first.starts_with("rpc/") || h.first.starts_with("netsim/");
    });
  brought by;
  for (const auto& [path, header] : all) by[path] = house::closure(all, path);
  const std::vector<std::string> bases = bases_of(by);
  const std::vector<chain> chains = chains_of(by, bases);

  std::filesystem::create_directories(words[2]);
  std::string command;
  for (int i = 3; i < count; ++i) command += "'" + std::string(words[i]) + "' ";
  const checker compiler(words[2], command);
  if (refused_of(bases.size(), [&](std::size_t i) { return compiler.precompile(bases[i]); }) != 0) return 1;
  const std::size_t refused = refused_of(chains.size(), [&](std::size_t i) { return compiler.check(chains[i]); });
  std::cout << all.size() << " headers stand alone, but for those of " << refused << " of " << chains.size()
            << " units\n";
  return refused == 0 && all.size() > 500 ? 0 : 1;
}
