// Laws of kernels on memory that another process changes while they run: an element that is read twice may have two
// values, none of which is wrong by itself.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include <pinion/op/changing_inputs.hpp>
#include <pinion/op/reduce/loops.hpp>
#include <pinion/tensor/lent.hpp>

#include "laws/kernel_laws.hpp"

using namespace laws;

namespace {

bool may_be_lent(dtype type) {
  return is_floating(type) || type == dtype::uint8;
}

// Memory that one address only reads, and another writes: to the writer it is bytes of a value of some dtype.
class two_views {
 public:
  two_views(const any_tensor& value) : type_(value.dtype()), bytes_(std::max<std::size_t>(value.bytes(), 1)) {
    const int file = ::memfd_create("changing", MFD_CLOEXEC);
    REQUIRE(::ftruncate(file, static_cast<off_t>(bytes_)) == 0);
    there_ = static_cast<std::byte*>(::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    here_ = static_cast<std::byte*>(::mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, file, 0));
    ::close(file);
    std::memcpy(there_, value.raw(), value.bytes());
  }
  two_views(const two_views&) = delete;
  ~two_views() {
    ::munmap(there_, bytes_);
    ::munmap(here_, bytes_);
  }
  std::byte* data() const { return here_; }
  // Changes an element, or leaves it.
  void change(std::mt19937& dice) {
    if (type_ == dtype::uint8) return store(dice(), static_cast<std::uint8_t>(dice()));
    visit_plain(type_, [&]<class T>() {
      if constexpr (std::is_floating_point_v<T>) {
        using limits = std::numeric_limits<T>;
        static constexpr T values[] = {0, 1, -2, T(.5), limits::quiet_NaN(), limits::infinity(), -limits::infinity()};
        const auto at = dice();
        store(at, dice() % 2 ? values[dice() % std::size(values)] : static_cast<T>(dice()));  // or one of its own
      }
    });
  }

 private:
  template <class T>
  void store(std::size_t at, T value) {
    if (bytes_ < sizeof value) return;
    std::atomic_ref(reinterpret_cast<T*>(there_)[at % (bytes_ / sizeof value)]).store(value, std::memory_order_relaxed);
  }

  const dtype type_;
  const std::size_t bytes_;
  std::byte *there_ = nullptr, *here_ = nullptr;
};

// Lends copies of values, and changes them as long as it lives.
class changing_values {
 public:
  any_tensor lend(const any_tensor& value) {
    if (!may_be_lent(value.dtype()) || value.bytes() == 0) return copy_of(value);
    const auto memory = std::make_shared<two_views>(value);
    all_.push_back(memory);
    return {value.dtype(), value.shape(), make_lent_buffer({memory, memory->data()}, value.bytes())};
  }
  void start() {
    writer_ = std::thread([this] {
      for (std::mt19937 dice(1); !over_.load(std::memory_order_relaxed);)
        for (const auto& one : all_) one->change(dice);
    });
  }
  ~changing_values() {
    over_ = true;
    if (writer_.joinable()) writer_.join();
  }

 private:
  std::vector<std::shared_ptr<two_views>> all_;
  std::atomic<bool> over_{false};
  std::thread writer_;
};

// Runs a call many times on inputs that change; its values are any, and it may refuse them with a sentence.
void run_while_it_changes(const call& c, int times) {
  changing_values values;
  const single_run node(c, [&](const any_tensor& t) { return values.lend(t); });
  values.start();
  for (int i = 0; i < times; ++i) {
    try {
      node.again();
    } catch (const error& e) {
      if (e.code() == errc::internal) FAIL_CHECK(e.what());
    }
  }
}

// Looks for a number among others.
struct first_position {
  template <class Isa>
  static PINION_VECTOR void run(const float* x, std::int64_t n, float greatest, std::int64_t* at) {
    using V = scalar::simd<float, Isa>;
    *at = loops::argmax_rows<float>::first_of<V>(x, n, n, greatest);
  }
};

}  // namespace

TEST_CASE("C13: an op that is run on memory that changes comes to an end, and touches no other memory") {
  for_each_case(
      [](std::string_view op, const sample& s, dtype key) {
        const call c = call_of(op, s, key);
        if (!bears_changing_inputs(op) || !runs_alone(op)) return;
        if (std::none_of(c.inputs.begin(), c.inputs.end(), [](const auto& t) { return may_be_lent(t.dtype()); }))
          return;
        INFO(title(op, s, key));
        run_while_it_changes(c, 40);
        ledger::get().count("(i) inputs that change while they are read", op);
      },
      20, 33);
}

TEST_CASE(
    "C13: the position of the greatest of some numbers is among them, also when it has changed since it was found") {
  for (const std::int64_t n : {1, 2, 7, 8, 9, 31, 32, 33, 100}) {
    std::vector<float> x(static_cast<std::size_t>(n) + 64, 1.0f);
    x[static_cast<std::size_t>(n) + 40] = 5;  // it was not among the n
    std::int64_t at = -1;
    scalar::dispatch<first_position>(static_cast<const float*>(x.data()), n, 5.0f, &at);
    INFO(n);
    CHECK((0 <= at && at < n));
  }
}
