// A place is a value with an algebra: the device spec, its text form, and how two of them combine.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include <pinion/base/config.hpp>
#include <pinion/spec/device_field.hpp>
#include <pinion/spec/names.hpp>

namespace pinion { inline namespace v0 {

// A full or partial name of a device: "/job:worker/task:1/device:GPU:0", or only some of these fields.
// A value that owns its characters; distinct objects may be used from distinct threads. Setters throw (in a constant
// expression: do not compile) on what parse_device would refuse. Invariant: an index stands only beside a type.
// The members are public because a structural type must have them so; read them through the functions.
struct device_spec {
  device_field::job_name job_{};
  int replica_ = -1;
  int task_ = -1;
  device_field::device_type type_{};
  int index_ = -1;

  // An unset name is "", an unset number -1. The views point into this object.
  constexpr std::string_view job() const { return job_.view(); }
  constexpr int replica() const { return replica_; }
  constexpr int task() const { return task_; }
  constexpr std::string_view type() const { return type_.view(); }  // in upper case
  constexpr int index() const { return index_; }

  constexpr bool empty() const { return *this == device_spec{}; }
  constexpr bool is_complete() const { return !job().empty() && replica_ >= 0 && task_ >= 0 && index_ >= 0; }

  // Copies with one field changed; "" or "*" and -1 unset it. Unsetting the type unsets the index with it.
  constexpr device_spec with_job(std::string_view name) const;
  constexpr device_spec with_replica(int number) const;
  constexpr device_spec with_task(int number) const;
  constexpr device_spec with_type(std::string_view name) const;
  constexpr device_spec with_index(int number) const;

  friend constexpr bool operator==(const device_spec&, const device_spec&) = default;
};

// Reads "/job:ps/task:0/cpu:0", at compile time or at run time. Segments between slashes in any order, empty ones
// ignored: job:NAME, replica:N, task:N, device:TYPE[:N], and for cpu and gpu (in any case) the short form TYPE[:N].
// "*" as a value leaves the field unset; beside a type of "*" stands no number. A repeated job, replica or task: the
// last one counts.
// A bad string throws invalid_argument with a sentence; in a constant expression it does not compile, and the compiler
// shows that sentence.
constexpr device_spec parse_device(std::string_view text);
// Parses a string that stands in the user's line `where`, which the error names.
constexpr device_spec parse_device(std::string_view text, source_location where);

// The inner spec laid over the outer one, field by field: set fields of `inner` win. So an index is inherited even
// across a change of type, and inside "/gpu:3" a bare "/cpu" is "/device:CPU:3". Associative; {} is neutral.
constexpr device_spec merge(const device_spec& outer, const device_spec& inner) {
  device_spec r = inner;
  if (inner.job().empty()) r.job_ = outer.job_;
  if (inner.replica_ < 0) r.replica_ = outer.replica_;
  if (inner.task_ < 0) r.task_ = outer.task_;
  if (inner.type().empty()) r.type_ = outer.type_;
  if (inner.index_ < 0) r.index_ = outer.index_;
  return r;
}

// Every field set in `less` is set and equal in `more`: laid over `more`, `less` changes nothing.
constexpr bool is_specification(const device_spec& less, const device_spec& more) {
  return merge(more, less) == more;
}

// No field is set to two values, so one device can answer to both: "/job:a" and "/gpu:0" are compatible.
constexpr bool compatible(const device_spec& a, const device_spec& b) {
  return merge(a, b) == merge(b, a);
}

// One specifies the other. This is what TensorFlow calls AreCompatible, and stricter than compatible():
// "/job:a" and "/gpu:0" are not comparable.
constexpr bool comparable(const device_spec& a, const device_spec& b) {
  return is_specification(a, b) || is_specification(b, a);
}

// Devices of one task share its memory and its process.
constexpr bool in_one_task(const device_spec& a, const device_spec& b) {
  return a.job() == b.job() && a.replica() == b.replica() && a.task() == b.task();
}

// Of a full name, "/job:ps/replica:0/task:0" of "/job:ps/replica:0/task:0/device:CPU:0".
constexpr std::string_view task_of_device(std::string_view device) {
  return device.substr(0, device.rfind("/device:"));
}

// The canonical text, which parse_device reads back to the same spec; "" for a spec with no field set.
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

// Reads the segments of one device string into `spec`.
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
  constexpr void read_segment(std::string_view segment) {
    at_.segment = at_.found = segment;
    if (std::any_of(segment.begin(), segment.end(), ascii::is_blank))
      bad_device::blank_in_string(at_, "blank in string; write device strings without blanks");
    split();
    read_field();
  }

  // A fourth part is counted, not kept: no field has as many.
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

  // The type is part number `type`; an index may follow, but a number names nothing beside the star of any type.
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
