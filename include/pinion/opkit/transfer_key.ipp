// Bodies of <pinion/opkit/transfer_key.hpp>.
#pragma once

#include <pinion/opkit/transfer_key.hpp>

namespace pinion { inline namespace v0 {

PINION_DECL transfer_key::transfer_key(std::string_view node, std::string_view what, std::string_view from,
                                       std::string_view to) {
  text_.reserve(node.size() + what.size() + from.size() + to.size() + 3);
  text_.append(node).append(":").append(what);
  from_ = text_.size();
  text_.append(";").append(from);
  to_ = text_.size();
  text_.append(";").append(to);
}

PINION_DECL transfer_key::transfer_key(std::string text)
    : text_(std::move(text)), from_(text_.size()), to_(text_.size()) {
  const auto last = text_.rfind(';');
  const auto first = last == std::string::npos || last == 0 ? std::string::npos : text_.rfind(';', last - 1);
  if (first != std::string::npos) from_ = first, to_ = last;
}

PINION_DECL std::string transfer_key::title() const {
  return std::string(edge()) + " from " + std::string(from_task());
}

}}  // namespace pinion::v0
