// Arrays in the memory of a GPU, or of what stands in for one, for tests of kernels as plain functions.
#pragma once

#include <cuda_runtime.h>

#include <catch2/catch.hpp>

#include <cstdint>
#include <vector>

namespace kernels {

// A stream of the device, in which the kernels of a test run.
class stream {
 public:
  stream() { REQUIRE(cudaStreamCreate(&stream_) == cudaSuccess); }
  ~stream() { cudaStreamDestroy(stream_); }
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;
  operator cudaStream_t() const { return stream_; }
  void synchronize() const { REQUIRE(cudaStreamSynchronize(stream_) == cudaSuccess); }

 private:
  cudaStream_t stream_ = nullptr;
};

// Elements in the device's memory. They may begin some elements behind an address at which packs could lie.
template <class T>
class device_array {
 public:
  device_array(const stream& in, std::int64_t size, int behind = 0)
      : stream_(in), size_(static_cast<std::size_t>(size)), behind_(static_cast<std::size_t>(behind)) {
    void* memory = nullptr;
    REQUIRE(cudaMalloc(&memory, (size_ + behind_ + 1) * sizeof(T)) == cudaSuccess);
    memory_ = static_cast<T*>(memory);
  }
  device_array(const stream& in, const std::vector<T>& elements, int behind = 0)
      : device_array(in, static_cast<std::int64_t>(elements.size()), behind) {
    copy(data(), elements.data(), cudaMemcpyHostToDevice);
    stream_.synchronize();
  }
  ~device_array() { cudaFree(memory_); }
  device_array(const device_array&) = delete;
  device_array& operator=(const device_array&) = delete;

  T* data() const { return memory_ + behind_; }
  std::vector<T> read() const {
    std::vector<T> elements(size_);
    copy(elements.data(), data(), cudaMemcpyDeviceToHost);
    stream_.synchronize();
    return elements;
  }

 private:
  void copy(T* to, const T* from, cudaMemcpyKind kind) const {
    if (size_ > 0) REQUIRE(cudaMemcpyAsync(to, from, size_ * sizeof(T), kind, stream_) == cudaSuccess);
  }

  const stream& stream_;
  std::size_t size_, behind_;
  T* memory_ = nullptr;
};

// Elements that look random, and are the same in every run: multiples of 1/64 between -4 and 4.
template <class T>
std::vector<T> some_elements(std::int64_t size, std::uint64_t seed = 1) {
  std::vector<T> elements(static_cast<std::size_t>(size));
  for (T& e : elements) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    e = static_cast<T>((static_cast<double>(seed >> 40 & 511) - 256) / (std::is_floating_point_v<T> ? 64 : 1));
  }
  return elements;
}

}  // namespace kernels
