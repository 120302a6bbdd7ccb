// The rows of a CSV file, as a dataset.
#pragma once

#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/dtype.hpp>
#include <pinion/base/file_path.hpp>
#include <pinion/data/dataset.hpp>
#include <pinion/files/csv.hpp>

namespace pinion { inline namespace v0 { namespace data {

namespace detail {

stage_ptr csv_rows(const file_path& path, files::csv_options options, std::vector<dtype> columns);

}  // namespace detail

// A dataset with one element for each row of a file: one scalar for each column. Each pass reads the file anew, piece
// by piece, so the file may be larger than memory. iterate() opens the file and throws the errors of files::csv_reader
// for a missing file or a bad header; next() throws those of the rows, with line and column.
//
//   auto people = data::csv<std::string, float>("people.csv", {.header = true}).shuffle(1000, 1).batch(32);
//   for (auto& [name, height] : people) step(name, height);       // tensor<std::string> [32], tensor<float> [32]
//
// A field that is no number, where Ts has one, is data_loss. Named columns are taken in the order of the names:
//
//   auto homes = data::csv<float, int>("homes.csv", {.header = true, .columns = {"price", "rooms"}});
template <element... Ts>
dataset<Ts...> csv(const file_path& path, files::csv_options options = {}) {
  static_assert(sizeof...(Ts) > 0, "csv<float, int, ...> takes the type of each column");
  return dataset<Ts...>(detail::csv_rows(path, std::move(options), {dtype_of<Ts>...}));
}

}}}  // namespace pinion::v0::data

#if PINION_HEADER_ONLY
#include <pinion/data/csv.ipp>
#endif
