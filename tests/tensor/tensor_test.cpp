// Values: shared buffers, copies on write, literals, access.
#include <pinion/tensor/tensor.hpp>

#include <catch2/catch.hpp>

#include <support/caught.hpp>
#include <support/tensor_text.hpp>

namespace {

using namespace pinion;

// ---- buffers

// Counts what is lent and what came back.
struct counting_allocator final : allocator {
  explicit counting_allocator(int& back) : came_back(back) {}
  buffer* allocate(std::size_t bytes, std::string_view) override {
    auto* b = new buffer(::operator new(bytes + 1), bytes);
    b->hand_out(shared_from_this());
    return b;
  }
  void recycle(buffer* idle) noexcept override {
    ++came_back;
    ::operator delete(idle->data());
    delete idle;
  }
  int& came_back;
};

TEST_CASE("lent bytes are shared and never written here, and go back with the last reference") {
  auto bytes = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3});
  const std::shared_ptr<std::byte> owner(bytes, reinterpret_cast<std::byte*>(bytes->data()));
  {
    any_tensor lent(dtype::float32, {3}, make_lent_buffer(owner, 3 * sizeof(float)));
    CHECK(lent.on_host());
    CHECK(lent.raw() == bytes->data());
    CHECK_FALSE(lent.unique());
    tensor<float> written(lent);
    lent = {};
    CHECK(owner.use_count() == 3);  // with `bytes`
    written(0) = 10;
    CHECK(owner.use_count() == 2);
    CHECK(written == tensor<float>::of({10, 2, 3}));
  }
  CHECK(*bytes == std::vector<float>{1, 2, 3});
}

TEST_CASE("a buffer goes home when its last reference goes") {
  int came_back = 0;
  const auto lender = std::make_shared<counting_allocator>(came_back);
  any_tensor a(dtype::float32, {2}, *lender);
  {
    any_tensor b = a;
    CHECK_FALSE(a.unique());
  }
  CHECK(a.unique());
  CHECK(came_back == 0);
  a = {};
  CHECK(came_back == 1);
}

TEST_CASE("a buffer in use keeps its allocator alive") {
  int came_back = 0;
  auto lender = std::make_shared<counting_allocator>(came_back);
  const std::weak_ptr<allocator> watched = lender;
  auto a = std::make_unique<any_tensor>(dtype::float32, shape{2}, *lender);
  lender.reset();
  CHECK_FALSE(watched.expired());
  a.reset();
  CHECK(came_back == 1);
  CHECK(watched.expired());
}

TEST_CASE("memory is aligned for vectors") {
  for (std::int64_t n : {0, 1, 17, 1000})
    CHECK(reinterpret_cast<std::uintptr_t>(any_tensor(dtype::uint8, {n}).raw()) % 64 == 0);
}

TEST_CASE("reshaping shares the elements") {
  const auto t = tensor<int>::of({1, 2, 3, 4}).untyped();
  const any_tensor square = t.reshaped({2, 2});
  CHECK(square.raw() == t.raw());
  CHECK(square.shape() == shape{2, 2});
}

TEST_CASE("an untyped tensor of an unknown shape is refused") {
  CHECK(failure([] {
          any_tensor(dtype::float32, {unknown, 3});
        }) == "invalid_argument: a tensor needs a known shape, not [?, 3]");
}

// ---- copy on write

TEST_CASE("copies share memory until one is written to") {
  tensor<float> a({3});
  const tensor<float> b = a;
  CHECK(std::as_const(a).data() == b.data());
  a(1) = 5;
  CHECK(std::as_const(a).data() != b.data());
  CHECK(b(1) == 0);
  CHECK(std::as_const(a)(1) == 5);
}

TEST_CASE("a tensor that was moved from, or has no elements, has an empty span") {
  tensor<float> given({2}), none({0});
  const tensor<float> taken = std::move(given), also = std::move(none);
  CHECK(given.span().empty());
  CHECK(none.span().empty());
  CHECK(taken.size() == 2);
  CHECK(also.size() == 0);
}

TEST_CASE("the holder of the only reference writes in place") {
  tensor<float> a({3});
  const float* before = std::as_const(a).data();
  a.span()[0] = 1;
  a(2) = 3;
  CHECK(std::as_const(a).data() == before);
}

TEST_CASE("text is copied on write too") {
  auto a = tensor<std::string>::of({"one", "two"});
  const auto b = a;
  a(0) = "a text that is too long to be kept in place";
  CHECK(b(0) == "one");
}

TEST_CASE("two fresh tensors share nothing, zeros neither") {
  tensor<int> a, b;
  a.data()[0] = 7;
  CHECK(int(b) == 0);
}

// ---- elements

TEST_CASE("the elements of a temporary tensor stay as long as they are looped over") {
  const auto made = [] { return tensor<int>::of({1, 2, 3}); };
  int sum = 0;
  for (const int v : made().span()) sum += v;
  CHECK(sum == 6);
  const auto kept = made().span();
  const tensor<int> other = tensor<int>::of({4, 5, 6});  // takes memory that was free
  CHECK(std::vector<int>(kept.begin(), kept.end()) == std::vector<int>{1, 2, 3});
  CHECK(tensor<int>::of(made().span()) == tensor<int>::of({1, 2, 3}));
}

TEST_CASE("a new tensor holds zeros") {
  const tensor<double> t({2, 3});
  CHECK(std::all_of(t.span().begin(), t.span().end(), [](double x) { return x == 0; }));
  CHECK(t.size() == 6);
  CHECK(tensor<std::string>({2})(1).empty());
  CHECK(tensor<bool>({2})(0) == false);
}

TEST_CASE("braces in parentheses are a shape for every dtype, a number alone is a scalar") {
  const std::int64_t rows = 3;
  CHECK(tensor<int>({3}).shape() == shape{3});
  CHECK(tensor<std::int64_t>({rows}).shape() == shape{3});
  CHECK(tensor<bool>({3}).shape() == shape{3});
  CHECK(tensor<float>({3}).shape() == shape{3});
  CHECK(tensor<int>({rows, 2}).shape() == shape{3, 2});
  CHECK(tensor<int>{3} == tensor<int>(3));
  CHECK(tensor<int>(3).shape() == shape{});
}

TEST_CASE("no extents in braces are a scalar of 0") {
  const pinion::tensor<float> in_braces{{}}, in_parentheses({}), nothing{};
  for (const auto& t : {in_braces, in_parentheses, nothing}) {
    CHECK(t.shape() == pinion::shape{});
    CHECK(t == 0);
  }
  CHECK(pinion::tensor<int>::of({2}).shape() == pinion::shape{1});
}

TEST_CASE("elements lie row by row") {
  const auto t = tensor<int>::of({{1, 2, 3}, {4, 5, 6}});
  CHECK(std::vector<int>(t.span().begin(), t.span().end()) == std::vector<int>{1, 2, 3, 4, 5, 6});
  CHECK(t(1, 0) == 4);
}

TEST_CASE("a tensor of one element is its value, and no other is") {
  CHECK(float(tensor<float>(2.5f)) == 2.5f);
  CHECK(float(tensor<float>::of({{2.5f}})) == 2.5f);
  const tensor<float> two({2});
  CHECK(failure([&] { (void)float(two); }) == "invalid_argument: a tensor of shape [2] is not a single value");
}

TEST_CASE("an index outside its axis is out of range, and the sentence says which") {
  const tensor<float> t({2, 3});
  CHECK(failure([&] { t(0, 3); }) == "out_of_range: index 3 on axis 1 of a tensor of shape [2, 3]");
  CHECK(failure([&] { t(-1, 0); }) == "out_of_range: index -1 on axis 0 of a tensor of shape [2, 3]");
  CHECK(failure([&] { t(1); }) == "out_of_range: 1 indices into a tensor of shape [2, 3]");
  CHECK(failure([&] { t(0, 0, 0); }) == "out_of_range: 3 indices into a tensor of shape [2, 3]");
}

TEST_CASE("a span of another count than the shape's is refused") {
  const std::vector<float> five(5);
  CHECK(failure([&] {
          tensor<float>({2, 3}, five);
        }) == "invalid_argument: a tensor of shape [2, 3] holds 6 elements, not 5");
}

TEST_CASE("an untyped tensor is taken for its own dtype alone") {
  const any_tensor ints(dtype::int32, {2});
  CHECK(tensor<int>(ints).size() == 2);
  CHECK(failure([&] { tensor<float> t(ints); }) == "invalid_argument: a tensor of int32 was taken for one of float");
}

TEST_CASE("tensors are equal by dtype, shape and elements") {
  const auto t = tensor<float>::of({1, 2});
  CHECK(t == tensor<float>::of({1, 2}));
  CHECK_FALSE(t == tensor<float>::of({1, 3}));
  CHECK_FALSE(t == tensor<float>::of({{1, 2}}));
  CHECK_FALSE(t.untyped() == tensor<double>::of({1, 2}).untyped());
  CHECK(tensor<float>(0.f) == tensor<float>(-0.f));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK_FALSE(tensor<float>(nan) == tensor<float>(nan));
  CHECK(any_tensor() == any_tensor());
}

// ---- literals

TEST_CASE("nested braces give the shape") {
  CHECK(literal<float>(3).shape() == shape{});
  CHECK(tensor<float>::of({1, 2, 3}).shape() == shape{3});
  CHECK(tensor<float>::of({{1, 2}, {3, 4}, {5, 6}}).shape() == shape{3, 2});
  CHECK(tensor<int>::of({{{1}, {2}}, {{3}, {4}}}).shape() == shape{2, 2, 1});
}

TEST_CASE("ragged braces are refused with both shapes") {
  CHECK(failure([] {
          tensor<float>::of({{1, 2}, {3}});
        }) == "invalid_argument: a literal with ragged braces: a row of shape [1] stands beside one of shape [2]");
  CHECK(failure([] {
          tensor<int>::of({{1, 2}, 3});
        }) == "invalid_argument: a literal with ragged braces: a row of shape [] stands beside one of shape [2]");
}

TEST_CASE("a tensor of one element compares with a number, a larger one has no single value to compare") {
  const pinion::tensor<int> one(7);
  CHECK(one == 7);
  CHECK(one != 7.5);
  CHECK(7 == one);
  CHECK_THROWS_AS(pinion::tensor<int>(pinion::shape{2}) == 7, pinion::error);
}

}  // namespace
