// Bodies of <pinion/rpc/tls_stream.hpp>.
#pragma once

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include <pinion/base/process.hpp>
#include <pinion/rpc/opening.hpp>
#include <pinion/rpc/security/certificate.hpp>
#include <pinion/rpc/tls_stream.hpp>
#include <pinion/rpc/transport/asio_io.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// The way of OpenSSL to the bytes of a stream.
struct tls_bio {
  static int read(BIO* bio, char* into, int size) {
    auto& from = of(bio).sealed_in_;
    BIO_clear_retry_flags(bio);
    if (from.empty()) {
      BIO_set_retry_read(bio);
      return -1;
    }
    const std::size_t n = std::min(from.size(), static_cast<std::size_t>(size));
    std::memcpy(into, from.data(), n);
    from = from.subspan(n);
    return static_cast<int>(n);
  }
  static int write(BIO* bio, const char* data, int size) {
    auto& to = of(bio).sealed_out_;
    const auto* const bytes = reinterpret_cast<const std::byte*>(data);
    to.insert(to.end(), bytes, bytes + size);
    return size;
  }
  static long control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

  // Tells OpenSSL to end the handshake at the first certificate that is not accepted, and keeps why.
  static int verify(int accepted, X509_STORE_CTX* chain) {
    if (accepted == 1) return 1;
    auto* const session = static_cast<SSL*>(X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx()));
    auto& stream = *static_cast<tls_stream*>(SSL_get_app_data(session));
    stream.unverified_ = stream.why_unverified(chain);
    return 0;
  }

 private:
  static tls_stream& of(BIO* bio) { return *static_cast<tls_stream*>(BIO_get_data(bio)); }
};

namespace detail {

// The methods above, as OpenSSL takes them.
struct tls_bio_method {
  tls_bio_method() : made(BIO_meth_new(BIO_TYPE_SOURCE_SINK, "pinion")) {
    BIO_meth_set_read(made, &tls_bio::read);
    BIO_meth_set_write(made, &tls_bio::write);
    BIO_meth_set_ctrl(made, &tls_bio::control);
  }
  BIO_METHOD* const made;
};

inline constexpr std::size_t tls_record = std::size_t{16} << 10, sealed_at_once = std::size_t{256} << 10;

}  // namespace detail

PINION_DECL tls_stream::tls_stream(network& net, std::unique_ptr<byte_stream> bare,
                                   std::shared_ptr<const tls_files> files, side which)
    : net_(net),
      bare_(std::move(bare)),
      files_(std::move(files)),
      side_(which),
      peer_title_((which == side::client ? "the server at " : "the client at ") + bare_->peer()),
      session_(SSL_new(files_->context()), &SSL_free) {
  BIO* const bio = BIO_new(of_this_process<detail::tls_bio_method>().made);
  if (!session_ || !bio) throw error(errc::internal, "OpenSSL makes no TLS connection: " + detail::openssl_reason());
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(session_.get(), bio, bio);  // it owns it
  SSL_set_app_data(session_.get(), this);
  SSL_set_verify(session_.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, &tls_bio::verify);
  if (which == side::client)
    SSL_set_connect_state(session_.get());
  else
    SSL_set_accept_state(session_.get());
}

PINION_DECL tls_stream::~tls_stream() = default;

PINION_DECL void tls_stream::expect_host(const std::string& address) {
  host_ = endpoint(address).host;
  peer_title_ = "the server at " + address;
  X509_VERIFY_PARAM* const check = SSL_get0_param(session_.get());
  X509_VERIFY_PARAM_set_hostflags(check, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  if (X509_VERIFY_PARAM_set1_ip_asc(check, host_.c_str()) == 1) return;
  ERR_clear_error();
  if (X509_VERIFY_PARAM_set1_host(check, host_.data(), host_.size()) != 1 ||
      SSL_set_tlsext_host_name(session_.get(), host_.c_str()) != 1)
    throw error(errc::invalid_argument, "'" + host_ + "' is no name that a certificate can be for");
}

PINION_DECL awaitable<void> tls_stream::shake_hands(std::string address_or_task) {
  if (side_ == side::client) {
    expect_host(address_or_task);
    SSL_do_handshake(session_.get());  // makes the first message
    co_await flush();
  }
  co_await look_at_first(address_or_task);
  co_await handshake();
  met_ = true;
  tasks_ = detail::tasks_of(SSL_get0_peer_certificate(session_.get()));
  forget_output();
}

PINION_DECL void tls_stream::expect_peer(const std::string& task) const {
  if (tasks_.empty() && files_->tasks().empty()) return;  // certificates say nothing of tasks in this cluster
  if (std::any_of(tasks_.begin(), tasks_.end(), [&](const auto& name) { return detail::covers(name, task); })) return;
  throw error(errc::unauthenticated, "the certificate of " + peer_title_ + " " + detail::not_for(tasks_, task));
}

PINION_DECL awaitable<void> tls_stream::look_at_first(const std::string& address_or_task) {
  if (!co_await receive()) throw error(errc::unavailable, peer_title_ + " closed the connection during the handshake");
  constexpr auto alert = std::byte{0x15}, handshake = std::byte{0x16};
  if (sealed_in_[0] == handshake || sealed_in_[0] == alert) co_return;
  const bool pinion = detail::is_opening(sealed_in_);
  if (side_ == side::client)
    throw error(errc::unauthenticated,
                peer_title_ + (pinion ? " does not speak TLS, and a certificate is given here"
                                      : " does not speak TLS; what it speaks is not pinion's protocol"));
  const std::string sentence = address_or_task +
                               " speaks TLS alone: .certificate, .private_key and .authorities are "
                               "needed to connect to it";
  if (pinion) co_await detail::write_all(*bare_, refusal(spoken_versions, sentence));
  throw error(errc::unauthenticated, pinion ? "the client does not speak TLS, and " + address_or_task + " does"
                                            : "what connects does not speak TLS");
}

PINION_DECL awaitable<void> tls_stream::handshake() {
  for (;;) {
    ERR_clear_error();
    const int done = SSL_do_handshake(session_.get());
    const bool waits = done != 1 && SSL_get_error(session_.get(), done) == SSL_ERROR_WANT_READ;
    if (done != 1 && !waits) broken_ = why_refused();
    co_await flush();  // the alert that says why, too
    if (broken_) throw error(*broken_);
    if (done == 1) co_return;
    if (!co_await receive())
      throw error(errc::unavailable, peer_title_ + " closed the connection during the handshake");
  }
}

PINION_DECL error tls_stream::why_refused() const {
  if (unverified_) return *unverified_;
  const auto reason = static_cast<int>(ERR_GET_REASON(ERR_peek_error()));
  const std::string text = detail::openssl_reason();
  if (reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE)
    return error(errc::unauthenticated, peer_title_ + " shows no certificate");
  if (reason > SSL_AD_REASON_OFFSET && reason < SSL_AD_REASON_OFFSET + 256)
    return error(errc::unauthenticated, peer_title_ + " refuses this side's certificate or TLS, with the alert '" +
                                            SSL_alert_desc_string_long(reason - SSL_AD_REASON_OFFSET) + "'");
  return error(met_ ? errc::data_loss : errc::unauthenticated, "TLS with " + peer_title_ + " failed: " + text);
}

PINION_DECL error tls_stream::why_unverified(X509_STORE_CTX* chain) const {
  const std::string its = "the certificate of " + peer_title_;
  X509* const shown = X509_STORE_CTX_get_current_cert(chain);
  const int code = X509_STORE_CTX_get_error(chain);
  const auto refused = [&](const std::string& why) { return error(errc::unauthenticated, its + why); };
  switch (code) {
    case X509_V_ERR_CERT_HAS_EXPIRED: return refused(" has expired");
    case X509_V_ERR_CERT_NOT_YET_VALID: return refused(" is not valid yet");
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return refused(" is for " + (shown ? detail::hosts_of(shown) : "another host") + ", and not for " + host_);
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      return refused(" is signed by nobody in '" + files_->authorities() + "'" +
                     (shown ? "; it names " + detail::name_of(X509_get_issuer_name(shown)) : ""));
    default: return refused(std::string(" is not accepted: ") + X509_verify_cert_error_string(code));
  }
}

PINION_DECL awaitable<std::size_t> tls_stream::read_some(std::span<std::byte> into) {
  for (;;) {
    if (const std::size_t n = open_now(into); n > 0) co_return n;
    if (broken_) throw error(*broken_);
    if (over_ || !co_await receive()) co_return 0;
  }
}

PINION_DECL std::size_t tls_stream::read_now(std::span<std::byte> into) {
  return open_now(into);
}

PINION_DECL std::size_t tls_stream::open_now(std::span<std::byte> into) {
  std::size_t all = 0;
  while (all < into.size() && !broken_ && !over_) {
    ERR_clear_error();
    std::size_t n = 0;
    const int done = SSL_read_ex(session_.get(), into.data() + all, into.size() - all, &n);
    all += n;
    if (done == 1) continue;
    const int why = SSL_get_error(session_.get(), done);
    if (why == SSL_ERROR_WANT_READ) break;
    if (why == SSL_ERROR_ZERO_RETURN)
      over_ = true;
    else
      broken_ = why_refused();
  }
  return all;
}

PINION_DECL awaitable<bool> tls_stream::receive() {
  net_.give_back(std::move(inbox_));
  std::size_t n = co_await bare_->read_some(first_);
  sealed_in_ = std::span(first_).first(n);
  if (n < first_.size()) co_return n > 0;
  inbox_ = net_.borrow_inbox();
  std::memcpy(inbox_.get(), first_.data(), n);
  n += bare_->read_now({inbox_.get() + n, network::inbox_size - n});
  sealed_in_ = {inbox_.get(), n};
  co_return true;
}

PINION_DECL awaitable<void> tls_stream::flush() {
  std::vector<std::byte> out = std::exchange(sealed_out_, {});
  if (out.empty()) co_return;
  const asio::const_buffer part(out.data(), out.size());
  co_await bare_->write({&part, 1});
  out.clear();
  if (sealed_out_.empty()) sealed_out_ = std::move(out);  // its memory serves the next bytes
}

PINION_DECL void tls_stream::forget_output() {
  if (sealed_out_.empty()) std::vector<std::byte>().swap(sealed_out_);
}

PINION_DECL void tls_stream::seal(std::span<const std::byte> bytes) {
  ERR_clear_error();
  std::size_t n = 0;
  if (SSL_write_ex(session_.get(), bytes.data(), bytes.size(), &n) != 1)
    throw error(errc::unavailable, "TLS with " + peer_title_ + " failed: " + detail::openssl_reason());
}

PINION_DECL void tls_stream::seal_some(std::span<const asio::const_buffer> parts, std::size_t& at,
                                       std::size_t& within) {
  std::vector<std::byte> record;  // small parts share a record
  const auto rest = [&] {
    const auto* const data = static_cast<const std::byte*>(parts[at].data());
    return std::span(data, parts[at].size()).subspan(within);
  };
  const auto skip = [&](std::size_t n) {
    within += n;
    if (within == parts[at].size()) ++at, within = 0;
  };
  while (at < parts.size() && sealed_out_.size() < detail::sealed_at_once) {
    const auto bytes = rest();
    if (record.empty() && bytes.size() >= detail::tls_record) {
      const std::size_t n = std::min(bytes.size(), detail::sealed_at_once - detail::tls_record);
      seal(bytes.first(n));
      skip(n);
      continue;
    }
    const std::size_t n = std::min(bytes.size(), detail::tls_record - record.size());
    record.insert(record.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));
    skip(n);
    if (record.size() == detail::tls_record) seal(std::exchange(record, {}));
  }
  if (!record.empty()) seal(record);
}

PINION_DECL awaitable<void> tls_stream::write(std::span<const asio::const_buffer> parts) {
  sealed_out_.reserve(std::min(asio::buffer_size(parts) + detail::tls_record, 2 * detail::sealed_at_once));
  for (std::size_t at = 0, within = 0; at < parts.size();) {
    seal_some(parts, at, within);
    co_await flush();
  }
  forget_output();
}

PINION_DECL void tls_stream::write_last(std::span<const asio::const_buffer> parts) {
  try {
    for (std::size_t at = 0, within = 0; at < parts.size();) seal_some(parts, at, within);
  } catch (const error&) {
    return;
  }
  const asio::const_buffer part(sealed_out_.data(), sealed_out_.size());
  bare_->write_now({&part, 1});
}

PINION_DECL std::string tls_stream::binding() const {
  std::string secret(32, '\0');
  constexpr std::string_view label = "EXPORTER-Channel-Binding";  // RFC 9266
  if (SSL_export_keying_material(session_.get(), reinterpret_cast<unsigned char*>(secret.data()), secret.size(),
                                 label.data(), label.size(), nullptr, 0, 0) != 1)
    throw error(errc::internal, "OpenSSL gives no binding of a TLS connection: " + detail::openssl_reason());
  return secret;
}

}}}  // namespace pinion::v0::rpc
