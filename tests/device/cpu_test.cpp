// The CPU device: host memory that is used again.
#include <pinion/device/cpu.hpp>

#include <catch2/catch.hpp>

#include <cstring>
#include <set>
#include <thread>
#include <vector>

namespace {

using namespace pinion;

devices::cpu_device cpu(int index = 0) {
  return devices::cpu_device(parse_device("/job:localhost/task:0/cpu:0").with_index(index));
}

TEST_CASE("a CPU tells its name, has no stream and no description") {
  auto d = cpu(1);
  CHECK(d.name() == "/job:localhost/task:0/device:CPU:1");
  CHECK(d.type() == "CPU");
  CHECK(d.description().empty());
  CHECK(d.stream() == nullptr);
  CHECK(d.memory_limit() == 268435456);
  CHECK(d.memory().is_host());
}

TEST_CASE("memory comes in 16 sizes between a power of two and the next") {
  const auto pool = std::make_shared<devices::pool_allocator>();
  std::string classes;
  for (std::size_t bytes : {0, 1, 64, 65, 128, 129, 1024, 1025, 2048, 2049, 2176, 2177, 4096, 4097, 501760, 1000000}) {
    const buffer_ref b(pool->allocate(bytes));
    classes += std::to_string(bytes) + ":" + std::to_string(b->capacity()) + " ";
  }
  CHECK(classes ==
        "0:64 1:64 64:64 65:128 128:128 129:192 1024:1024 1025:1088 2048:2048 2049:2176 2176:2176 2177:2304 4096:4096 "
        "4097:4352 501760:507904 1000000:1015808 ");
}

TEST_CASE("every size has room and is aligned") {
  const auto pool = std::make_shared<devices::pool_allocator>();
  for (std::size_t bytes = 1; bytes < 3000; bytes += 7) {
    const buffer_ref b(pool->allocate(bytes));
    REQUIRE(b->capacity() >= bytes);
    REQUIRE(reinterpret_cast<std::uintptr_t>(b->data()) % 64 == 0);
    std::memset(b->data(), 1, b->capacity());
  }
}

TEST_CASE("what comes back is given out again, to the same size class alone") {
  const auto pool = std::make_shared<devices::pool_allocator>();
  buffer_ref first(pool->allocate(1000));
  const void* address = first->data();
  first = {};
  const buffer_ref smaller(pool->allocate(100)), again(pool->allocate(1024)), other(pool->allocate(1000));
  CHECK(smaller->data() != address);
  CHECK(again->data() == address);
  CHECK(other->data() != address);
}

TEST_CASE("the pool lives as long as a buffer of it does") {
  auto pool = std::make_shared<devices::pool_allocator>();
  const std::weak_ptr<allocator> watched = pool;
  buffer_ref b(pool->allocate(10));
  pool.reset();
  std::memset(b->data(), 1, b->capacity());
  b = {};
  CHECK(watched.expired());
}

TEST_CASE("a pool that is trimmed gives back what was not needed since the last time, and keeps what was") {
  const auto pool = std::make_shared<devices::pool_allocator>();
  constexpr std::size_t large = std::size_t{64} << 20, small = 1024;
  { const buffer_ref a(pool->allocate(large)), b(pool->allocate(large)), c(pool->allocate(small)); }
  CHECK(pool->trim() == 0);  // all were needed since the pool was made
  CHECK(pool->held() == 2 * large + small);
  buffer_ref again(pool->allocate(large));
  CHECK(pool->trim() == large + small);
  CHECK(pool->held() == large);
  again = {};
  pool->trim();
  CHECK(pool->held() == large);
  pool->trim();
  CHECK(pool->held() == 0);
}

TEST_CASE("a thread is given its own returned block of the CPUs' pool, and leaves it to others at its end") {
  auto& pool = devices::pool_allocator::of_cpus();
  constexpr std::size_t kept_by_thread = 900 << 10, too_large_to_keep = 31 << 20;
  for (const std::size_t bytes : {kept_by_thread, too_large_to_keep}) {
    const void *first = nullptr, *again = nullptr;
    std::thread([&] {
      first = buffer_ref(pool.allocate(bytes))->data();
      again = buffer_ref(pool.allocate(bytes))->data();
    }).join();
    CHECK(again == first);
    CHECK(buffer_ref(pool.allocate(bytes))->data() == first);
  }
}

TEST_CASE("a thread that rests leaves its returned blocks to others before its end, and a trim gets them") {
  auto& pool = devices::pool_allocator::of_cpus();
  constexpr std::size_t bytes = 900 << 10;
  std::thread([&] {
    const void* const first = buffer_ref(pool.allocate(bytes))->data();
    pool.leave_own();
    CHECK(pool.held() > 0);
    std::thread([&] { CHECK(buffer_ref(pool.allocate(bytes))->data() == first); }).join();
    pool.trim(), pool.trim();
    CHECK(pool.trim() == 0);
    const auto before = pool.held();
    { const buffer_ref again(pool.allocate(bytes)); }
    pool.trim(), pool.trim();
    CHECK(pool.held() > before);  // the thread keeps it
    pool.leave_own();
    pool.trim(), pool.trim();
    CHECK(pool.held() == before);
  }).join();
}

TEST_CASE("a block that another thread returns is given out again by either") {
  auto& pool = devices::pool_allocator::of_cpus();
  std::vector<buffer_ref> lent;
  for (int i = 0; i < 100; ++i) lent.emplace_back(pool.allocate(700));
  std::set<const void*> blocks;
  for (const buffer_ref& b : lent) blocks.insert(b->data());
  std::thread([&] { lent.clear(); }).join();
  for (int i = 0; i < 100; ++i) lent.emplace_back(pool.allocate(700));
  for (const buffer_ref& b : lent) CHECK(blocks.count(b->data()) == 1);
}

TEST_CASE("threads may lend and return at once") {
  const auto pool = std::make_shared<devices::pool_allocator>();
  const auto work = [&](unsigned char mark) {
    for (std::size_t i = 0; i < 500; ++i) {
      const buffer_ref b(pool->allocate(64 + i % 3 * 64));
      std::memset(b->data(), mark, b->capacity());
      if (static_cast<unsigned char*>(b->data())[b->capacity() - 1] != mark) return false;
    }
    return true;
  };
  bool other_good = false;
  std::thread other([&] { other_good = work(1); });
  CHECK(work(2));
  other.join();
  CHECK(other_good);
}

TEST_CASE("tensors go to and from a CPU without a copy") {
  auto d = cpu();
  const auto t = tensor<float>::of({1, 2}).untyped();
  CHECK(d.from_host(t).raw() == t.raw());
  any_tensor back;
  d.to_host(t, [&](outcome<any_tensor> copy) { back = std::move(copy).value(); });
  CHECK(back.raw() == t.raw());
}

}  // namespace
