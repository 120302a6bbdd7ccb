// Bodies of <pinion/train/embedding_losses.hpp>.
#pragma once

#include <pinion/train/embedding_losses.hpp>

namespace pinion { inline namespace v0 { namespace train { namespace detail {

PINION_DECL void expect_pairs(const char* loss, const any_expr& a, const any_expr& b) {
  const auto may_be_matrix = [](const shape& s) { return !s.has_rank() || s.rank() == 2; };
  if (!may_be_matrix(a.shape()) || !may_be_matrix(b.shape()) || !fits(a.shape(), b.shape()))
    throw error(errc::invalid_argument, std::string(loss) + ": the embeddings '" + a.name() + "' have shape " +
                                            to_string(a.shape()) + ", and '" + b.name() + "' " + to_string(b.shape()) +
                                            "; both are [n, d]");
}

PINION_DECL void expect_positive(const char* loss, const char* option, double number) {
  if (!(number > 0))
    throw error(errc::invalid_argument,
                std::string(loss) + " with " + option + " " + number_text(number) + "; it must be positive");
}

}}}}  // namespace pinion::v0::train::detail
