// Bodies of <pinion/tensor/page_locked.hpp>.
#pragma once

#include <atomic>

#include <pinion/base/process.hpp>
#include <pinion/tensor/page_locked.hpp>

namespace pinion { inline namespace v0 {

namespace detail {

struct page_locked_memory {
  std::atomic<page_locked_source> source{nullptr};
};

PINION_DECL void set_page_locked_source(page_locked_source from) {
  of_this_process<detail::page_locked_memory>().source = from;
}

}  // namespace detail

PINION_DECL any_tensor page_locked_tensor(dtype type, const shape& extent) {
  const auto source = of_this_process<detail::page_locked_memory>().source.load();
  if (!source || type == dtype::string || !extent.known() || !countable(extent)) return any_tensor(type, extent);
  buffer* const given = source(static_cast<std::size_t>(extent.count()) * size_of(type));
  return given ? any_tensor(type, extent, buffer_ref(given)) : any_tensor(type, extent);
}

}}  // namespace pinion::v0
