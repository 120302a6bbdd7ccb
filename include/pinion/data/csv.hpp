// The rows of a CSV file as a dataset.
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

// Scalars, one for each column: data::csv<float, std::string>("people.csv", {.header = true}). Each pass reads the file
// anew, piece by piece. Errors: see files::csv_reader and files::read_csv.
template <element... Ts>
dataset<Ts...> csv(const file_path& path, files::csv_options options = {}) {
  static_assert(sizeof...(Ts) > 0, "csv<float, int, ...> takes the type of each column");
  return dataset<Ts...>(detail::csv_rows(path, std::move(options), {dtype_of<Ts>...}));
}

}}}  // namespace pinion::v0::data

#if PINION_HEADER_ONLY
#include <pinion/data/csv.ipp>
#endif
