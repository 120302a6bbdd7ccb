// CUDA kernels of softmax and the cross entropies, as plain functions that take a stream. Nothing here knows the rest
// of pinion.
//
// Tensors are matrices of `rows` rows of n classes. T is float or double.
#pragma once

#include <cstdint>

#include <pinion/device/cuda/first_wrong.hpp>

struct CUstream_st;

namespace pinion { inline namespace v0 { namespace cuda {

// y = e^x / sum(e^x) in each row, computed from x - max(x).
template <class T>
void softmax(CUstream_st* stream, const T* x, T* y, std::int64_t rows, std::int64_t n);

// y = x - max(x) - log(sum(e^(x - max(x)))) in each row.
template <class T>
void log_softmax(CUstream_st* stream, const T* x, T* y, std::int64_t rows, std::int64_t n);

// Each row of n elements times its factor. y may be x.
template <class T>
void scale_rows(CUstream_st* stream, const T* x, const T* factors, T* y, std::int64_t rows, std::int64_t n);

// The loss of each row, -sum(labels log_softmax(logits)), and unless it is null, backprop = softmax(logits) - labels. A
// label of 0 contributes 0, even where its logit is infinite.
template <class T>
void cross_entropy(CUstream_st* stream, const T* labels, const T* logits, T* loss, T* backprop, std::int64_t rows,
                   std::int64_t n);

// The cross entropy with a label of weight 1 in class labels[row]. A label outside [0, n) is wrong, and counts as 0.
// Label is std::int32_t or std::int64_t.
template <class T, class Label>
void sparse_cross_entropy(CUstream_st* stream, const Label* labels, const T* logits, T* loss, T* backprop,
                          std::int64_t rows, std::int64_t n, first_wrong* wrong);

}}}  // namespace pinion::v0::cuda
