// The fuzz targets as a part of the suite: their seeds, the corpus, and inputs that are made of them by chance.
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fuzz/changes.hpp>
#include <fuzz/run.hpp>

namespace {

using namespace fuzz;

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The inputs in which a fault was found once, by the names of their files.
std::vector<std::filesystem::path> corpus_of(const target& t) {
  std::vector<std::filesystem::path> files;
  const auto folder = std::filesystem::path(PINION_TEST_SOURCE_DIR) / "tests/fuzz/corpus" / t.name;
  if (std::filesystem::exists(folder))
    for (const auto& file : std::filesystem::directory_iterator(folder)) files.push_back(file.path());
  std::sort(files.begin(), files.end());
  return files;
}

// Keeps the input of which a law does not hold, for libFuzzer or a debugger; returns its path.
std::string kept(const target& t, const std::string& input) {
  const auto path = std::filesystem::temp_directory_path() / ("pinion_fuzz_" + std::string(t.name));
  std::ofstream(path, std::ios::binary) << input;
  return path.string();
}

// "", or what is wrong.
std::string fault(const target& t, const std::string& input) {
  try {
    run(t, input);
  } catch (const std::exception& e) {
    return std::string(e.what()) + "; the input is in " + kept(t, input);
  }
  return "";
}

}  // namespace

TEST_CASE("what the library writes is read well, within the memory that its target states") {
  for (const target& t : targets()) {
    const auto seeds = t.seeds();
    CHECK(!seeds.empty());
    for (std::size_t i = 0; i < seeds.size(); ++i) {
      INFO(t.name << ", seed " << i << " of " << seeds.size());
      REQUIRE(fault(t, seeds[i]) == "");
      CHECK(run(t, seeds[i]) == "");
    }
  }
}

TEST_CASE("inputs in which faults were found are read well or refused") {
  for (const target& t : targets())
    for (const auto& file : corpus_of(t)) {
      INFO(file);
      CHECK(fault(t, text_of(file)) == "");
    }
}

TEST_CASE("a folder of the corpus belongs to a target") {
  for (const auto& folder : std::filesystem::directory_iterator(PINION_TEST_SOURCE_DIR "/tests/fuzz/corpus")) {
    const auto is_its = [&](const target& t) { return folder.path().filename() == t.name; };
    INFO(folder.path());
    CHECK(std::any_of(targets().begin(), targets().end(), is_its));
  }
}

TEST_CASE("whatever is changed in an input, it is read well or refused, and what is read obeys the laws") {
  for (const target& t : targets()) {
    auto inputs = t.seeds();
    for (const auto& file : corpus_of(t)) inputs.push_back(text_of(file));
    dice random(7);
    for (int round = 0; round < t.rounds; ++round) {
      std::string input = inputs[random(inputs.size())];
      const auto way = t.change ? random(3) : 0;  // bytes, bytes and terms, terms
      if (way < 2) input = changed(std::move(input), inputs, random);
      if (way > 0) input = t.change(std::move(input), random);
      INFO(t.name << ", round " << round);
      const std::string wrong = fault(t, input);
      CHECK(wrong == "");
      if (!wrong.empty()) break;
    }
  }
}
