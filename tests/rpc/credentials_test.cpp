// Keys and certificates as they are given: by options, files and the environment.
#include <unistd.h>

#include <filesystem>

#include <catch2/catch.hpp>

#include <cstdlib>
#include <optional>

#include <pinion/rpc/security/credentials.hpp>

#include <support/caught.hpp>
#include <support/certificates.hpp>

namespace {

using namespace pinion;
using namespace pinion::rpc;

const std::string key = "the key of a cluster", other = "the key of another cluster";

// A variable of the environment, while this lives.
class variable {
 public:
  variable(const char* name, const std::string& value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  variable(const variable&) = delete;
  ~variable() {
    if (before_)
      ::setenv(name_, before_->c_str(), 1);
    else
      ::unsetenv(name_);
  }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

std::string refused(const security_options& options) {
  return failure([&] { credentials_of(options); });
}

// ---- keys

TEST_CASE("without options and environment there are no credentials") {
  CHECK(credentials_of({}).empty());
}

TEST_CASE("equal keys are equal, others are not, and none is none") {
  CHECK(shared_key(key) == shared_key(key));
  CHECK(shared_key(key) != shared_key(other));
  CHECK(shared_key(key) != shared_key());
  CHECK(shared_key("") == shared_key());
  CHECK(shared_key().proof(side::client, "a statement").empty());
}

TEST_CASE("the proofs of the two sides differ, and both depend on the key and the statement") {
  const shared_key one(key), two(other);
  CHECK(one.proof(side::client, "s") == shared_key(key).proof(side::client, "s"));
  CHECK(one.proof(side::client, "s") != one.proof(side::server, "s"));
  CHECK(one.proof(side::client, "s") != one.proof(side::client, "t"));
  CHECK(one.proof(side::client, "s") != two.proof(side::client, "s"));
}

// The expected bytes are those of Python's hashlib.scrypt and hmac.
TEST_CASE("a key is derived by scrypt and one block of HKDF, as anybody can compute it") {
  std::string hex;
  for (const unsigned char c : shared_key("0123456789abcdef").proof(side::server, "said")) {
    constexpr const char* digits = "0123456789abcdef";
    hex += {digits[c / 16], digits[c % 16]};
  }
  CHECK(hex == "099cc82d3aa0af441fc9c8cff0050964946a841a320be943422c11784f3bcdc8");
}

TEST_CASE("a key of fewer than 16 bytes is refused, and not told") {
  const auto sentence = refused({.key = "fifteen letters"});
  CHECK(sentence ==
        "invalid_argument: the shared key has 15 bytes, and it needs at least 16; `openssl rand -hex 32` makes a good "
        "one");
  CHECK(refused({.key = "sixteen letters!"}) == "internal: nothing was thrown");
}

TEST_CASE("a key comes from a file, whose last newline is none of it") {
  const certificates::files files;
  for (const char* end : {"", "\n", "\r\n"})
    CHECK(credentials_of({.key_file = files.put("key", key + end)}).key == shared_key(key));
  CHECK(credentials_of({.key_file = files.put("key", key + "\n\n")}).key == shared_key(key + "\n"));
  CHECK(refused({.key_file = files.put("key", "short\n")}).find("has 5 bytes") != std::string::npos);
}

TEST_CASE("a key file that is missing, empty, large or no file is refused by name") {
  const certificates::files files;
  CHECK(refused({.key_file = "/no/such/file"}) ==
        "not_found: the key file '/no/such/file' cannot be opened: No such file or directory");
  const std::string empty = files.put("empty", "\n");
  CHECK(refused({.key_file = empty}) == "invalid_argument: the key file '" + empty + "' is empty");
  const std::string large = files.put("large", std::string((1 << 20) + 1, 'x'));
  CHECK(refused({.key_file = large}) == "invalid_argument: the key file '" + large + "' has more than 1 MiB");
  const temporary_folder folder;
  CHECK(refused({.key_file = folder.path()}) ==
        "invalid_argument: the key file '" + folder.path() + "' cannot be read: Is a directory");
}

TEST_CASE("a key file that others may open is refused, with its mode and what to do") {
  const certificates::files files;
  for (const unsigned mode : {0640u, 0604u, 0620u, 0644u, 0777u}) {
    if (mode == 0640u && ::geteuid() == 0) continue;  // a group may read what is root's
    const std::string path = files.put("key", key, mode);
    CHECK_THAT(refused({.key_file = path}), Catch::StartsWith("failed_precondition: the key file '" + path +
                                                              "' is open to other users of this machine (mode ") &&
                                                Catch::EndsWith("); chmod 600 makes it a secret"));
  }
  CHECK(credentials_of({.key_file = files.put("key", key, 0400)}).key == shared_key(key));
}

TEST_CASE("a key file of root may be read by its group, as secrets that are mounted into containers are") {
  if (::geteuid() != 0) return;  // only root can make one
  const certificates::files files;
  for (const unsigned mode : {0640u, 0440u})
    CHECK(credentials_of({.key_file = files.put("key", key, mode)}).key == shared_key(key));
}

TEST_CASE("a key file and a private key belong to the user of the process or to root") {
  if (::geteuid() != 0) return;  // only root can give a file away
  const certificates::files files;
  const std::string path = files.put("key", key);
  REQUIRE(::chown(path.c_str(), 12345, 0) == 0);
  CHECK(refused({.key_file = path}) == "failed_precondition: the key file '" + path +
                                           "' belongs to another user of this machine (number 12345), who may read "
                                           "and change it");
}

TEST_CASE("a certificate and a file of authorities that others may change are refused") {
  const certificates::files files;
  const auto authority = certificates::make("authority", nullptr);
  const auto own = certificates::make("ps", &authority, "DNS:ps");
  const security_options all = files.options("ps", own, authority);
  for (const auto& path : {all.certificate, all.authorities}) {
    std::filesystem::permissions(path, std::filesystem::perms(0664));
    CHECK_THAT(refused(all),
               Catch::Contains("'" + path + "' may be changed by others (mode 664); chmod go-w ends that"));
    std::filesystem::permissions(path, std::filesystem::perms(0644));
  }
  CHECK(credentials_of(all).tls);
}

TEST_CASE("a key comes from the environment where no option gives one") {
  const certificates::files files;
  {
    const variable in_environment("PINION_KEY", key);
    CHECK(credentials_of({}).key == shared_key(key));
    CHECK(credentials_of({.key = other}).key == shared_key(other));
    CHECK(credentials_of({.key_file = files.put("key", other)}).key == shared_key(other));
  }
  const variable named("PINION_KEY_FILE", files.put("key", key));
  CHECK(credentials_of({}).key == shared_key(key));
  CHECK(credentials_of({.key = other}).key == shared_key(other));
  const variable twice("PINION_KEY", key);
  CHECK(refused({}) == "invalid_argument: the shared key is given twice: by PINION_KEY and by PINION_KEY_FILE");
}

TEST_CASE("a key that is given twice is refused") {
  CHECK(refused({.key = key, .key_file = "key"}) ==
        "invalid_argument: the shared key is given twice: by .key and by .key_file");
}

// ---- certificates

TEST_CASE("TLS needs three files, each of which is what it should be") {
  const certificates::files files;
  const auto authority = certificates::make("authority", nullptr);
  const auto own = certificates::make("ps", &authority, "DNS:ps");
  const security_options all = files.options("ps", own, authority);
  CHECK(credentials_of(all).tls);
  const auto with = [&](auto change) {
    security_options changed = all;
    change(changed);
    return refused(changed);
  };
  CHECK(with([](auto& o) { o.authorities = ""; }) ==
        "invalid_argument: TLS needs .certificate, .private_key and .authorities; .authorities is not given");
  CHECK(with([](auto& o) { o.certificate = "/none.pem"; }) ==
        "not_found: the certificate '/none.pem' cannot be opened: No such file or directory");
  const std::string garbage = files.put("garbage.pem", "no PEM");
  CHECK_THAT(
      with([&](auto& o) { o.certificate = garbage; }),
      Catch::StartsWith("invalid_argument: the certificate '" + garbage + "' does not hold a certificate in PEM"));
  CHECK_THAT(with([&](auto& o) { o.private_key = garbage; }),
             Catch::StartsWith("invalid_argument: the private key '" + garbage + "' does not hold a private key"));
  CHECK_THAT(with([&](auto& o) { o.authorities = garbage; }),
             Catch::StartsWith("invalid_argument: the file of authorities '" + garbage + "' does not hold"));
}

TEST_CASE("a private key is its owner's alone, and the certificate's") {
  const certificates::files files;
  const auto authority = certificates::make("authority", nullptr);
  const auto own = certificates::make("ps", &authority, "DNS:ps"), another = certificates::make("x", &authority);
  security_options options = files.options("ps", own, authority);
  options.private_key = files.put("open.key", own.key_text(), 0644);
  CHECK(refused(options) == "failed_precondition: the private key '" + options.private_key +
                                "' is open to other users of this machine (mode 644); chmod 600 makes it a secret");
  options.private_key = files.put("other.key", another.key_text());
  CHECK(refused(options) == "invalid_argument: the private key '" + options.private_key +
                                "' is not that of the certificate '" + options.certificate + "'");
}

}  // namespace
