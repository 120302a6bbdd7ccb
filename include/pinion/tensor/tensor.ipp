// Bodies of <pinion/tensor/tensor.hpp>.
#pragma once

#include <pinion/tensor/tensor.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL any_tensor::any_tensor(pinion::dtype type, const pinion::shape& extent, allocator& from,
                                   std::string_view holder)
    : type_(type), shape_(extent) {
  if (!extent.known()) throw error(errc::invalid_argument, "a tensor needs a known shape, not " + to_string(extent));
  if (!countable(extent))
    throw error(errc::resource_exhausted, "no memory holds a tensor of shape " + to_string(extent));
  buffer_ = type == pinion::dtype::string ? make_text_buffer(static_cast<std::size_t>(extent.count()))
                                          : buffer_ref(from.allocate(bytes(), holder));
}

PINION_DECL bool operator==(const any_tensor& a, const any_tensor& b) {
  if (a.dtype() != b.dtype() || !(a.shape() == b.shape())) return false;
  if (a.empty() || b.empty()) return a.empty() == b.empty();
  const auto same = [&]<class T>() { return std::equal(a.data<T>(), a.data<T>() + a.count(), b.data<T>()); };
  return a.dtype() == dtype::string ? same.template operator()<std::string>()
                                    : visit_plain<dtypes::moved>(a.dtype(), same);
}

PINION_DECL buffer_ref make_text_buffer(std::size_t count) {
  constexpr std::size_t most = (std::size_t{1} << 48) / sizeof(std::string);  // more texts than any address space holds
  class text_allocator final : public allocator {
   public:
    buffer* allocate(std::size_t n, std::string_view = {}) override {
      std::string* const texts = n > most ? nullptr : new (std::nothrow) std::string[n];
      if (!texts) throw error(errc::resource_exhausted, "no memory for " + std::to_string(n) + " texts");
      auto* b = new buffer(texts, n);
      b->hand_out(shared_from_this());
      return b;
    }
    void recycle(buffer* idle) noexcept override {
      const auto self = idle->leave_home();
      delete[] static_cast<std::string*>(idle->data());
      delete idle;
    }
  };
  static const auto text = std::make_shared<text_allocator>();
  return buffer_ref(text->allocate(count));
}

}}  // namespace pinion::v0
