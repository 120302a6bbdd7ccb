// Text of others that is made harmless.
#include <catch2/catch.hpp>

#include <string>

#include <pinion/base/harmless.hpp>
#include <pinion/base/json_text.hpp>
#include <pinion/base/utf8.hpp>

namespace {

using pinion::harmless;

TEST_CASE("control characters, marks of direction and bytes that are no UTF-8 become visible, and all else stays") {
  CHECK(harmless("plain \"text\" \\ of 1 line") == "plain \"text\" \\ of 1 line");
  CHECK(harmless("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x8d") == "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x8d");
  CHECK(harmless("a\nb\rc\td\x1b[2J\x7f") == R"(a\nb\rc\td\x1b[2J\x7f)");
  CHECK(harmless(std::string(1, '\0')) == R"(\x00)");
  CHECK(harmless("\xc2\x80\xc2\x9f\xc2\xa0") == "\\u0080\\u009f\xc2\xa0");
  CHECK(harmless("\xe2\x80\xaa\xe2\x80\xae\xe2\x81\xa6\xe2\x81\xa9") == R"(\u202a\u202e\u2066\u2069)");
  CHECK(harmless("\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c") == R"(\u2028\u2029\u200e\u200f\u061c)");
  CHECK(harmless("\xff\xc3 \xed\xa0\x80") == R"(\xff\xc3 \xed\xa0\x80)");
}

TEST_CASE("a JSON string of anybody's text is ASCII where it would give orders, and UTF-8 elsewhere") {
  using pinion::json_quoted;
  CHECK(json_quoted("a \"b\" \\ <c>\n\x1b\x7f") == R"("a \"b\" \\ \u003cc>\u000a\u001b\u007f")");
  CHECK(json_quoted("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x8d") == "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x8d\"");
  CHECK(json_quoted("\xc2\x9b \xe2\x80\xae \xe2\x80\xa8") == R"("\u009b \u202e \u2028")");
  CHECK(json_quoted("\xff\xc3 \xed\xa0\x80") == R"("\ufffd\ufffd \ufffd\ufffd\ufffd")");
}

TEST_CASE("no sequence of two bytes makes a text that orders anything, or that is no UTF-8") {
  for (int first = 0; first < 256; ++first)
    for (int second = 0; second < 256; ++second) {
      const std::string shown = harmless(std::string{static_cast<char>(first), static_cast<char>(second)});
      if (!pinion::is_utf8(shown) || shown.find_first_of(std::string("\0\x1b\n\x7f", 4)) != shown.npos ||
          shown.find("\xc2\x9b") != shown.npos)
        FAIL(first << " " << second);
    }
}

TEST_CASE("a long text is cut between two characters, and stays as it is when it is made harmless again") {
  for (std::size_t most = 3; most < 20; ++most) {
    const std::string shown = harmless("\xe2\x82\xac\n\xff\xe2\x82\xac\xe2\x80\xae\xf0\x9f\x90\x8d", most);
    INFO(most << " " << shown);
    CHECK(shown.size() <= most);
    CHECK(pinion::is_utf8(shown));
    CHECK(shown.ends_with("..."));
    CHECK(harmless(shown, most) == shown);
  }
  CHECK(harmless("abcd", 4) == "abcd");
  CHECK(harmless("abcde", 4) == "a...");
}

}  // namespace
