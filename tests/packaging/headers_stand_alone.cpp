// Compiles each header as the first thing that a unit includes, but not in a unit of its own: a header may stand behind
// those that it would bring itself, since what is before it then is the same. So one unit serves a chain of headers,
// each of which brings the one before it.
//
//   headers_stand_alone <include/pinion> <folder for the units> <compiler and its options>...
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <thread>
#include <vector>

#include "../structure/house.hpp"

namespace {

using chain = std::vector<std::string>;

// Chains in which each header of a library is once, those of rooms that are left out excepted.
std::vector<chain> chains_of(const house::headers& all) {
  std::map<std::string, house::names> brings;
  std::vector<std::string> smallest_first;
  for (const auto& [path, header] : all) {
    brings[path] = house::closure(all, path);
    smallest_first.push_back(path);
  }
  std::stable_sort(smallest_first.begin(), smallest_first.end(),
                   [&](const auto& a, const auto& b) { return brings[a].size() < brings[b].size(); });
  std::vector<chain> chains;
  for (const std::string& path : smallest_first) {
    chain* longest = nullptr;
    for (chain& c : chains)
      if (brings[path].contains(c.back()) && (!longest || brings[longest->back()].size() < brings[c.back()].size()))
        longest = &c;
    if (!longest) longest = &chains.emplace_back();
    longest->push_back(path);
  }
  return chains;
}

// The words of the compiler about the unit of a chain; empty where it takes it.
std::string refusal(const chain& headers, const std::filesystem::path& unit, const std::string& command) {
  {
    std::ofstream out{unit};
    for (const std::string& path : headers) out << "#include <pinion/" << path << ">\n";
  }
  const std::string said = unit.string() + ".txt";
  if (std::system((command + " '" + unit.string() + "' > '" + said + "' 2>&1").c_str()) == 0) return "";
  return house::text_of(said) + "in the unit of\n" + house::text_of(unit);
}

}  // namespace

int main(int count, char** words) {
  if (count < 4) return 2;
  house::headers all = house::read(words[1], {".hpp"});
  if (!PINION_HAS_DISTRIBUTED)
    std::erase_if(all, [](const auto& h) {
      return h.first.starts_with("distributed") || h.first.starts_with("rpc/") || h.first.starts_with("netsim/");
    });
  const std::filesystem::path folder = words[2];
  std::filesystem::create_directories(folder);
  std::string command;
  for (int i = 3; i < count; ++i) command += "'" + std::string(words[i]) + "' ";
  const std::vector<chain> chains = chains_of(all);
  std::vector<std::string> refusals(chains.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i; (i = next++) < chains.size();)
      refusals[i] = refusal(chains[i], folder / (std::to_string(i) + ".cpp"), command);
  };
  {
    const std::jthread beside(work);
    work();
  }
  std::size_t refused = 0;
  for (const std::string& r : refusals) {
    refused += !r.empty();
    std::cout << r;
  }
  std::cout << all.size() << " headers stand alone, but for those of " << refused << " of " << chains.size()
            << " units\n";
  return refused == 0 && all.size() > 500 ? 0 : 1;
}
