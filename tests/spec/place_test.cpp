// Place tags: one type for one spec, however it is written.
#include <catch2/catch.hpp>

#include <string>
#include <type_traits>

#include <pinion/spec/place.hpp>

namespace pn = pinion;

namespace {

template <pn::fixed_string S>
constexpr bool is_tag_of = std::is_same_v<std::remove_const_t<decltype(pn::at<S>)>,
                                          pn::place_tag<pn::chars<'p', 's'>, -1, 0, pn::chars<'G', 'P', 'U'>, 1>>;

// Equal specs are one type.
static_assert(is_tag_of<"/job:ps/task:0/gpu:1">);
static_assert(is_tag_of<"/job:ps/task:0/device:GPU:1">);
static_assert(is_tag_of<"/device:gpu:1/task:0/job:moon/job:ps/replica:*">);
static_assert(std::is_same_v<decltype(pn::at<"/gpu:0">), decltype(pn::at<"/device:GPU:0">)>);
static_assert(std::is_same_v<decltype(pn::at<"">), const pn::anywhere>);
static_assert(std::is_same_v<decltype(pn::at<"/job:*/device:*:*">), const pn::anywhere>);

// Other specs are other types.
static_assert(!is_tag_of<"/job:ps/task:0/gpu:0">);
static_assert(!is_tag_of<"/job:ps/task:0/gpu">);
static_assert(!is_tag_of<"/job:ps/gpu:1">);
static_assert(!is_tag_of<"/job:p/task:0/gpu:1">);

// A tag is an empty value that knows its spec.
static_assert(std::is_empty_v<decltype(pn::at<"/gpu:0">)>);
static_assert(pn::at<"/job:ps/cpu">.spec == pn::parse_device("/job:ps/cpu"));
static_assert(pn::anywhere::spec.empty());
constexpr pn::device_spec converted = pn::at<"/gpu:7">;
static_assert(converted.index() == 7);
static_assert(pn::at<"/gpu:7"> == converted);

// merge_t is merge() on types.
template <pn::fixed_string Outer, pn::fixed_string Inner, pn::fixed_string Result>
constexpr bool merges = std::is_same_v<pn::merge_t<decltype(pn::at<Outer>), decltype(pn::at<Inner>)>,
                                       std::remove_const_t<decltype(pn::at<Result>)>>;
static_assert(merges<"/job:worker/task:0", "/gpu:0", "/job:worker/task:0/gpu:0">);
static_assert(merges<"/job:worker/gpu:2", "/job:ps/cpu", "/job:ps/cpu:2">);
static_assert(merges<"/gpu:0", "", "/gpu:0">);
static_assert(merges<"", "/gpu:0", "/gpu:0">);
static_assert(std::is_same_v<pn::merge_t<pn::anywhere, pn::anywhere>, pn::anywhere>);

// The concept: tags, also const and by reference; nothing else.
static_assert(pn::place_tag_type<pn::anywhere>);
static_assert(pn::place_tag_type<decltype(pn::at<"/gpu:0">)>);
static_assert(pn::place_tag_type<decltype((pn::at<"/gpu:0">))>);
static_assert(!pn::place_tag_type<pn::device_spec>);  // a value, not a type
static_assert(!pn::place_tag_type<const char*>);
static_assert(!pn::place_tag_type<int>);

}  // namespace

TEST_CASE("a tag prints as its spec") {
  CHECK(to_string(pn::at<"/job:ps/gpu:1">) == "/job:ps/device:GPU:1");
  CHECK(to_string(pn::at<"">) == "");
}
