// Tensors: a dtype, a shape and a share of a buffer; untyped and on any device (any_tensor), or typed and on the host
// (tensor<T>).
//
//   pn::tensor<float> x{{50, 784}};                                 // a shape; the elements are 0
//   auto y = pn::tensor<float>::of({{1, 2}, {3, 4}});               // these elements
//   x(0, 1) = 1;
//   for (float& v : x.span()) v *= 2;
//
// A tensor is a value of the program; an expression (dsl/expr.hpp) is a value of a graph that a step computes. They
// meet in four places: constant(t) puts a tensor into a graph, run() takes tensors as feeds and returns tensors, and
// variables begin as tensors.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pinion/base/config.hpp>
#include <pinion/base/dtype.hpp>
#include <pinion/base/error.hpp>
#include <pinion/base/refused.hpp>
#include <pinion/tensor/buffer.hpp>
#include <pinion/tensor/rows.hpp>
#include <pinion/tensor/shape.hpp>

namespace pinion { inline namespace v0 {

// A tensor of any dtype, in the memory of any device. A value: copies share the buffer. Bytes are written only by the
// holder of the single reference, so a value does not change once it is shared. Distinct objects may be used from
// distinct threads. A default-constructed one holds no value. It is the type of values whose dtype only the running
// program knows: fetches of run_request, tensors of files, inputs of kernels. tensor<T>(value) gives it back its type,
// and checks that.
//
//   if (value.dtype() == pn::dtype::float32) use(pn::tensor<float>(value));
//   const double first = pn::visit_plain(value.dtype(), [&]<class T>() { return double(value.data<T>()[0]); });
class any_tensor {
 public:
  // Holds no value.
  any_tensor() = default;
  // A tensor of memory that exists already. Requires: the buffer is large enough for the shape.
  any_tensor(pinion::dtype type, const pinion::shape& extent, buffer_ref bytes)
      : type_(type), shape_(extent), buffer_(std::move(bytes)) {}
  // A tensor whose elements are not set, from an allocator, which hears of the holder; texts begin as empty strings.
  // Throws invalid_argument for a shape that is not known, and resource_exhausted if there is no memory.
  any_tensor(pinion::dtype type, const pinion::shape& extent, allocator& from = *heap_allocator::instance(),
             std::string_view holder = {});

  // The type of the elements.
  pinion::dtype dtype() const { return type_; }
  // The shape, which is always known.
  const pinion::shape& shape() const { return shape_; }
  // The number of elements. 1 for a scalar, 0 where an extent is 0.
  std::int64_t count() const { return shape_.count(); }
  // The size of the elements in bytes; the characters of strings are not counted.
  std::size_t bytes() const { return static_cast<std::size_t>(shape_.count()) * size_of(type_); }
  // True if it holds no value at all.
  bool empty() const { return !buffer_; }
  // True if it holds a value.
  explicit operator bool() const { return bool(buffer_); }
  // The reference to the buffer.
  const buffer_ref& storage() const { return buffer_; }
  // True if this is the only reference to the buffer, so that it may be written. Another thread may share it at any
  // time, so only a holder that nobody can copy from may rely on the answer.
  bool unique() const { return buffer_ && buffer_->unique(); }
  // True if the host may read the elements. False for a tensor without a value.
  bool on_host() const { return buffer_ && buffer_->home()->is_host(); }
  // Tells the allocator of the elements who holds them from now on. Requires: it holds a value.
  void held_by(std::string_view holder) const { buffer_->home()->rename(*buffer_.get(), holder); }

  // The first byte. Requires: it holds a value; the memory is the host's, or the pointer is not dereferenced here.
  void* raw() const { return buffer_->data(); }
  std::byte* byte_data() const { return static_cast<std::byte*>(buffer_->data()); }
  // The first element. Requires: it holds a value of this dtype on the host.
  template <element T>
  T* data() const {
    return static_cast<T*>(buffer_->data());
  }
  // Shares the elements under another shape. Requires: both shapes have as many elements. The elements are not copied.
  // pn::reshape is the op.
  any_tensor reshaped(const pinion::shape& extent) const { return {type_, extent, buffer_}; }

 private:
  pinion::dtype type_ = pinion::dtype::invalid;
  pinion::shape shape_;
  buffer_ref buffer_;
};

// True if dtypes, shapes and elements are equal; NaN differs from itself. Requires: both are on the host. Two tensors
// without a value are equal. Floats are compared by value, so 0 equals -0.
bool operator==(const any_tensor& a, const any_tensor& b);

// A buffer of `count` empty strings on the host.
buffer_ref make_text_buffer(std::size_t count);

// A value that stands for an element of type T in braces: one that converts to it, and for the stored types any number.
template <class V, class T>
concept element_value = std::is_convertible_v<V, T> ||(std::is_arithmetic_v<V>&& dtypes::stored.has(dtype_of<T>));

// The elements of nested braces: 3, {1, 2}, {{1, 2}, {3, 4}}, and so on. A value. Throws invalid_argument if a row has
// another shape than the first. Users write braces where a function takes one: constant<float>({{1, 2}}),
// tensor<int>::of({1, 2, 3}).
template <class T>
requires(detail::are_elements<T>(PINION_ELEMENT_TYPES)) class literal {
 public:
  // A number or text stands for itself. Numbers are rounded to pn::half and pn::bfloat16.
  template <class U>
  requires element_value<U, T> &&(!std::is_same_v<U, literal>)literal(const U& value)
      : elements_{static_cast<T>(value)} {}
  // Rows of equal shapes become a literal with one dimension more.
  literal(std::initializer_list<literal> rows) {
    shape_.push_back(static_cast<std::int64_t>(rows.size()));
    const literal* first = rows.begin();
    if (first == rows.end()) return;
    for (auto d : first->shape_.dims()) shape_.push_back(d);
    for (const auto& row : rows) {
      if (!(row.shape_ == first->shape_))
        throw error(errc::invalid_argument, "a literal with ragged braces: a row of shape " + to_string(row.shape_) +
                                                " stands beside one of shape " + to_string(first->shape_));
      elements_.insert(elements_.end(), row.elements_.begin(), row.elements_.end());
    }
  }
  // The shape that the braces have.
  const pinion::shape& shape() const { return shape_; }
  // The elements, row-major.
  const std::vector<T>& elements() const { return elements_; }

 private:
  pinion::shape shape_;
  std::vector<T> elements_;
};

template <class T>
requires(detail::are_elements<T>(PINION_ELEMENT_TYPES)) class tensor;
// True for tensor<T>.
template <class V>
inline constexpr bool is_tensor = false;
template <class T>
inline constexpr bool is_tensor<tensor<T>> = true;

// The elements of a tensor, and a share of it. It is a span, and valid as long as it lives; a plain std::span made of
// it is not.
template <class T>
class kept_span : public std::span<T> {
 public:
  explicit kept_span(any_tensor held)
      : std::span<T>(held.data<T>(), static_cast<std::size_t>(held.count())), held_(std::move(held)) {}

 private:
  any_tensor held_;
};

// A tensor on the host whose dtype is known: the type that sessions are fed with and that fetches return. A value:
// copies share memory until one of them is written to, and then that one gets memory of its own. Distinct objects may
// be used from distinct threads; one object is written by one thread at a time. Indices outside of the shape throw
// out_of_range.
//
//   pn::tensor<float> x{{50, 784}};             // 50 rows of 784 zeros
//   pn::tensor<float> one = 1.f;                // a scalar
//   float f = sess.run(loss);                   // a tensor with one element converts to its value
//   sess.run({{X, x}}, train);
//
// There is no arithmetic: compute in a graph, or loop over span(). fmt::print and to_string print it.
template <class T>
requires(detail::are_elements<T>(PINION_ELEMENT_TYPES)) class tensor {
 public:
  // A scalar of 0.
  tensor() : tensor(pinion::shape{}) {}
  // A tensor of a shape, whose elements are 0, false or "". Braces name extents: tensor<float>{{2, 3}} is [2, 3], and
  // tensor<float>{{3}} is a vector of three zeros. Throws invalid_argument for an unknown extent, and
  // resource_exhausted if there is no memory.
  tensor(const pinion::shape& extent) : value_(dtype_of<T>, extent) {
    std::fill_n(value_.template data<T>(), size(), T{});
  }
  // tensor<float>{{}}, braces without extents, is a scalar of 0. Without this constructor several others would fit
  // equally well.
  struct no_extents {
    no_extents() {}
  };
  tensor(std::initializer_list<no_extents>) : tensor(pinion::shape{}) {}
  // tensor<int>({50}), which otherwise might be a copy of tensor<int>{50}.
  template <std::size_t N>
  tensor(const std::int64_t (&extent)[N]) : tensor(pinion::shape(std::span<const std::int64_t>(extent))) {}
  // A tensor with these elements, row-major. Throws invalid_argument if their number is not that of the shape.
  tensor(const pinion::shape& extent, std::span<const T> elements) : value_(dtype_of<T>, extent) {
    if (static_cast<std::int64_t>(elements.size()) != value_.count())
      throw error(errc::invalid_argument, "a tensor of shape " + to_string(extent) + " holds " +
                                              std::to_string(value_.count()) + " elements, not " +
                                              std::to_string(elements.size()));
    std::copy(elements.begin(), elements.end(), value_.template data<T>());
  }
  // A tensor of nested braces: tensor<float>::of({{1, 2}, {3, 4}}). Throws invalid_argument if they are ragged. An
  // empty list has shape [0]; of(3) is a scalar.
  static tensor of(const literal<T>& nested) {
    tensor t(any_tensor(dtype_of<T>, nested.shape()));
    std::copy(nested.elements().begin(), nested.elements().end(), t.data());
    return t;
  }
  // A tensor of a vector, span or array of T, or of such sequences nested. Throws invalid_argument if rows are ragged.
  //
  //   std::vector<std::vector<float>> rows{{1, 2}, {3, 4}};
  //   auto t = pn::tensor<float>::of(rows);       // [2, 2]
  //
  // The elements are copied. A text is an element and no sequence.
  template <rows::of<T> R>
  static tensor of(const R& rows) {
    pinion::shape extent;
    rows::add_extents<T>(rows, extent);
    tensor t(any_tensor(dtype_of<T>, extent));
    rows::copy(rows, extent, 0, t.data());
    return t;
  }
  // A scalar. It converts implicitly, so that a float stands for a tensor<float>; a number of another type does not.
  template <std::same_as<T> U>
  tensor(const U& scalar) : tensor(pinion::shape{}) {
    *data() = scalar;
  }
  // Refuses tensor<T>(2, 3) and numbers of another type, which could mean a shape as well as elements.
  template <class A, class... More>
  requires((std::is_arithmetic_v<A> && ... && std::is_arithmetic_v<More>)&&(sizeof...(More) > 0 ||
                                                                            !std::is_same_v<A, T>))
      PINION_REFUSED_CONSTRUCTOR(
          "tensor<T>::of({2, 3}) has these elements; tensor<T>({2, 3}) is of that shape, and zero; "
          "tensor<T>(T(2)) is a scalar")
  explicit(sizeof...(More) == 0) tensor(A, More...);
  // Takes an untyped tensor, and shares its memory. Throws invalid_argument if it has another dtype. Requires: it is
  // on the host.
  explicit tensor(any_tensor value) : value_(std::move(value)) {
    if (value_.dtype() != dtype_of<T>)
      throw error(errc::invalid_argument, "a tensor of " + std::string(to_string(value_.dtype())) +
                                              " was taken for one of " + std::string(to_string(dtype_of<T>)));
  }

  // The shape, which is always known.
  const pinion::shape& shape() const { return value_.shape(); }
  // The number of elements.
  std::int64_t size() const { return value_.count(); }
  // The elements, row-major. The writable form first makes a copy if the memory is shared. A pointer is valid as long
  // as this object, or a copy, holds the elements and none of them has been written to.
  const T* data() const { return value_.template data<T>(); }
  T* data() {
    own();
    return value_.template data<T>();
  }
  // All elements, row-major, for loops and algorithms. The writable form first makes a copy if the memory is shared.
  //
  //   const std::vector<float> copy(t.span().begin(), t.span().end());
  //   std::sort(t.span().begin(), t.span().end());
  std::span<const T> span() const& { return {data(), static_cast<std::size_t>(size())}; }
  std::span<T> span() & { return {data(), static_cast<std::size_t>(size())}; }
  // The elements of a tensor that is about to go, which they keep: for (float v : sess.run(y).span()) is safe.
  kept_span<T> span() && {
    own();
    return kept_span<T>(std::move(value_));
  }

  // The element at an index for each axis, as in x(i, j). Throws out_of_range for an index outside of the shape, or for
  // another number of indices than axes. Negative indices are outside. A loop over many elements is faster over span().
  //
  //   for (std::int64_t i = 0; i < t.shape()[0]; ++i) t(i, 0) = 1;         // the first column of a matrix
  template <class... I>
  const T& operator()(I... index) const {
    return data()[offset({static_cast<std::int64_t>(index)...})];
  }
  template <class... I>
  T& operator()(I... index) {
    return data()[offset({static_cast<std::int64_t>(index)...})];
  }
  // The value of a tensor with one element. Throws invalid_argument for any other tensor. Comparisons, assignments and
  // arguments convert without a call: float f = sess.run(loss).
  operator T() const {
    if (size() != 1)
      throw error(errc::invalid_argument, "a tensor of shape " + to_string(shape()) + " is not a single value");
    return *data();
  }
  // The tensor without its type; it shares the memory.
  const any_tensor& untyped() const { return value_; }

  // True if shapes and elements are equal; NaN differs from itself.
  friend bool operator==(const tensor& a, const tensor& b) { return a.value_ == b.value_; }
  // Compares the single value with a number. Throws invalid_argument if the tensor has more or fewer elements than
  // one.
  template <class U>
  requires(std::is_arithmetic_v<T>&& std::is_arithmetic_v<U>) friend bool operator==(const tensor& a, const U& number) {
    using wide = std::common_type_t<T, U>;
    return static_cast<wide>(static_cast<T>(a)) == static_cast<wide>(number);
  }

  // A tensor is not an operand, neither beside another tensor nor beside an expression: it would be taken for its
  // single value. These overloads refuse it with a sentence.
#define PINION_NO_OPERAND                                                                                       \
  PINION_REFUSED(                                                                                               \
      "tensors are values on the host, and ops take expressions: wrap one in pn::constant(t), or feed it to a " \
      "pn::placeholder")
  template <class U>
  requires std::is_class_v<U>
  friend PINION_NO_OPERAND operator+(const tensor&, const U&) PINION_REFUSAL;
  template <class U>
  requires(std::is_class_v<U> && !is_tensor<U>) friend PINION_NO_OPERAND operator+(const U&,
                                                                                   const tensor&) PINION_REFUSAL;
  template <class U>
  requires std::is_class_v<U>
  friend PINION_NO_OPERAND operator-(const tensor&, const U&) PINION_REFUSAL;
  template <class U>
  requires(std::is_class_v<U> && !is_tensor<U>) friend PINION_NO_OPERAND operator-(const U&,
                                                                                   const tensor&) PINION_REFUSAL;
  template <class U>
  requires std::is_class_v<U>
  friend PINION_NO_OPERAND operator*(const tensor&, const U&) PINION_REFUSAL;
  template <class U>
  requires(std::is_class_v<U> && !is_tensor<U>) friend PINION_NO_OPERAND operator*(const U&,
                                                                                   const tensor&) PINION_REFUSAL;
  template <class U>
  requires std::is_class_v<U>
  friend PINION_NO_OPERAND operator/(const tensor&, const U&) PINION_REFUSAL;
  template <class U>
  requires(std::is_class_v<U> && !is_tensor<U>) friend PINION_NO_OPERAND operator/(const U&,
                                                                                   const tensor&) PINION_REFUSAL;
#undef PINION_NO_OPERAND

 private:
  // Makes a copy of its own if the memory is shared.
  void own() {
    if (value_.unique()) return;
    if (value_.empty()) return void(value_ = any_tensor(dtype_of<T>, {0}));  // it was moved from
    const buffer_ref room(value_.storage()->home()->allocate_for_copy(value_.bytes()));
    any_tensor copy = room ? any_tensor(dtype_of<T>, shape(), room) : any_tensor(dtype_of<T>, shape());
    std::copy_n(std::as_const(*this).data(), size(), copy.template data<T>()), value_ = std::move(copy);
  }
  // The place of an element in the row-major order. Throws out_of_range.
  std::size_t offset(std::initializer_list<std::int64_t> index) const {
    if (static_cast<int>(index.size()) != shape().rank())
      throw error(errc::out_of_range,
                  std::to_string(index.size()) + " indices into a tensor of shape " + to_string(shape()));
    std::int64_t at = 0;
    int axis = 0;
    for (auto i : index) {
      if (i < 0 || i >= shape()[axis])
        throw error(errc::out_of_range, "index " + std::to_string(i) + " on axis " + std::to_string(axis) +
                                            " of a tensor of shape " + to_string(shape()));
      at = at * shape()[axis++] + i;
    }
    return static_cast<std::size_t>(at);
  }

  any_tensor value_;
};

}}  // namespace pinion::v0

#if PINION_HEADER_ONLY
#include <pinion/tensor/tensor.ipp>
#endif
