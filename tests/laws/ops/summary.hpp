// Summaries: strings, whose contents tests/op/summary_test.cpp reads.
#pragma once

#include "laws/row.hpp"

namespace laws {

inline std::vector<row> summary_rows() {
  const auto tagged = plain({{"tag", std::string("a/b")}});
  const auto shown = plain({{"tag", std::string("a/b")}, {"max_images", std::int64_t{3}}});
  // A sample of each dtype that an op takes: its kernel goes by the string that it yields.
  const auto of_each = [](std::vector<sample> samples, dtype_set types) {
    std::vector<sample> all;
    for (unsigned d = 0; d < pinion::detail::dtype_count; ++d)
      for (sample s : samples) {
        if (!types.has(static_cast<dtype>(d))) continue;
        s.note += " of " + std::string(to_string(static_cast<dtype>(d)));
        s.numbers = static_cast<dtype>(d);
        all.push_back(s);
      }
    return all;
  };
  return {
      {{"ScalarSummary"},
       [=](std::string_view, std::int64_t, std::int64_t) {
         return of_each({{"number", {{{}}}, tagged}}, dtypes::numbers);
       },
       nullptr,
       {{"ScalarSummary", {f({2})}, {{"tag", std::string("a")}}, "a histogram takes many"},
        {"ScalarSummary", {b({})}, {{"tag", std::string("a")}}, "ScalarSummary of bool"},
        {"ScalarSummary", {f({})}, {{"tag", std::string("")}}, "without a tag"},
        {"ScalarSummary", {f({})}, {{"tag", std::string("\xff")}}, "not UTF-8"},
        {"ScalarSummary", {f({})}, {{"tag", std::string(5000, 'a')}}, "has 5000 bytes"}}},
      {{"HistogramSummary"},
       [=](std::string_view, std::int64_t m, std::int64_t n) {
         return of_each({{"matrix", {{{m, n}}}, tagged}, {"number", {{{}}}, tagged}, {"nothing", {{{0, 3}}}, tagged}},
                        dtypes::numbers);
       },
       nullptr,
       {{"HistogramSummary", {text({2})}, {{"tag", std::string("a")}}, "HistogramSummary of string"},
        {"HistogramSummary",
         {f({2, 2})},
         {{"tag", std::string("a")}, {"counted", true}},
         "counts must have 1 dimensions"}}},
      {{"ImageSummary"},
       [=](std::string_view, std::int64_t m, std::int64_t n) {
         std::vector<sample> samples;
         for (std::int64_t channels : {1, 3, 4})
           samples.push_back(
               {std::to_string(channels) + " channels", {{{4, m, n, channels}, role::number, 0, 1}}, shown});
         samples.push_back({"none", {{{0, m, n, 3}}}, shown});
         return of_each(samples, dtypes::floating | dtype_set{dtype::uint8});
       },
       nullptr,
       {{"ImageSummary", {f({2, 3, 4})}, {{"tag", std::string("a")}, {"max_images", std::int64_t{1}}}, "4 dimensions"},
        {"ImageSummary",
         {f({2, 3, 4, 2})},
         {{"tag", std::string("a")}, {"max_images", std::int64_t{1}}},
         "images of 2 channels"},
        {"ImageSummary",
         {i({2, 3, 4, 1})},
         {{"tag", std::string("a")}, {"max_images", std::int64_t{1}}},
         "ImageSummary of int32"},
        {"ImageSummary",
         {f({2, 3, 4, 1})},
         {{"tag", std::string("a")}, {"max_images", std::int64_t{0}}},
         "less than one image"}}},
      {{"TextSummary"},
       [=](std::string_view, std::int64_t m, std::int64_t n) {
         return of_each({{"matrix", {{{m, n}}}, tagged}, {"one", {{{}}}, tagged}, {"nothing", {{{0}}}, tagged}},
                        dtype_set{dtype::string});
       },
       nullptr,
       {{"TextSummary", {f({})}, {{"tag", std::string("a")}}, "TextSummary of float"}}},
      {{"MergeSummary"},
       [=](std::string_view, std::int64_t m, std::int64_t) {
         return of_each({{"one", {{{}}}}, {"some", {{{}}, {{m}}, {{0}}}}}, dtype_set{dtype::string});
       },
       nullptr,
       {{"MergeSummary", {text({}), f({})}, {}, "summaries are strings"}}},
  };
}

}  // namespace laws
