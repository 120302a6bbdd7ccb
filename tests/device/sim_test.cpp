// The simulated accelerator: an address space, a limit, an ordered stream, faults.
#include <pinion/device/sim.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <future>
#include <set>
#include <thread>

#include <support/caught.hpp>

namespace {

using namespace pinion;

const auto gpu0 = parse_device("/job:localhost/replica:0/task:0/gpu:0");
const std::string name = "/job:localhost/replica:0/task:0/device:GPU:0";

struct simulated {
  devices::sim_device device;
  explicit simulated(const sim::accelerator& like = sim::gpu()) : device(gpu0, like) {}
  devices::sim_device* operator->() { return &device; }
  any_tensor room(std::int64_t floats) { return {dtype::float32, {floats}, device.memory()}; }
  // What lies on the device, once the stream has come this far.
  any_tensor fetched(const any_tensor& t) {
    std::promise<outcome<any_tensor>> done;
    device.to_host(t, [&](outcome<any_tensor> copy) { done.set_value(std::move(copy)); });
    return done.get_future().get().value();
  }
  void await_callbacks() {
    std::promise<void> last;
    device.stream()->when_reached([&](outcome<>) { last.set_value(); });
    last.get_future().get();
  }
};

unsigned byte_of(const any_tensor& t, std::size_t at = 0) {
  const devices::guarded_memory::access here(devices::guarded_memory::of_sims());
  return std::to_integer<unsigned>(t.byte_data()[at]);
}

// ---- the address space

TEST_CASE("a simulated GPU tells what it is") {
  simulated d(sim::gpu(4096));
  CHECK(d->name() == name);
  CHECK(d->type() == "GPU");
  CHECK(d->memory_limit() == 4096);
  CHECK(d->description() == "simulated GPU, computing on the host");
  CHECK(d->stream() != nullptr);
}

TEST_CASE("the memory of a simulated GPU is not the host's") {
  simulated d;
  CHECK_FALSE(d->memory().is_host());
  CHECK_FALSE(d.room(4).on_host());
  const auto t = tensor<float>::of({1, 2, 3});
  const any_tensor there = d->from_host(t.untyped());
  CHECK_FALSE(there.on_host());
  CHECK(there.raw() != t.untyped().raw());
  CHECK(d.fetched(there).on_host());
  CHECK(d.fetched(there) == t.untyped());
}

TEST_CASE("what the host changes after from_host does not reach the device") {
  simulated d;
  std::promise<void> gate;
  d->stream()->enqueue([opened = gate.get_future().share()] { opened.wait(); });
  auto t = std::make_unique<tensor<int>>(tensor<int>::of({1, 2}));
  const any_tensor there = d->from_host(t->untyped());
  (*t)(0) = 99;
  t.reset();
  gate.set_value();
  CHECK(d.fetched(there) == tensor<int>::of({1, 2}).untyped());
}

TEST_CASE("a tensor without elements makes the journey") {
  simulated d;
  const any_tensor none = tensor<float>({0, 3}).untyped();
  CHECK(d.fetched(d->from_host(none)) == none);
}

TEST_CASE("text stays on the host") {
  simulated d;
  CHECK(failure([&] { d->from_host(tensor<std::string>::of({"a"}).untyped()); }) ==
        "invalid_argument: text stays in host memory; it cannot go to " + name);
}

// ---- memory

TEST_CASE("an allocation beyond the limit is refused with how much is in use, and where") {
  simulated d(sim::gpu(1024));
  any_tensor kept = d.room(128);
  const auto e = caught([&] { d.room(200); });
  CHECK(e.code() == errc::resource_exhausted);
  CHECK(e.sentence() == "no memory for 800 bytes on " + name +
                            ": 512 of 1024 bytes are in use; the largest holders are values without a node with 512 "
                            "bytes");
  CHECK(e.device() == name);
  CHECK(d.room(128).bytes() == 512);
  kept = {};
  CHECK(d.room(256).bytes() == 1024);
}

TEST_CASE("the memory counts what is in use and the most there was") {
  simulated d;
  {
    const any_tensor a = d.room(64), b = d.room(1);
    CHECK(d->memory().used() == 512);
  }
  CHECK(d->memory().used() == 0);
  CHECK(d->memory().peak() == 512);
}

TEST_CASE("the allocation that was told to fail does, once") {
  simulated d({.fail_allocation = 2});
  CHECK_NOTHROW(d.room(1));
  CHECK(caught([&] { d.room(1); }).code() == errc::resource_exhausted);
  CHECK_NOTHROW(d.room(1));
  CHECK(d->memory().used() == 0);
}

TEST_CASE("fresh memory is poisoned, and so is what came back") {
  simulated d;
  any_tensor fresh = d.room(64);
  CHECK(byte_of(fresh) == 0xA5);
  CHECK(byte_of(fresh, 255) == 0xA5);
  const void* address = fresh.raw();
  fresh = {};
  const any_tensor again = d.room(50);
  d->stream()->synchronize();
  CHECK(again.raw() == address);
  CHECK(byte_of(again) == 0xDD);
}

TEST_CASE("a tensor that is let go while the stream still needs it is read before it is poisoned") {
  simulated d;
  std::promise<void> gate;
  d->stream()->enqueue([opened = gate.get_future().share()] { opened.wait(); });
  const auto t = tensor<int>::of({1, 2, 3});
  std::promise<any_tensor> back;
  {
    const any_tensor there = d->from_host(t.untyped());
    d->to_host(there, [&](outcome<any_tensor> copy) { back.set_value(std::move(copy).value()); });
  }
  const any_tensor next = d->from_host(tensor<int>::of({7, 8, 9}).untyped());
  gate.set_value();
  CHECK(back.get_future().get() == t.untyped());
  CHECK(d.fetched(next) == tensor<int>::of({7, 8, 9}).untyped());
}

// A device whose stream does not go on before open() is called.
struct held_up : simulated {
  std::promise<void> gate;
  held_up() {
    device.stream()->enqueue([opened = gate.get_future().share()] { opened.wait(); });
  }
  void open() { gate.set_value(); }
};

TEST_CASE("a host tensor is kept until it was copied to the device") {
  held_up d;
  tensor<int> t = tensor<int>::of({1, 2, 3});
  const any_tensor there = d->from_host(t.untyped());
  CHECK_FALSE(t.untyped().unique());
  d.open();
  CHECK(d.fetched(there) == t.untyped());
  CHECK(t.untyped().unique());
}

TEST_CASE("a block that is copied to the host returns behind the copy") {
  held_up d;
  std::promise<any_tensor> back;
  any_tensor there = d.room(4);
  d->to_host(there, [&](outcome<any_tensor> copy) { back.set_value(std::move(copy).value()); });
  there = {};
  CHECK(d->memory().used() == 256);
  d.open();
  back.get_future().get();
  CHECK(d->memory().used() == 0);
}

TEST_CASE("a block that a peer copies returns behind the copy, though its own stream is long past") {
  simulated owner;
  held_up peer;
  const auto t = tensor<int>::of({1, 2, 3});
  any_tensor there = owner->from_host(t.untyped());
  const any_tensor copied = peer->from_peer(there, owner->stream()->record());
  there = {};
  owner->stream()->synchronize();
  CHECK(owner->memory().used() == 256);
  peer.open();
  CHECK(peer.fetched(copied) == t.untyped());
  CHECK(owner->memory().used() == 0);
}

TEST_CASE("a copy into a block comes behind the work that used the block before") {
  held_up d;
  any_tensor former = d.room(4);
  d->stream()->enqueue([data = former.raw()] { std::memset(data, 1, 16); });
  const void* address = former.raw();
  former = {};
  const any_tensor next = d->from_host(tensor<int>::of({7, 8, 9, 10}).untyped());
  CHECK(next.raw() == address);
  d.open();
  CHECK(d.fetched(next) == tensor<int>::of({7, 8, 9, 10}).untyped());
}

TEST_CASE("a device that goes, while its stream holds the last references to tensors, does what was asked first") {
  for (int round = 0; round < 50; ++round) {
    std::int64_t seen = 0;
    {
      simulated d;
      for (int i = 0; i < 4; ++i) d->stream()->enqueue([&seen, t = d.room(1000)] { seen += t.bytes(); });
    }
    CHECK(seen == 4 * 4000);
  }
}

// ---- the stream

TEST_CASE("bodies run one after the other, in order, in a thread of the stream; callbacks so in another") {
  simulated d;
  std::vector<int> ran, called;
  std::set<std::thread::id> bodies, callbacks;
  for (int i = 0; i < 200; ++i) {
    d->stream()->enqueue([&, i] { ran.push_back(i), bodies.insert(std::this_thread::get_id()); });
    d->stream()->when_reached([&, i](outcome<>) { called.push_back(i), callbacks.insert(std::this_thread::get_id()); });
  }
  d.await_callbacks();
  CHECK(ran.size() == 200);
  CHECK(std::is_sorted(ran.begin(), ran.end()));
  CHECK(called == ran);
  CHECK(bodies.size() == 1);
  CHECK(callbacks.size() == 1);
  CHECK(std::set{*bodies.begin(), *callbacks.begin(), std::this_thread::get_id()}.size() == 3);
}

TEST_CASE("a stream does not wait for its callbacks, and a callback may wait for the stream") {
  simulated d;
  std::promise<int> ran;
  d->stream()->when_reached([&, number = std::make_shared<std::future<int>>(ran.get_future())](outcome<>) {
    CHECK(number->get() == 7);  // set by a body behind this point
    CHECK_NOTHROW(d->stream()->synchronize());
  });
  d->stream()->enqueue([&] { ran.set_value(7); });
  d.await_callbacks();
}

TEST_CASE("a callback may go on with the work: allocate, copy, free and ask to be called back") {
  simulated d;
  std::promise<any_tensor> back;
  d->stream()->when_reached([&](outcome<>) {
    const any_tensor there = d->from_host(tensor<int>::of({4, 5}).untyped());
    d->to_host(there, [&](outcome<any_tensor> copy) { back.set_value(std::move(copy).value()); });
  });
  CHECK(back.get_future().get() == tensor<int>::of({4, 5}).untyped());
}

TEST_CASE("a body that throws fails the device for good: later bodies are skipped, and every callback is told") {
  simulated d;
  std::string seen;
  const auto note = [&](const outcome<>& how) {
    seen += how ? "fine " : std::string(to_string(how.failure()->code())) + " ";
  };
  d->stream()->when_reached(note);
  d->stream()->enqueue([] { throw error(errc::out_of_range, "index 9"); });
  d->stream()->enqueue([&] { seen += "ran? "; });
  d->stream()->when_reached(note);
  d->stream()->enqueue([&] { seen += "ran? "; });
  d->stream()->when_reached(note);
  d.await_callbacks();
  CHECK(seen == "fine out_of_range out_of_range ");
}

TEST_CASE("synchronize throws the first thing that a body threw, every time") {
  simulated d;
  d->stream()->enqueue([] { throw std::runtime_error("not one of ours"); });
  d->stream()->enqueue([] { throw error(errc::out_of_range, "index 9"); });
  CHECK(failure([&] { d->stream()->synchronize(); }) == "unknown: not one of ours");
  CHECK(failure([&] { d->stream()->synchronize(); }) == "unknown: not one of ours");
}

TEST_CASE("a copy to the host behind a failed body hands over the error") {
  simulated d;
  const any_tensor there = d->from_host(tensor<int>::of({1}).untyped());
  d->stream()->enqueue([] { throw error(errc::out_of_range, "index 9"); });
  CHECK(caught([&] { d.fetched(there); }).code() == errc::out_of_range);
}

TEST_CASE("a device that waits for another that has failed goes on") {
  simulated lost, other;
  lost->stream()->enqueue([] { throw error(errc::unavailable, "the card is gone"); });
  other->stream()->wait(lost->stream()->record());
  const auto t = tensor<int>::of({1, 2});
  CHECK(other.fetched(other->from_host(t.untyped())) == t.untyped());
}

TEST_CASE("a mark has a time once the stream has reached it, and bodies between two marks take time") {
  simulated d;
  std::promise<void> gate;
  d->stream()->enqueue([opened = gate.get_future().share()] { opened.wait(); });
  const auto begin = d->stream()->mark();
  std::chrono::steady_clock::time_point within;
  d->stream()->enqueue([&] { within = std::chrono::steady_clock::now(); });
  const auto end = d->stream()->mark();
  CHECK_FALSE(begin->time());
  CHECK_FALSE(end->time());
  gate.set_value();
  d->stream()->synchronize();
  CHECK(begin->time().value() <= within);
  CHECK(within <= end->time().value());
}

TEST_CASE("a stream that has failed still reaches its marks") {
  simulated d;
  d->stream()->enqueue([] { throw error(errc::unavailable, "the card is gone"); });
  const auto behind = d->stream()->mark();
  CHECK(caught([&] { d->stream()->synchronize(); }).code() == errc::unavailable);
  CHECK(behind->time());
}

TEST_CASE("two devices do not wait for each other") {
  simulated one, other;
  std::promise<void> gate;
  one->stream()->enqueue([opened = gate.get_future().share()] { opened.wait(); });
  CHECK(other.fetched(other->from_host(tensor<int>(3).untyped())) == tensor<int>(3).untyped());
  gate.set_value();
}

}  // namespace
