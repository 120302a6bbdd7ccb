// Copies between hosts and GPUs, of every size, while streams pause at random.
#include <catch2/catch.hpp>

#include <algorithm>
#include <future>
#include <numeric>
#include <thread>

#include <pinion/data/sources.hpp>
#include <pinion/op/source/cuda_kernels.hpp>
#include <pinion/tensor/page_locked.hpp>

#include "cuda_device/gpus.hpp"

namespace {

using namespace cuda_tests;

pn::any_tensor counted(std::int64_t n, float first = 0) {
  pn::any_tensor t(pn::dtype::float32, {n});
  std::iota(t.data<float>(), t.data<float>() + n, first);
  return t;
}

fake_cuda::settings with_jitter(int devices = 1) {
  auto s = machine::with(devices);
  s.jitter_us = 300;
  return s;
}

struct cards : machine {
  explicit cards(int devices = 1) : machine(with_jitter(devices)) {
    const auto found = pn::cuda::list_cards().cards;
    for (int i = 0; i < devices; ++i)
      all.push_back(std::make_unique<pn::cuda::device>(
          pn::parse_device("/job:localhost/replica:0/task:0/gpu:" + std::to_string(i)),
          found[static_cast<std::size_t>(i) % found.size()], std::int64_t{200} << 20, false));
  }
  pn::any_tensor fetched(pn::any_tensor there, std::size_t from = 0) {
    std::promise<pn::outcome<pn::any_tensor>> done;
    all[from]->to_host(there, [&](pn::outcome<pn::any_tensor> copy) { done.set_value(std::move(copy)); });
    there = {};
    return done.get_future().get().value();
  }

  std::vector<std::unique_ptr<pn::cuda::device>> all;
};

TEST_CASE_METHOD(cards, "a value comes back from a GPU, whatever its size") {
  for (const std::int64_t n : {0, 1, 1000, 16384, 16385, 1 << 20, (1 << 21) + 7}) {
    INFO(n);
    const auto x = counted(n);
    CHECK(fetched(all[0]->from_host(x)) == x);
  }
  CHECK(fake_cuda::take_misuses().empty());
}

TEST_CASE_METHOD(cards, "several threads copy a large value on its way to a GPU, and each part of it once") {
  pn::thread_pool helpers(3);
  pn::cuda::device gpu(pn::parse_device("/job:localhost/replica:0/task:0/gpu:0"), pn::cuda::list_cards().cards[0],
                       std::int64_t{200} << 20, false, pn::product_precision::full, &helpers);
  for (const std::int64_t n : {1 << 17, (1 << 17) + 1, (3 << 20) + 5}) {
    INFO(n);
    const auto x = counted(n);
    std::promise<pn::any_tensor> done;
    gpu.to_host(gpu.from_host(x), [&](pn::outcome<pn::any_tensor> copy) { done.set_value(std::move(copy).value()); });
    CHECK(done.get_future().get() == x);
  }
}

bool is_page_locked(const pn::any_tensor& t) {
  return t.storage()->home().get() == &pn::cuda::pinned_memory::of_gpus();
}

TEST_CASE_METHOD(cards, "tensors for GPUs, and batches of datasets, are page-locked where a GPU is used") {
  all[0]->from_host(counted(1));
  const auto x = pn::page_locked<float>({300, 400});
  CHECK(is_page_locked(x.untyped()));
  CHECK(x == pn::tensor<float>({300, 400}));
  CHECK(fetched(all[0]->from_host(x.untyped())) == x.untyped());
  CHECK_FALSE(is_page_locked(pn::page_locked<std::string>({3}).untyped()));
  for (auto& [batch] : pn::data::from_tensors(x).batch(64).iterate()) CHECK(is_page_locked(batch.untyped()));
}

TEST_CASE_METHOD(cards, "a page-locked tensor that is written while a GPU copies it stays page-locked") {
  all[0]->from_host(counted(1));
  auto x = pn::page_locked<float>({1 << 18});
  const auto there = all[0]->from_host(x.untyped());
  std::fill_n(x.data(), x.size(), 1.f);
  CHECK(is_page_locked(x.untyped()));
  CHECK(fetched(there) == pn::tensor<float>({1 << 18}).untyped());
}

TEST_CASE_METHOD(cards, "no more than a gigabyte of tensors is page-locked, and what goes makes room", "[stand-in]") {
  all[0]->from_host(counted(1));
  const auto next = [] { return pn::page_locked_tensor(pn::dtype::uint8, {std::int64_t{256} << 20}); };
  std::vector<pn::any_tensor> held;
  while (held.size() < 8) held.push_back(next());
  CHECK(std::count_if(held.begin(), held.end(), is_page_locked) == 4);
  held.clear();
  CHECK(is_page_locked(next()));
  CHECK_FALSE(is_page_locked(pn::page_locked_tensor(pn::dtype::uint8, {(std::int64_t{1} << 30) + 1})));
}

TEST_CASE_METHOD(cards, "copies of page-locked tensors count among them, and beyond the gigabyte they are ordinary",
                 "[stand-in]") {
  all[0]->from_host(counted(1));
  const pn::tensor<std::uint8_t> x(pn::page_locked_tensor(pn::dtype::uint8, {std::int64_t{256} << 20}));
  std::vector<pn::tensor<std::uint8_t>> copies(4, x);
  for (auto& copy : copies) copy(0) = 1;
  CHECK(std::count_if(copies.begin(), copies.end(), [](auto& copy) { return is_page_locked(copy.untyped()); }) == 3);
  CHECK(std::all_of(copies.begin(), copies.end(), [](const auto& copy) { return copy(0) == 1; }));
}

TEST_CASE_METHOD(cards, "threads that ask at the same time get a gigabyte of page-locked tensors together",
                 "[stand-in]") {
  all[0]->from_host(counted(1));
  std::vector<pn::any_tensor> given(8);
  {
    std::vector<std::jthread> threads;
    for (auto& mine : given)
      threads.emplace_back([&] { mine = pn::page_locked_tensor(pn::dtype::uint8, {std::int64_t{512} << 20}); });
  }
  CHECK(std::count_if(given.begin(), given.end(), is_page_locked) == 2);
}

TEST_CASE_METHOD(cards, "the host may let go of a value, and write its memory, as soon as it was given") {
  std::vector<pn::any_tensor> there;
  for (int i = 0; i < 20; ++i) {
    auto x = counted(50000, static_cast<float>(i));
    there.push_back(all[0]->from_host(x));
    std::fill_n(x.data<float>(), x.count(), -1.f);
  }
  for (int i = 0; i < 20; ++i)
    CHECK(fetched(std::exchange(there[static_cast<std::size_t>(i)], {})) == counted(50000, static_cast<float>(i)));
}

TEST_CASE_METHOD(cards, "a fetched value is sent back without a stage, and is not changed meanwhile") {
  const auto back = fetched(all[0]->from_host(counted(1 << 20)));
  const auto there = all[0]->from_host(back);
  CHECK(fetched(there) == counted(1 << 20));
}

TEST_CASE("a copy that fails midway gives its block back when no stream writes to it", "[stand-in]") {
  auto like = with_jitter();
  like.jitter_us = 20000;
  machine of(like);
  pn::cuda::device gpu(pn::parse_device("/job:localhost/replica:0/task:0/gpu:0"), pn::cuda::list_cards().cards[0],
                       std::int64_t{200} << 20, false);
  const std::int64_t n = 3 << 20;  // elements: three pieces
  gpu.stream()->synchronize();
  fake_cuda::fail_allocation(3);
  CHECK(caught([&] { gpu.from_host(counted(n)); }).code() == pn::errc::resource_exhausted);
  const pn::any_tensor again(pn::dtype::float32, {n}, gpu.memory());
  pn::cuda::fill(gpu.stream()->native(), again.data<float>(), n, 0.f);
  std::promise<pn::outcome<pn::any_tensor>> done;
  gpu.to_host(again, [&](pn::outcome<pn::any_tensor> copy) { done.set_value(std::move(copy)); });
  const pn::any_tensor zeros = done.get_future().get().value();
  CHECK(std::count(zeros.data<float>(), zeros.data<float>() + n, 0.f) == n);
  CHECK(fake_cuda::take_misuses().empty());
}

TEST_CASE_METHOD(cards, "a block that is let go is not given to a copy before kernels are done with it") {
  for (int i = 0; i < 20; ++i) {
    const auto x = counted(40000, static_cast<float>(i));
    CHECK(fetched(all[0]->from_host(x)) == x);
  }
  CHECK(fake_cuda::count().device_blocks <= 3);
}

TEST_CASE("a value goes from one GPU to another behind the stream that computes it") {
  cards two(2);
  const auto x = counted(300000);
  auto here = two.all[0]->from_host(x);
  auto ready = two.all[0]->stream()->record();
  auto there = two.all[1]->from_peer(here, std::move(ready));
  here = {};
  CHECK(two.fetched(std::move(there), 1) == x);
  CHECK(fake_cuda::take_misuses().empty());
}

TEST_CASE_METHOD(cards, "text does not go to a GPU") {
  CHECK(failure([&] { all[0]->from_host(pn::tensor<std::string>(std::string("a")).untyped()); }) ==
        "invalid_argument: text stays in host memory; it cannot go to " + gpu_0);
}

}  // namespace
