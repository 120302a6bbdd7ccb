// The one table of the laws: for each op of the catalogue its row. A new op brings one, in ops/<family>.hpp, which
// catalogue.cpp includes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "laws/row.hpp"

namespace laws {

const std::vector<row>& all_rows();
const row* row_of(std::string_view op);
std::vector<sample> samples_of(std::string_view op, std::int64_t m = 5, std::int64_t n = 7);

// Can this op compute in that dtype at all? Functions of real numbers are refused to integers by their shape function.
bool makes_sense(std::string_view op, dtype key);

}  // namespace laws
