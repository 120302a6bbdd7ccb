// Values in memory that a task of the same host has lent: which are borrowed, how long they live, that nobody writes to
// them, and what becomes of those that find no room.
#include <distributed/real_cluster.hpp>

#include <catch2/catch.hpp>

#include <pinion/rpc/shared_memory/shared_memory.hpp>

#include <distributed/wire.hpp>

namespace {

using namespace real;

// ---- which

// A payload as it lies in the memory that a peer has lent.
std::shared_ptr<std::byte> lent(const wire::letter& from) {
  std::shared_ptr<std::byte> bytes(new (std::align_val_t(64)) std::byte[from.payload_bytes],
                                   [](std::byte* p) { ::operator delete[](p, std::align_val_t(64)); });
  std::size_t at = 0;
  for (const auto& p : from.parts) {
    std::memcpy(bytes.get() + at, p.data, p.bytes);
    at += p.bytes;
  }
  return bytes;
}

TEST_CASE("values of which any bits will do are borrowed; positions, booleans and small values are copied") {
  const auto is_borrowed = [](const any_tensor& value) {
    const auto from = wire::sent(value);
    const auto there = lent(from);
    rpc::reader in(from.control, from.payload_bytes, there);
    any_tensor read;
    in(read);
    in.finish();
    if (read.raw() != there.get()) return false;
    CHECK(read == value);
    return true;
  };
  constexpr std::int64_t many = 16 << 10;
  CHECK(is_borrowed(tensor<float>({many}).untyped()));
  CHECK(is_borrowed(tensor<double>({many}).untyped()));
  CHECK(is_borrowed(tensor<std::uint8_t>({many}).untyped()));
  CHECK_FALSE(is_borrowed(tensor<std::int32_t>({many}).untyped()));
  CHECK_FALSE(is_borrowed(tensor<std::int64_t>({many}).untyped()));
  CHECK_FALSE(is_borrowed(tensor<bool>({many}).untyped()));
  CHECK_FALSE(is_borrowed(tensor<float>({many / 8}).untyped()));
}

// ---- from task to task

// A worker that gets values of a ps, which share memory.
struct two_tasks {
  static constexpr std::int64_t bytes = std::int64_t{32} << 20, count = bytes / 4;
  own_graph g;
  local_cluster tasks{{{"ps", 1}, {"worker", 1}}};
  expr<float> number = placeholder<float>({}, "number");
  expr<float> there, here, twice;

  two_tasks() {
    {
      const device on{"/job:ps/task:0"};
      there = zeros<float>({count}) + number;
    }
    const device on{"/job:worker/task:0"};
    here = identity(there);
    twice = here + here;
  }
};

TEST_CASE("a value that came stays as it was while it is held, whatever comes after it, and when the tasks are gone") {
  std::vector<tensor<float>> held;
  {
    two_tasks c;
    session sess{{.target = c.tasks.target("worker", 0)}};
    for (int i = 0; i < 10; ++i) held.push_back(sess.run({{c.number, tensor<float>(float(i))}}, c.here));
  }
  static_assert(10 * two_tasks::bytes > rpc::shared_memory::capacity);  // the last ones came another way
  for (std::size_t i = 0; i < held.size(); ++i)
    CHECK(held[i] == tensor<float>({two_tasks::count}, std::vector<float>(two_tasks::count, float(i))));
}

TEST_CASE("nobody computes in place of a value that came, and its receiver may write to a copy") {
  two_tasks c;
  session sess{{.target = c.tasks.target("worker", 0)}};
  auto [here, twice] = sess.run({{c.number, tensor<float>(3.0f)}}, c.here, c.twice);
  const auto all = [](float x) { return tensor<float>({two_tasks::count}, std::vector<float>(two_tasks::count, x)); };
  CHECK(twice == all(6));
  CHECK(here == all(3));
  auto mine = here;
  mine(0) = 1;
  CHECK(here == all(3));
}

TEST_CASE("a variable that a task of the same host reads is one state of it, whatever is added to it meanwhile") {
  own_graph g;
  local_cluster tasks{{{"ps", 1}, {"worker", 1}}};
  variable_handle<float> v;
  operation add;
  {
    const device on{"/job:ps/task:0"};
    v = variable(zeros<float>({300'000}), {.name = "v"});
    add = operation(assign_add(v, ones<float>({300'000})));
  }
  expr<float> least, most;
  {
    const device on{"/job:worker/task:0"};
    const expr<float> here = identity(v);
    least = reduce_min(here);
    most = reduce_max(here);
  }
  session reads{{.target = tasks.target("worker", 0)}}, adds{{.target = tasks.target("ps", 0)}};
  reads.run(global_variables_initializer());
  std::atomic<bool> over{false};
  std::thread other([&] {
    while (!over) adds.run(add);
  });
  bool one_state = true, grows = true;
  float before = 0;
  for (int i = 0; i < 300; ++i) {
    const auto [a, b] = reads.run(least, most);
    one_state = one_state && a == b;
    grows = grows && a.data()[0] >= before;
    before = a.data()[0];
  }
  over = true;
  other.join();
  CHECK(one_state);
  CHECK(grows);
  CHECK(before > 0);
}

}  // namespace
