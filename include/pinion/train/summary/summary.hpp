// Summaries: nodes that tell how values look, such as the curve of a loss. Collections of the graph hold them until
// they are run and written to a file.
//
//   tr::summary::scalar("loss", loss);                 // tag "loss"; "model/loss" in the name scope "model"
//   auto merged = tr::summary::merge_all();
//   writer.add(sess.run(merged), step);
//
// Each node yields a serialized Summary message, in a scalar string. It runs on the CPU of the task that a guard asks
// for. In a build without protozero, running one throws unimplemented. A tag is the name behind the name scopes that
// are open; a tag that the graph has already gets a number, as "loss_1".
//
//   scalar                a number of any numeric dtype        a curve
//   histogram             a tensor of numbers                  how they are distributed, step by step
//   histogram_of_counts   counts of 0, 1, 2, ...               likewise, of numbers that are counted already
//   image                 [n, height, width, channels]         pictures
//   text                  strings                              Markdown, or a table
//   merge, merge_all      summaries                            one summary of all
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/dsl/node_call.hpp>
#include <pinion/op/summary/op.hpp>

namespace pinion { inline namespace v0 { namespace train { namespace summary {

// The collection that summaries join unless their options name others.
inline constexpr std::string_view all = "summaries";

// The options that summaries share.
struct options {
  // The collections that the summary joins.
  std::vector<std::string> collections = {std::string(all)};
};
// The options of image().
struct image_options {
  // The number of images of a batch that are shown, from the first on.
  std::int64_t max_outputs = 3;
  // The collections that the summary joins.
  std::vector<std::string> collections = {std::string(all)};
};

namespace detail {

inline constexpr const char* tagged = "tagged_summaries";  // holds every summary, whatever its collections are

// A tag that no summary of the graph has: a second "loss" becomes "loss_1", since two values of one tag would be taken
// for one curve.
std::string unique_tag(const graph& g, const std::string& wanted);

// A node's name for a tag. A tag may be any text; a node's name consists of letters, digits and . _ - /
std::string node_name_of(std::string_view tag);

// Makes the node of a summary. Throws invalid_argument if the name is empty.
template <class Op, dsl::graph_operand A>
expr<std::string> add(std::string_view name, attributes attrs, const std::vector<std::string>& collections,
                      source_location where, A&& value) {
  graph& g = dsl::graph_of(value);
  if (name.empty()) throw error(errc::invalid_argument, "a summary without a name is shown nowhere");
  attrs.set("tag", unique_tag(g, scope_state::current().name_prefix + std::string(name)));
  const expr<std::string> made =
      dsl::node_call<Op, std::string>(node_name_of(name), where, std::move(attrs), std::forward<A>(value));
  g.add_to_collection(tagged, made.id(g));
  for (const std::string& c : collections) g.add_to_collection(c, made.id(g));
  return made;
}

// Refuses values that are not numbers, with a sentence.
template <class A>
constexpr void check_numbers() {
  static_assert(
      dtypes::numbers.has(dtype_of<dsl::value_of<A>>),
      "this summary shows numbers: pn::cast<float>(x) makes numbers of bools, tr::summary::text shows strings");
}

}  // namespace detail

// A number, as a point of the curve `name`. The value is a scalar of any numeric dtype.
template <dsl::graph_operand A>
expr<std::string> scalar(std::string_view name, A&& value, const options& o = {},
                         source_location where = source_location::current()) {
  detail::check_numbers<A>();
  return detail::add<op::scalar_summary>(name, {}, o.collections, where, std::forward<A>(value));
}

// The distribution of a tensor's numbers, of any shape, as a histogram. A NaN or an infinity in it fails the step.
//
//   tr::summary::histogram("W", W);
template <dsl::graph_operand A>
expr<std::string> histogram(std::string_view name, A&& values, const options& o = {},
                            source_location where = source_location::current()) {
  detail::check_numbers<A>();
  return detail::add<op::histogram_summary>(name, {}, o.collections, where, std::forward<A>(values));
}

// A histogram of numbers that are counted already: counts[i] tells how often the number i occurred. A negative count, a
// NaN or an infinity fails the step.
template <dsl::graph_operand A>
expr<std::string> histogram_of_counts(std::string_view name, A&& counts, const options& o = {},
                                      source_location where = source_location::current()) {
  detail::check_numbers<A>();
  return detail::add<op::histogram_summary>(name, {{"counted", true}}, o.collections, where, std::forward<A>(counts));
}

// Images [n, height, width, channels] with 1, 3 or 4 channels: uint8, or float or double in [0, 1]. The tags are
// NAME/image/0, NAME/image/1, ..., or NAME/image where max_outputs is 1.
//
//   tr::summary::image("input", pn::reshape(x, {-1, 28, 28, 1}), {.max_outputs = 5});
template <dsl::graph_operand A>
expr<std::string> image(std::string_view name, A&& images, const image_options& o = {},
                        source_location where = source_location::current()) {
  constexpr dtype type = dtype_of<dsl::value_of<A>>;
  static_assert(type == dtype::uint8 || is_floating(type),
                "images are of uint8, or of float or double in [0, 1]: pn::cast<std::uint8_t>(x) makes such levels");
  return detail::add<op::image_summary>(name, {{"max_images", o.max_outputs}}, o.collections, where,
                                        std::forward<A>(images));
}

// Text in Markdown: a string, or a table of the strings of a vector or matrix.
//
//   tr::summary::text("notes", pn::constant(std::string("**batch size** 50")));
template <dsl::graph_operand A>
expr<std::string> text(std::string_view name, A&& strings, const options& o = {},
                       source_location where = source_location::current()) {
  static_assert(dtype_of<dsl::value_of<A>> == dtype::string, "this summary shows strings; the others show numbers");
  return detail::add<op::text_summary>(name, {}, o.collections, where, std::forward<A>(strings));
}

// One summary with the values of all. Throws invalid_argument if the list is empty.
expr<std::string> merge(const std::vector<expr<std::string>>& summaries, std::string_view name = {},
                        source_location where = source_location::current());

// One summary of all summaries in a collection of the default graph. Throws failed_precondition if the collection is
// empty.
expr<std::string> merge_all(std::string_view collection = all, source_location where = source_location::current());

}}}}  // namespace pinion::v0::train::summary

#if PINION_HEADER_ONLY
#include <pinion/train/summary/summary.ipp>
#endif
