// Memory that other processes can be shown: where it lies, what they may do with it, and when it goes.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <pinion/base/host_memory.hpp>

namespace {

using namespace pinion;

constexpr std::size_t kib = 1 << 10, mib = 1 << 20;

struct piece {
  explicit piece(std::size_t n) : bytes(n), data(new_host_memory(n)) { REQUIRE(data); }
  piece(piece&& o) noexcept : bytes(o.bytes), data(std::exchange(o.data, nullptr)) {}
  ~piece() {
    if (data) delete_host_memory(data, bytes);
  }
  std::optional<place_in_slab> place() const { return find_in_slabs(data, bytes); }
  std::size_t bytes;
  std::byte* data;
};

TEST_CASE("memory lies in slabs from when it is shared on, and what was taken before stays where it is") {
  const piece before(64 * kib);
  const bool was_in_slab = before.place().has_value();  // only if another test has shared memory
  share_host_memory();
  CHECK(before.place().has_value() == was_in_slab);
  const piece large(64 * kib), larger(40 * mib), small(kib);
  CHECK_FALSE(small.place());
  for (const piece* p : {&large, &larger}) {
    const auto at = p->place();
    REQUIRE(at);
    CHECK(at->slab->data() + at->offset == p->data);
    CHECK(at->offset % 64 == 0);
    CHECK(find_in_slabs(p->data + 100, p->bytes - 100)->offset == at->offset + 100);
  }
  CHECK(large.place()->slab != larger.place()->slab);
  CHECK_FALSE(find_in_slabs(larger.data, larger.bytes + mib));
}

TEST_CASE("pieces of a slab do not overlap, are used anew, and the slab goes with the last of them") {
  share_host_memory();
  std::vector<piece> all;
  for (int i = 0; i < 200; ++i) {
    all.emplace_back(16 * kib + static_cast<std::size_t>(i) * 777);
    std::memset(all.back().data, i, all.back().bytes);
  }
  for (std::size_t i = 0; i < all.size(); i += 3) {
    const std::size_t bytes = all[i].bytes;
    { const piece gone = std::move(all[i]); }
    all[i].bytes = bytes, all[i].data = new_host_memory(bytes);
    std::memset(all[i].data, static_cast<int>(i), bytes);
  }
  bool right = true;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t at = 0; at < all[i].bytes; ++at) right = right && all[i].data[at] == static_cast<std::byte>(i);
  CHECK(right);
  std::byte* const at = all.front().data;
  std::weak_ptr<const memory_slab> slab = all.front().place()->slab;
  all.clear();
  CHECK(slab.expired());
  CHECK_FALSE(find_in_slabs(at, 1));
}

TEST_CASE("whoever has the file of a slab reads it, learns when it is gone, and can neither write nor shrink it") {
  share_host_memory();
  std::optional<piece> mine(8 * mib);
  std::memset(mine->data, 7, mine->bytes);
  auto place = *mine->place();
  const int file = ::dup(place.slab->file());
  const std::size_t bytes = place.slab->bytes();
  CHECK(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) == MAP_FAILED);
  CHECK(::ftruncate(file, 0) != 0);
  CHECK(::pwrite(file, "x", 1, 0) < 0);
  auto* const seen = static_cast<const std::byte*>(::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, 0));
  REQUIRE(seen != MAP_FAILED);
  CHECK(::mprotect(const_cast<std::byte*>(seen), bytes, PROT_READ | PROT_WRITE) != 0);
  CHECK(seen[place.offset] == std::byte{7});
  mine->data[0] = std::byte{8};
  CHECK(seen[place.offset] == std::byte{8});
  const auto& first = *reinterpret_cast<const memory_slab::beginning*>(seen);
  CHECK(first.id == place.slab->id());
  CHECK(first.is_gone == 0);
  place.slab = nullptr;
  mine.reset();
  CHECK(first.is_gone == 1);
  CHECK(seen[place.offset] == std::byte{8});
  ::munmap(const_cast<std::byte*>(seen), bytes);
  ::close(file);
}

TEST_CASE("a child that was forked writes to memory of its own") {
  share_host_memory();
  const piece mine(64 * kib);
  std::memset(mine.data, 1, mine.bytes);
  const pid_t child = ::fork();
  if (child == 0) {
    const bool sees = mine.data[5] == std::byte{1};
    std::memset(mine.data, 2, mine.bytes);
    std::byte* const more = new_host_memory(64 * kib);
    std::memset(more, 3, 64 * kib);
    ::_exit(sees && mine.data[5] == std::byte{2} ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(mine.data[5] == std::byte{1});
  const piece next(64 * kib);
  std::memset(next.data, 4, next.bytes);
  CHECK(mine.data[5] == std::byte{1});
}

}  // namespace
