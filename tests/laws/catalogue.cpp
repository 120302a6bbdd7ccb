#include "laws/catalogue.hpp"

#include <unordered_map>

#include "laws/ops/attention.hpp"
#include "laws/ops/band.hpp"
#include "laws/ops/bits.hpp"
#include "laws/ops/control.hpp"
#include "laws/ops/conv.hpp"
#include "laws/ops/convert.hpp"
#include "laws/ops/ctc.hpp"
#include "laws/ops/distribution.hpp"
#include "laws/ops/dynamic.hpp"
#include "laws/ops/einsum.hpp"
#include "laws/ops/gather.hpp"
#include "laws/ops/layout.hpp"
#include "laws/ops/map.hpp"
#include "laws/ops/matmul.hpp"
#include "laws/ops/nn.hpp"
#include "laws/ops/norm.hpp"
#include "laws/ops/order.hpp"
#include "laws/ops/queue.hpp"
#include "laws/ops/random.hpp"
#include "laws/ops/recurrent.hpp"
#include "laws/ops/reduce.hpp"
#include "laws/ops/resize.hpp"
#include "laws/ops/rows.hpp"
#include "laws/ops/scatter.hpp"
#include "laws/ops/search.hpp"
#include "laws/ops/slice.hpp"
#include "laws/ops/source.hpp"
#include "laws/ops/strided.hpp"
#include "laws/ops/summary.hpp"
#include "laws/ops/sync.hpp"
#include "laws/ops/variable.hpp"
#include "laws/ops/volume.hpp"

namespace laws {

const std::vector<row>& all_rows() {
  static const auto rows = [] {
    std::vector<row> all;
    for (const auto& family :
         {attention_rows(), band_rows(),         bits_rows(),    control_rows(), conv_rows(),    convert_rows(),
          ctc_rows(),       distribution_rows(), dynamic_rows(), einsum_rows(),  gather_rows(),  layout_rows(),
          map_rows(),       matmul_rows(),       nn_rows(),      norm_rows(),    order_rows(),   queue_rows(),
          random_rows(),    recurrent_rows(),    reduce_rows(),  resize_rows(),  rows_rows(),    scatter_rows(),
          search_rows(),    slice_rows(),        source_rows(),  strided_rows(), summary_rows(), sync_rows(),
          variable_rows(),  volume_rows()})
      all.insert(all.end(), family.begin(), family.end());
    return all;
  }();
  return rows;
}

const row* row_of(std::string_view op) {
  static const auto index = [] {
    std::unordered_map<std::string_view, const row*> by_op;
    for (const row& r : all_rows())
      for (std::string_view name : r.ops) by_op.emplace(name, &r);
    return by_op;
  }();
  const auto at = index.find(op);
  return at == index.end() ? nullptr : at->second;
}

std::vector<sample> samples_of(std::string_view op, std::int64_t m, std::int64_t n) {
  const row* r = row_of(op);
  return r ? r->samples(op, m, n) : std::vector<sample>{};
}

bool makes_sense(std::string_view op, dtype key) {
  const auto p = map_program(op, dtype::float64);
  return !p || is_floating(key) || !is_real(*p);
}

}  // namespace laws
