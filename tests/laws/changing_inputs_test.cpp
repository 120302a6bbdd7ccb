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

#include <pinion/op/catalogue.hpp>
#include <pinion/op/reduce/loops.hpp>
#include <pinion/tensor/lent.hpp>

#include "laws/kernel_laws.hpp"

using namespace laws;

namespace {

bool may_be_lent(dtype type) {
  return is_floating(type) || type == dtype::uint8;
}

// Memory that one address only reads, and another writes: to the writer it is bytes of a value of some dtype. Nobody
// can read far behind it.
class two_views {
 public:
  explicit two_views(const any_tensor& value)
      : type_(value.dtype()), bytes_(value.bytes()), whole_((bytes_ + page - 1) / page * page) {
    const int file = ::memfd_create("changing", MFD_CLOEXEC);
    REQUIRE(::ftruncate(file, static_cast<off_t>(whole_)) == 0);
    there_ = map(nullptr, whole_, PROT_READ | PROT_WRITE, MAP_SHARED, file);
    here_ = map(nullptr, whole_ + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    map(here_, whole_, PROT_READ, MAP_SHARED | MAP_FIXED, file);
    ::close(file);
    std::memcpy(there_ + offset(), value.raw(), bytes_);
  }
  two_views(const two_views&) = delete;
  ~two_views() {
    ::munmap(there_, whole_);
    ::munmap(here_, whole_ + page);
  }
  std::byte* data() const { return here_ + offset(); }
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
    T* const first = reinterpret_cast<T*>(there_ + offset());
    std::atomic_ref(first[at % (bytes_ / sizeof value)]).store(value, std::memory_order_relaxed);
  }

  static std::byte* map(void* at, std::size_t bytes, int access, int how, int file) {
    void* const found = ::mmap(at, bytes, access, how, file, 0);
    REQUIRE(found != MAP_FAILED);
    return static_cast<std::byte*>(found);
  }
  // Values are aligned to 64 bytes.
  std::size_t offset() const { return (whole_ - bytes_) / 64 * 64; }

  static inline const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const dtype type_;
  const std::size_t bytes_, whole_;
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
        if (!definition_of(op).bears_changing_inputs || !runs_alone(op)) return;
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
