// Laws of kernels on memory that another process changes while they run: an element that is read twice may have two
// values, none of which is wrong by itself.
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <set>
#include <vector>

#include <catch2/catch.hpp>

#include <pinion/op/catalogue.hpp>
#include <pinion/op/reduce/loops.hpp>
#include <pinion/tensor/lent.hpp>

#include "laws/kernel_laws.hpp"

using namespace laws;

namespace {

bool may_be_lent(dtype type) {
  return is_floating(type) || type == dtype::uint8 || dtypes::stored.has(type);
}

// Memory that changes before each instruction that reads it. Nobody can read far behind it. No page of it may be read,
// until an instruction tries to: then what it is about to read is changed, the pages are opened for this instruction
// alone, and it is tried again. Where a processor cannot be told to stop behind one instruction, they stay open.
class changing_memory {
 public:
  changing_memory(dtype type, const void* value, std::size_t bytes)
      : bytes_(bytes), whole_((bytes + page - 1) / page * page), size_(size_of(type)) {
    const int file = ::memfd_create("changing", MFD_CLOEXEC);
    REQUIRE(::ftruncate(file, static_cast<off_t>(whole_)) == 0);
    there_ = map(nullptr, whole_, PROT_READ | PROT_WRITE, MAP_SHARED, file);
    here_ = map(nullptr, whole_ + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    map(here_, whole_, PROT_NONE, MAP_SHARED | MAP_FIXED, file);
    ::close(file);
    std::memcpy(there_ + offset(), value, bytes);
  }
  changing_memory(const changing_memory&) = delete;
  ~changing_memory() {
    ::munmap(there_, whole_);
    ::munmap(here_, whole_ + page);
  }
  std::byte* data() const { return here_ + offset(); }
  bool has(const void* at) const { return here_ <= at && at < here_ + whole_; }

  // Changes the elements around an address, or leaves some. Called by a handler of signals, as the next ones.
  void change_near(const void* at, std::uint32_t& dice) {
    constexpr std::ptrdiff_t reach = 128;  // more than an instruction reads
    const std::ptrdiff_t first = static_cast<const std::byte*>(at) - data(), size = static_cast<std::ptrdiff_t>(size_);
    const auto end = std::min(first + reach, static_cast<std::ptrdiff_t>(bytes_));
    for (auto i = std::max<std::ptrdiff_t>(0, first - reach) / size * size; i + size <= end; i += size)
      change(there_ + offset() + i, dice = dice * 1664525 + 1013904223);
  }
  bool is_open() const { return open_; }
  void open() { open_ = ::mprotect(here_, whole_, PROT_READ) == 0; }
  void close() { open_ = ::mprotect(here_, whole_, PROT_NONE) != 0; }

 private:
  void change(std::byte* at, std::uint32_t dice) const {
    if (size_ == sizeof(float)) return store<float>(at, dice);
    if (size_ == sizeof(double)) return store<double>(at, dice);
    for (std::size_t i = 0; i < size_; ++i) at[i] = static_cast<std::byte>(dice >> (16 + 8 * i));
  }
  template <class T>
  static void store(std::byte* at, std::uint32_t dice) {
    using limits = std::numeric_limits<T>;
    static constexpr T values[] = {0, 1, -2, T(.5), limits::quiet_NaN(), limits::infinity(), -limits::infinity()};
    const std::uint32_t which = dice >> 16;
    const T value = which % 3 == 0 ? values[which / 3 % std::size(values)] : static_cast<T>(dice);
    std::memcpy(at, &value, sizeof value);
  }
  static std::byte* map(void* at, std::size_t bytes, int access, int how, int file) {
    void* const found = ::mmap(at, bytes, access, how, file, 0);
    REQUIRE(found != MAP_FAILED);
    return static_cast<std::byte*>(found);
  }
  // Values are aligned to 64 bytes.
  std::size_t offset() const { return (whole_ - bytes_) / 64 * 64; }

  static inline const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t bytes_, whole_, size_;  // size_: of an element
  std::byte *there_ = nullptr, *here_ = nullptr;
  bool open_ = false;
};

// Lends copies of values that change, and handles the signals by which they do as long as it lives. One at a time, for
// kernels that run in its thread. The handlers have a stack of their own: libraries of kernels use the register that
// points to the thread's for other addresses.
class changing_values {
 public:
  changing_values() {
    one = this;
    const stack_t own{.ss_sp = stack_.data(), .ss_flags = 0, .ss_size = stack_.size()};
    REQUIRE(::sigaltstack(&own, &stack_before_) == 0);
    handle(SIGSEGV, &changing_values::before_a_read, others_[0]);
    handle(SIGTRAP, &changing_values::behind_a_read, others_[1]);
  }
  changing_values(const changing_values&) = delete;
  ~changing_values() {
    give_back_signals();
    ::sigaltstack(&stack_before_, nullptr);
  }

  any_tensor lend(const any_tensor& value) {
    if (!may_be_lent(value.dtype()) || value.bytes() == 0) return copy_of(value);
    const auto memory = std::make_shared<changing_memory>(value.dtype(), value.raw(), value.bytes());
    all_.push_back(memory);
    return {value.dtype(), value.shape(), make_lent_buffer({memory, memory->data()}, value.bytes())};
  }
  std::uint64_t reads() const { return reads_; }
#ifdef __x86_64__
  static constexpr bool sees_each_read = true;
#else
  static constexpr bool sees_each_read = false;  // the first one of each value alone
#endif

 private:
  static void handle(int signal, void (*how)(int, siginfo_t*, void*), struct sigaction& before) {
    struct sigaction action {};
    action.sa_sigaction = how;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigaction(signal, &action, &before);
  }
  void give_back_signals() {
    ::sigaction(SIGSEGV, &others_[0], nullptr);
    ::sigaction(SIGTRAP, &others_[1], nullptr);
  }
  static void stop_behind_next([[maybe_unused]] void* thread, [[maybe_unused]] bool stops) {
#ifdef __x86_64__
    constexpr greg_t trap_flag = 0x100;
    auto& flags = static_cast<ucontext_t*>(thread)->uc_mcontext.gregs[REG_EFL];
    flags = stops ? flags | trap_flag : flags & ~trap_flag;
#endif
  }
  static bool writes([[maybe_unused]] void* thread) {
#ifdef __x86_64__
    return static_cast<ucontext_t*>(thread)->uc_mcontext.gregs[REG_ERR] & 2;
#else
    return false;
#endif
  }
  // Another access than a read of these values is left to those who handled the signal before.
  static void before_a_read(int, siginfo_t* about, void* thread) {
    for (const auto& memory : one->all_) {
      if (!memory->has(about->si_addr) || writes(thread) || memory->is_open()) continue;
      ++one->reads_;
      memory->change_near(about->si_addr, one->dice_);
      memory->open();
      stop_behind_next(thread, true);
      return;
    }
    one->give_back_signals();
  }
  static void behind_a_read(int, siginfo_t*, void* thread) {
    for (const auto& memory : one->all_) memory->close();
    stop_behind_next(thread, false);
  }

  static inline changing_values* one = nullptr;
  std::vector<std::shared_ptr<changing_memory>> all_;
  std::uint64_t reads_ = 0;
  std::uint32_t dice_ = 1;
  struct sigaction others_[2] = {};
  std::vector<std::byte> stack_ = std::vector<std::byte>(std::size_t{1} << 16);
  stack_t stack_before_ = {};
};

// Runs a call on inputs that change, and again where that were few reads; its values are any, and it may refuse them
// with a sentence. Returns how many reads there were.
std::uint64_t run_while_it_changes(const call& c) {
  constexpr std::uint64_t enough = 500;  // a read takes some 20 us
  changing_values values;
  const single_run node(c, [&](const any_tensor& t) { return values.lend(t); });
  for (int i = 0; i < 3 && values.reads() < enough; ++i) {
    try {
      node.again();
    } catch (const error& e) {
      if (e.code() == errc::internal) FAIL_CHECK(e.what());
    }
  }
  return values.reads();
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

TEST_CASE("C13: an op whose inputs change between any two reads comes to an end, and touches no other memory") {
  std::uint64_t reads = 0;
  for_each_case(
      [&](std::string_view op, const sample& s, dtype key) {
        const call c = call_of(op, s, key);
        if (!definition_of(op).bears_changing_inputs || !runs_alone(op)) return;
        if (std::none_of(c.inputs.begin(), c.inputs.end(), [](const auto& t) { return may_be_lent(t.dtype()); }))
          return;
        INFO(title(op, s, key));
        reads += run_while_it_changes(c);
        ledger::get().count("(i) inputs that change while they are read", op);
      },
      20, 33);
  CHECK(reads > (changing_values::sees_each_read ? 10'000 : 100));
}

TEST_CASE("C13: memory that changes has another value at each read") {
  changing_values values;
  const any_tensor lent = values.lend(any_tensor(dtype::float32, {1000}));
  const volatile float* const x = lent.data<float>();
  std::set<std::uint32_t> seen;  // its bits, since it may be a NaN
  for (int i = 0; i < 100; ++i) seen.insert(std::bit_cast<std::uint32_t>(static_cast<float>(x[500])));
  CHECK(values.reads() == (changing_values::sees_each_read ? 100 : 1));
  if (changing_values::sees_each_read) CHECK(seen.size() > 30);
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
