// A device whose kernels are CUDA, of which a test has only the promise: who gets its stream, and who is refused.
#include <catch2/catch.hpp>

#include <pinion/op/kernels.hpp>
#include <pinion/runtime/task.hpp>
#include <pinion/session.hpp>

#include "placement/world.hpp"
#include "support/caught.hpp"
#include "support/own_ops.hpp"

namespace {

namespace pn = pinion;

const std::string gpu = "/job:localhost/replica:0/task:0/device:GPU:0";
const auto number_7 = reinterpret_cast<pn::devices::cuda_stream>(7);  // nobody looks at what it points to

// It runs nothing.
struct cuda_stream final : pn::devices::stream {
  void enqueue(std::function<void()>) override { FAIL("a body of host code reached the stream"); }
  void when_reached(pn::completion<> callback) override { callback({}); }
  std::shared_ptr<pn::devices::event> record() override { return std::make_shared<pn::devices::event>(); }
  void wait(std::shared_ptr<pn::devices::event>) override {}
  std::shared_ptr<pn::devices::mark> mark() override { return nullptr; }
  void synchronize() override {}
  pn::devices::cuda_stream native() override { return number_7; }
};
struct cuda_device final : pn::devices::device {
  cuda_device() : device(pn::parse_device(gpu), 0, "") {}
  pn::devices::kernel_code kernels() const override { return pn::devices::kernel_code::cuda; }
  pn::allocator& memory() override { return *pn::heap_allocator::instance(); }
  pn::devices::stream* stream() override { return &stream_; }
  pn::any_tensor from_host(const pn::any_tensor& value) override { return value; }
  void to_host(const pn::any_tensor& value, pn::completion<pn::any_tensor> done) override { done(value); }

 private:
  cuda_stream stream_;
};

// x, by a CUDA kernel that only notes the stream on which it would be launched.
struct noting : own::scaled {
  static constexpr std::string_view name = "OwnNoting";
  static inline pn::devices::cuda_stream seen = nullptr;
  static void cuda(pn::kernel_context& c, pn::devices::cuda_stream on) {
    c.outputs[0] = c.input(0);
    seen = on;
  }
};
static_assert(pn::dsl::has_cuda_kernel<noting> && !pn::dsl::has_cuda_kernel<own::scaled>);

struct cuda_world : world {
  cuda_device card;
  pn::expr<float> x = pn::placeholder<float>({2}, "x");
  cuda_world() : world{"cpu:0", "gpu:0"} {
    pn::register_op<own::scaled>();
    pn::register_op<noting>();
    devices[1].lacks = pn::registered_without_cuda();
  }
  // Runs the kernel of a node on the card.
  void run(const pn::any_expr& y) {
    pn::task_services services;
    const pn::node& n = y.node();
    const auto kernel = pn::make_kernel_for({g, n, card, services});
    std::vector<pn::any_tensor> in(n.inputs.size(), pn::tensor<float>::of({1, 2}).untyped()), out(n.outputs.size());
    pn::kernel_context c;
    c.node = &n;
    c.device = &card;
    c.services = &services;
    c.inputs = in;
    c.outputs = out;
    kernel->run(c);
  }
};

}  // namespace

TEST_CASE("an op of one's own with a function cuda gets the stream by its CUDA name") {
  cuda_world w;
  w.run(pn::call<noting>(w.x));
  CHECK(noting::seen == number_7);
}

TEST_CASE("host code that is launched to a device of CUDA kernels is an internal error, and does not run") {
  cuda_world w;
  pn::find_cuda_kernels_by(nullptr);
  CHECK(failure([&] { w.run(pn::call<own::scaled>(w.x)); }) ==
        "internal: the kernel of OwnScaled launches host code, and the kernels of " + gpu + " are CUDA");
  CHECK(failure([&] { w.run(w.x + w.x); }) ==
        "internal: the kernel of Add launches host code, and the kernels of " + gpu + " are CUDA");
}

TEST_CASE("an op of the library gets its CUDA kernel, or that of hosts, which serves if it launches nothing") {
  cuda_world w;
  static int made;
  made = 0;
  pn::find_cuda_kernels_by([](std::string_view op) -> pn::kernel_maker {
    if (op != "Add") return nullptr;
    return [](const pn::kernel_setup&) { return pn::make_function_kernel([](pn::kernel_context&) { ++made; }); };
  });
  CHECK_NOTHROW(w.run(w.x + w.x));
  CHECK_NOTHROW(w.run(pn::identity(w.x)));
  pn::find_cuda_kernels_by(nullptr);
  CHECK(made == 1);
}

TEST_CASE("an op of one's own without a function cuda is refused where kernels are CUDA, or moved") {
  cuda_world w;
  const auto y = [&] {
    const pn::device on{"/gpu:0"};
    return pn::call<own::scaled>(w.x);
  }();
  CHECK_THAT(failure([&] { w.plan({y}); }),
             Catch::Contains(gpu + " lacks OwnScaled, which has no function cuda(kernel_context&, cudaStream_t)"));
  w.soft = true;
  CHECK(w.plan({y}).device_of("OwnScaled").find("CPU") != std::string::npos);
}

TEST_CASE("a task says of a device of CUDA kernels which ops it lacks") {
  cuda_world w;
  pn::runtime::task t{{}};
  t.devices.push_back(std::make_unique<cuda_device>());
  const auto lacks = t.device_infos().back().lacks;
  CHECK(std::count(lacks.begin(), lacks.end(), "OwnScaled") == 1);
  CHECK(std::count(lacks.begin(), lacks.end(), "OwnNoting") == 0);
  CHECK(t.device_infos().front().lacks.empty());
}
