// The device spec: a full or partial name of a device, its text form, and how two of them combine.
//
//   constexpr pn::device_spec s = pn::parse_device("/job:ps/task:0/cpu:0");
//   s.job();                                                        // "ps"
//   pn::to_string(s);                                               // "/job:ps/task:0/device:CPU:0"
//   pn::merge(s, pn::parse_device("/task:1"));                      // the inner fields win: task 1
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/spec/device_field.hpp>
#include <pinion/spec/names.hpp>

namespace pinion { inline namespace v0 {

// The name of a device, full or in part: "/job:worker/task:1/device:GPU:0", or only some of these fields. A value that
// owns its characters, usable in constant expressions and as a template argument; distinct objects may be used from
// distinct threads. The with_ functions throw invalid_argument for values that parse_device would refuse; in a constant
// expression they do not compile. Invariant: an index is set only beside a type.
//
// The data members are public because a template argument's type requires it; read them through the functions. Fields
// that are not set stay open: guards outside may set them, and then the placer chooses among devices that meet the
// rest. Replicas come from TensorFlow's grammar; clusters here have replica 0 alone.
//
//   constexpr auto s = pn::device_spec{}.with_job("ps").with_type("CPU");      // "/job:ps/device:CPU:*"
//   static_assert(s.task() == -1 && s.type() == "CPU");
struct device_spec {
  device_field::job_name job_{};
  int replica_ = -1;
  int task_ = -1;
  device_field::device_type type_{};
  int index_ = -1;

  // The fields. An unset name is "" and an unset number -1. The views refer to this object; type() is in upper case.
  constexpr std::string_view job() const { return job_.view(); }
  constexpr int replica() const { return replica_; }
  constexpr int task() const { return task_; }
  constexpr std::string_view type() const { return type_.view(); }
  constexpr int index() const { return index_; }

  // True if no field is set.
  constexpr bool empty() const { return *this == device_spec{}; }
  // True if all fields are set, so that it names one device. Sessions list devices with complete specs.
  constexpr bool is_complete() const { return !job().empty() && replica_ >= 0 && task_ >= 0 && index_ >= 0; }

  // A copy with one field changed. "" or "*" unset a name, -1 unsets a number. Unsetting the type unsets the index too.
  constexpr device_spec with_job(std::string_view name) const;
  constexpr device_spec with_replica(int number) const;
  constexpr device_spec with_task(int number) const;
  // The type comes before the index: with_index throws for a spec without a type.
  constexpr device_spec with_type(std::string_view name) const;
  constexpr device_spec with_index(int number) const;

  friend constexpr bool operator==(const device_spec&, const device_spec&) = default;
};

// Reads a device string such as "/job:ps/task:0/cpu:0", at compile time or at run time. Segments between slashes come
// in any order, and empty ones are ignored:
//
//   job:NAME      a letter, then letters, digits, _ or -; at most 63
//   replica:N     a number from 0 to 2147483647
//   task:N        a number, too
//   device:T[:N]  a letter, then letters, digits or _, at most 31, in any case; and the index of the device
//   cpu[:N]       short for device:CPU[:N]; gpu[:N] for device:GPU[:N]
//
// "*" as a value leaves the field unset; beside a type of "*" there is no number. Of a repeated job, replica or task
// the last one counts; a repeated type is refused.
//
// A bad string throws invalid_argument with a sentence; in a constant expression it does not compile, and the compiler
// shows that sentence. A user's line is worth giving where the string comes from a file or a command line, and no
// compiler sees it:
//
//   constexpr auto here = pn::parse_device("/job:ps/task:0/cpu:0");
//   static_assert(here == pn::parse_device("job:ps/task:0/device:CPU:0"));
//   pn::parse_device("/cpu:x");                          // throws invalid_argument: bad number
//
// The mistakes, by the names of the functions at which compilers stop (spec/device_field.hpp):
//
//   "/jbo:ps"            unknown_field          "/job:1a"              bad_job_name
//   "/cpu:99999999999"   number_out_of_range    "/cpu:x"               bad_number
//   "/cpu:0/gpu:0"       type_given_twice       "/device:*:1"          index_without_type
//   "/job: ps"           blank_in_string        "/device:GPU:0:1"      too_many_parts
//   "/job:"              missing_value
constexpr device_spec parse_device(std::string_view text);
// Reads a string from the user's line `where`, which the error names.
constexpr device_spec parse_device(std::string_view text, source_location where);

// The inner spec laid over the outer one, field by field: the set fields of `inner` win. The operation is associative,
// and {} is neutral.
//
//   merge("/job:ps", "/cpu:0")                  "/job:ps/device:CPU:0"
//   merge("/job:ps/task:1", "/task:2")          "/job:ps/task:2"
//   merge("/gpu:3", "/cpu")                     "/device:CPU:3": an index is inherited even where the type changes
//
// TensorFlow: DeviceSpec.make_merged_spec, and what nested tf.device scopes do.
constexpr device_spec merge(const device_spec& outer, const device_spec& inner) {
  device_spec r = inner;
  if (inner.job().empty()) r.job_ = outer.job_;
  if (inner.replica_ < 0) r.replica_ = outer.replica_;
  if (inner.task_ < 0) r.task_ = outer.task_;
  if (inner.type().empty()) r.type_ = outer.type_;
  if (inner.index_ < 0) r.index_ = outer.index_;
  return r;
}

// True if every field that is set in `less` is set to the same value in `more`, so that laying `less` over `more`
// changes nothing: "/gpu:0" specifies "/job:worker/task:1/gpu:0". Every spec specifies itself, and {} specifies every
// spec.
constexpr bool is_specification(const device_spec& less, const device_spec& more) {
  return merge(more, less) == more;
}

// True if no field is set to two values, so that one device can meet both: "/job:a" and "/gpu:0" are compatible. It is
// symmetric, and not transitive: "/job:a" and "/job:b" are both compatible with "/gpu:0".
constexpr bool compatible(const device_spec& a, const device_spec& b) {
  return merge(a, b) == merge(b, a);
}

// True if one of them specifies the other. TensorFlow calls this AreCompatible; it is stricter than compatible():
// "/job:a" and "/gpu:0" are not comparable.
constexpr bool comparable(const device_spec& a, const device_spec& b) {
  return is_specification(a, b) || is_specification(b, a);
}

// True if both are devices of one task, and so share its memory and its process.
constexpr bool in_one_task(const device_spec& a, const device_spec& b) {
  return a.job() == b.job() && a.replica() == b.replica() && a.task() == b.task();
}

// The task of a full device name: "/job:ps/replica:0/task:0" of "/job:ps/replica:0/task:0/device:CPU:0". A view of the
// given text, which must outlive it. A text without "/device:" is returned whole.
constexpr std::string_view task_of_device(std::string_view device) {
  return device.substr(0, device.rfind("/device:"));
}

// The canonical text, which parse_device reads back to the same spec; "" for a spec without fields. Fields stand in the
// order job, replica, task, device; a type without an index is "/device:GPU:*".
std::string to_string(const device_spec& spec);

constexpr device_spec device_spec::with_job(std::string_view name) const {
  device_spec r = *this;
  r.job_ = name.empty() ? device_field::job_name() : device_field::read_job(name, {{}, name, name});
  return r;
}

constexpr device_spec device_spec::with_replica(int number) const {
  device_spec r = *this;
  r.replica_ = device_field::checked(number);
  return r;
}

constexpr device_spec device_spec::with_task(int number) const {
  device_spec r = *this;
  r.task_ = device_field::checked(number);
  return r;
}

constexpr device_spec device_spec::with_type(std::string_view name) const {
  device_spec r = *this;
  r.type_ = name.empty() ? device_field::device_type() : device_field::read_type(name, {{}, name, name});
  if (r.type().empty()) r.index_ = -1;
  return r;
}

constexpr device_spec device_spec::with_index(int number) const {
  if (number >= 0 && type().empty()) bad_device::index_without_type(number, "index without a type; set the type first");
  device_spec r = *this;
  r.index_ = device_field::checked(number);
  return r;
}

namespace detail {

// Reads the segments of one device string into a spec. A view of the text, which must outlive it.
class device_reader {
 public:
  explicit constexpr device_reader(std::string_view text, source_location where = {}) : at_{text, {}, {}, where} {}

  constexpr device_spec read() {
    for (std::string_view rest = at_.text; !rest.empty();) {
      const std::string_view segment = ascii::before(rest, '/');
      if (!segment.empty()) read_segment(segment);
      rest.remove_prefix(std::min(segment.size() + 1, rest.size()));
    }
    return spec_;
  }

 private:
  // Reads a segment, which is one field.
  constexpr void read_segment(std::string_view segment) {
    at_.segment = at_.found = segment;
    if (std::any_of(segment.begin(), segment.end(), ascii::is_blank))
      bad_device::blank_in_string(at_, "blank in string; write device strings without blanks");
    split();
    read_field();
  }

  // Splits a segment at its colons. A fourth part is counted but not kept, since no field has four.
  constexpr void split() {
    std::string_view part = ascii::before(at_.segment, ':');
    parts_ = 0;
    for (std::string_view rest = at_.segment;; part = ascii::before(rest, ':')) {
      if (parts_ < max_parts) part_[parts_] = part;
      ++parts_;
      if (part.size() == rest.size()) return;
      rest.remove_prefix(part.size() + 1);
    }
  }

  // Stores the value of a field by its key.
  constexpr void read_field() {
    const std::string_view key = part_[0];
    if (key == "job")
      spec_.job_ = device_field::read_job(only_value(), at_);
    else if (key == "replica")
      spec_.replica_ = device_field::read_number(only_value(), at_);
    else if (key == "task")
      spec_.task_ = device_field::read_number(only_value(), at_);
    else if (key == "device")
      read_device(1);
    else if (ascii::equal_in_any_case(key, "cpu") || ascii::equal_in_any_case(key, "gpu"))
      read_device(0);
    else {
      at_.found = key;
      bad_device::unknown_field(at_, "unknown field; write job:J, replica:N, task:N, device:T[:N], cpu[:N] or gpu[:N]");
    }
  }

  // Reads a type, which is part number `type`, and an index if one follows. An index is refused beside "*" for any
  // type.
  constexpr void read_device(int type) {
    expect_parts(type + 1, type + 2);
    if (typed_) bad_device::type_given_twice(at_, "type given twice; a device has one type");
    typed_ = true;
    spec_.type_ = device_field::read_type(part_[type], at_);
    spec_.index_ = parts_ > type + 1 ? device_field::read_number(part_[type + 1], at_) : -1;
    at_.found = at_.segment;
    if (spec_.type().empty() && spec_.index_ >= 0)
      bad_device::index_without_type(at_, "index without a type; write device:TYPE:N, or device:*:* for any");
  }

  // The value behind the key. Refuses a segment of more or fewer than two parts.
  constexpr std::string_view only_value() const {
    expect_parts(2, 2);
    return part_[1];
  }

  constexpr void expect_parts(int least, int most) const {
    if (parts_ < least) bad_device::missing_value(at_, "missing value; write a colon and a name or number after it");
    if (parts_ > most) bad_device::too_many_parts(at_, "too many parts; only device:TYPE:N has three");
  }

  static constexpr int max_parts = 3;
  device_culprit at_;
  std::string_view part_[max_parts]{};
  int parts_ = 0;
  bool typed_ = false;
  device_spec spec_{};
};

}  // namespace detail

constexpr device_spec parse_device(std::string_view text) {
  return detail::device_reader(text).read();
}
constexpr device_spec parse_device(std::string_view text, source_location where) {
  return detail::device_reader(text, where).read();
}

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/spec/device_spec.ipp>
#endif
