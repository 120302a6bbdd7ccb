// A device spec as a type, where the compiler must know it: at<"/gpu:0"> is a value of an empty type.
//
//   auto p = pn::place<"/gpu:0">(2 * s);
//   pn::device on{pn::at<"/gpu:0">};
//
// A tag serves where the compiler is to check or to compare places; where a program computes a device string when it
// runs, parse_device makes a spec of it, which guards take as well.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <pinion/base/fixed_string.hpp>
#include <pinion/spec/device_spec.hpp>

namespace pinion { inline namespace v0 {

// A device spec in template arguments, which are integers and packs of characters (nvcc 13 mishandles arrays there).
// Job and Type are chars<...>, empty when unset. An object has no state and may be copied and shared freely. It cannot
// fail, because a bad string does not compile. Only `at` and merge_t write its arguments, so that equal specs have one
// type. Tags appear in compilers' messages as place_tag<chars<'p', 's'>, -1, 0, ...>: job, replica, task, type, index,
// where -1 is unset.
template <class Job, int Replica, int Task, class Type, int Index>
struct place_tag {
  static constexpr device_spec spec = device_spec{}
                                          .with_job(Job::view())
                                          .with_replica(Replica)
                                          .with_task(Task)
                                          .with_type(Type::view())
                                          .with_index(Index);

  // The spec of the tag, for functions that take a spec.
  //
  //   pn::device_spec s = pn::at<"/job:ps">;
  constexpr operator device_spec() const { return spec; }
};

namespace detail {

// True for the type of a place tag.
template <class T>
inline constexpr bool is_place_tag = false;
template <class Job, int Replica, int Task, class Type, int Index>
inline constexpr bool is_place_tag<place_tag<Job, Replica, Task, Type, Index>> = true;

// The source of a tag's spec: a text, or two tags.
template <class Text>
struct parsed_place {
  static constexpr device_spec spec = parse_device(Text::view());
};
template <class Outer, class Inner>
struct merged_place {
  static constexpr device_spec spec = merge(Outer::spec, Inner::spec);
};

// Spells a spec in template arguments. Each name becomes a pack of its own length.
template <class Source>
constexpr auto make_place_tag() {
  const auto spell = []<std::size_t... J, std::size_t... T>(std::index_sequence<J...>, std::index_sequence<T...>) {
    constexpr device_spec s = Source::spec;  // nvcc 13 must read through a local, as in as_chars
    return place_tag<chars<s.job_.s[J]...>, s.replica_, s.task_, chars<s.type_.s[T]...>, s.index_>{};
  };
  return spell(std::make_index_sequence<Source::spec.job().size()>{},
               std::make_index_sequence<Source::spec.type().size()>{});
}

}  // namespace detail

// The type of a value such as at<"/gpu:0">. References and const count as well.
template <class T>
concept place_tag_type = detail::is_place_tag<std::remove_cvref_t<T>>;

// The tag of a device string. The grammar is that of parse_device; a mistake in it is a compile error. Equal specs are
// one type, whatever the spelling:
//
//   static_assert(std::is_same_v<decltype(pn::at<"/gpu:0">), decltype(pn::at<"device:GPU:0">)>);
//   static_assert(pn::at<"/job:ps/cpu:0">.spec.job() == "ps");
template <fixed_string S>
inline constexpr auto at = detail::make_place_tag<detail::parsed_place<decltype(as_chars<S>())>>();

// The tag without fields: any device. The place of every expression that place<...> did not tag.
using anywhere = place_tag<chars<>, -1, -1, chars<>, -1>;

// The tag of Inner laid over Outer, as merge() does it for values.
//
//   merge_t<decltype(at<"/job:ps">), decltype(at<"/cpu:0">)>          // the type of at<"/job:ps/cpu:0">
template <place_tag_type Outer, place_tag_type Inner>
using merge_t =
    decltype(detail::make_place_tag<detail::merged_place<std::remove_cvref_t<Outer>, std::remove_cvref_t<Inner>>>());

}}  // namespace pinion::v0
