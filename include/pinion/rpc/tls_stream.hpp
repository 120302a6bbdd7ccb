// TLS over any byte stream.
//
// OpenSSL sees no socket: it takes ciphertext from sealed_in_ and puts it into sealed_out_, which this class moves over
// the bare stream. So it works over simulated networks too, several records go in one system call, and an idle
// connection holds no buffers.
//
// Invariants
//   1. The network's thread alone uses the session of OpenSSL: write_now() takes nothing, so that bytes wait for that
//      thread, and the destructor runs when nobody else refers to the stream.
//   2. sealed_in_ is empty whenever read_some() waits: OpenSSL has taken what has arrived, part of a record included.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <openssl/types.h>

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>
#include <pinion/rpc/security/key.hpp>
#include <pinion/rpc/security/tls.hpp>
#include <pinion/rpc/transport/network.hpp>

namespace pinion { inline namespace v0 { namespace rpc {

// One end of an encrypted connection. Owns the bare stream. Used as a byte_stream is, after shake_hands().
class tls_stream final : public byte_stream {
 public:
  tls_stream(network& net, std::unique_ptr<byte_stream> bare, std::shared_ptr<const tls_files> files, side which);
  ~tls_stream() override;

  // Performs this side's part of the handshake. A client gives the address "host:port" that it connects to, and the
  // server's certificate must be for that host; a server gives the name of its task, for the peer that speaks no TLS.
  // Throws unauthenticated, after it has told the peer, if either side's certificate is not accepted or the peer does
  // not speak TLS.
  awaitable<void> shake_hands(std::string address_or_task);

  awaitable<std::size_t> read_some(std::span<std::byte> into) override;
  awaitable<void> write(std::span<const asio::const_buffer> parts) override;
  std::size_t write_now(std::span<const asio::const_buffer>) override { return 0; }
  std::size_t read_now(std::span<std::byte> into) override;
  void write_last(std::span<const asio::const_buffer> parts) override;
  void finish() noexcept override { bare_->finish(); }
  void close() noexcept override { bare_->close(); }
  rpc::outflow outflow() const override { return bare_->outflow(); }
  std::string peer() const override { return bare_->peer(); }
  std::string binding() const override;
  // A certificate that names tasks is good for them alone, and a side that has one asks one of its peers.
  void expect_peer(const std::string& task) const override;

 private:
  friend struct tls_bio;

  void expect_host(const std::string& address);
  // Reads the first bytes, and refuses them if they are not of TLS.
  awaitable<void> look_at_first(const std::string& address_or_task);
  awaitable<void> handshake();
  error why_refused() const;
  error why_unverified(X509_STORE_CTX* chain) const;

  // Decrypts what has arrived. Returns 0 if more has to arrive, or if broken_ is set, or over_.
  std::size_t open_now(std::span<std::byte> into);
  // Encrypts into sealed_out_.
  void seal(std::span<const std::byte> bytes);
  // Seals the next bytes of the parts that begin at `at`, about as many as go in one system call.
  void seal_some(std::span<const asio::const_buffer> parts, std::size_t& at, std::size_t& within);
  // Waits for ciphertext; returns false at the end of the bare stream.
  awaitable<bool> receive();
  awaitable<void> flush();
  // Frees the memory of sealed_out_, if it is empty.
  void forget_output();

  network& net_;
  const std::unique_ptr<byte_stream> bare_;
  const std::shared_ptr<const tls_files> files_;
  const side side_;
  std::string peer_title_;          // "the client at 10.0.0.7:4123"
  std::string host_;                // for which the server's certificate must be
  std::vector<std::string> tasks_;  // those that the peer's certificate names
  std::unique_ptr<SSL, void (*)(SSL*)> session_;

  std::span<const std::byte> sealed_in_;  // it lies in first_ or inbox_
  std::array<std::byte, 512> first_;
  network::inbox inbox_;
  std::vector<std::byte> sealed_out_;
  std::optional<error> broken_, unverified_;
  bool met_ = false, over_ = false;  // the handshake is done; the peer has said that nothing more comes
};

}}}  // namespace pinion::v0::rpc

#if PINION_HEADER_ONLY
#include <pinion/rpc/tls_stream.ipp>
#endif
