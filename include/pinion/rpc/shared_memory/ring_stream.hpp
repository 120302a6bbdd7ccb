// A byte stream through the rings of shared memory.
//
// A Unix socket gives the memory to the server, rings for an end that sleeps, and tells that the other process is gone.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <asio/local/stream_protocol.hpp>

#include <pinion/base/config.hpp>
#include <pinion/base/error.hpp>
#include <pinion/base/host_memory.hpp>
#include <pinion/base/outcome.hpp>
#include <pinion/rpc/shared_memory/shared_memory.hpp>
#include <pinion/rpc/transport/asio_io.hpp>
#include <pinion/rpc/transport/network.hpp>
#include <pinion/rpc/transport/poll_list.hpp>
#include <pinion/rpc/transport/socket_stream.hpp>
#include <pinion/rpc/transport/suspension.hpp>

namespace pinion { inline namespace v0 { namespace rpc { namespace detail {

using local_socket = asio::local::stream_protocol::socket;

// Bytes of the socket, and room for one descriptor beside them.
struct socket_bytes {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> room{};
  std::array<char, 4096> text;
  iovec bytes;
  msghdr header{};
  explicit socket_bytes(std::size_t count) : bytes{text.data(), count} {
    text.front() = 0;
    header.msg_iov = &bytes;
    header.msg_iovlen = 1;
    header.msg_control = room.data();
    header.msg_controllen = room.size();
  }
  socket_bytes(const socket_bytes&) = delete;
};

// Sends a byte, and a file beside it. Returns false if that cannot be done now.
inline bool send_file(int socket, int file) {
  socket_bytes one(1);
  cmsghdr* const it = CMSG_FIRSTHDR(&one.header);
  it->cmsg_level = SOL_SOCKET;
  it->cmsg_type = SCM_RIGHTS;
  it->cmsg_len = CMSG_LEN(sizeof file);
  std::memcpy(CMSG_DATA(it), &file, sizeof file);
  return ::sendmsg(socket, &one.header, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

// Receives what there is, and keeps one file that comes beside it. Returns as recvmsg does.
inline ssize_t receive_file(int socket, descriptor& file) {
  socket_bytes some(std::tuple_size_v<decltype(socket_bytes::text)>);
  const ssize_t n = ::recvmsg(socket, &some.header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  const cmsghdr* const it = n > 0 ? CMSG_FIRSTHDR(&some.header) : nullptr;
  if (!it || it->cmsg_level != SOL_SOCKET || it->cmsg_type != SCM_RIGHTS) return n;
  for (std::size_t at = CMSG_LEN(0); at + sizeof(int) <= it->cmsg_len; at += sizeof(int)) {
    int fd = -1;
    std::memcpy(&fd, reinterpret_cast<const char*>(it) + at, sizeof fd);
    file = descriptor(fd);
  }
  return n;
}

// Owns the socket, and shares the memory. Used as a byte_stream is. A client's end has its memory from the beginning,
// and has sent it; a server's end takes that which comes beside the first byte, and refuses any that is not sealed.
class ring_stream final : public byte_stream, private polled {
 public:
  // The account counts what the other end shows and is lent, unless the memory that is given has one.
  ring_stream(local_socket socket, poll_list& polls, std::shared_ptr<slab_account> account,
              std::shared_ptr<shared_memory> memory = nullptr)
      : socket_(std::move(socket)),
        polls_(polls),
        account_(std::move(account)),
        bell_(std::make_shared<ring_stream*>(this)) {
    asio::error_code ignored;
    keep_from_children(socket_.native_handle());
    socket_.non_blocking(true, ignored);
    polls_.enter(*this);
    if (memory) share(std::move(memory));
  }
  ~ring_stream() override { close(); }

  awaitable<std::size_t> read_some(std::span<std::byte> into) override {
    if (!memory_ && !co_await meet()) co_return 0;
    for (;;) {
      if (++reads_ > most_reads) co_await give_way();
      if (closed_) throw broken(peer(), asio::error::operation_aborted);
      if (failed_) throw error(*failed_);
      const bool over = gone_ || rings_->is_ended();  // before the last bytes are taken
      if (const std::size_t n = take(into); n > 0 || over) co_return n;
      reads_ = 0;
      co_await reader_.wait();
    }
  }
  awaitable<void> write(std::span<const asio::const_buffer> parts) override {
    std::vector<asio::const_buffer> left(parts.begin(), parts.end());
    for (;;) {
      if (closed_ || gone_ || !memory_) throw broken(peer(), asio::error::broken_pipe);
      drop(left, put(left));
      if (left.empty()) co_return;
      if (!rings_->ask_for_room()) co_await writer_.wait();
    }
  }
  std::size_t write_now(std::span<const asio::const_buffer> parts) override {
    try {
      return memory_ ? put(parts) : 0;
    } catch (const error&) {
      return 0;  // write() will fail as well, and report it
    }
  }
  std::size_t read_now(std::span<std::byte> into) override { return memory_ ? take(into) : 0; }
  void finish() noexcept override {
    asio::error_code ignored;
    if (!memory_) return static_cast<void>(socket_.shutdown(asio::socket_base::shutdown_send, ignored));
    rings_->end();
    if (rings_->must_ring()) ring();
  }
  void close() noexcept override {
    if (std::exchange(closed_, true)) return;
    if (memory_) {
      rings_->end();
      let_go(socket_.get_executor(), memory_);
    }
    *bell_ = nullptr;
    polls_.leave(*this);
    asio::error_code ignored;
    socket_.shutdown(asio::socket_base::shutdown_both, ignored);
    const auto executor = socket_.get_executor();
    socket_.close(ignored);
    for (suspension* waits : {&reader_, &writer_})
      if (*waits) asio::post(executor, [next = waits->take()]() mutable { next.resume(); });
  }
  rpc::outflow outflow() const override {
    const std::uint64_t accepted = accepted_.load(std::memory_order_relaxed);  // first: others may write meanwhile
    return {accepted, memory_ ? rings_->not_taken() : 0};
  }
  std::string peer() const override { return "a process of this host"; }
  std::shared_ptr<shared_memory> memory() override { return memory_; }
  bool show(const std::shared_ptr<const memory_slab>& slab) override {
    if (!memory_->may_show(*slab) || !send_file(socket_.native_handle(), slab->file())) return false;
    memory_->note_shown(slab);
    return true;
  }
  void take_shown() override { hear(most_shown); }

 private:
  // In one go, while others of the network's thread wait. What was lent was shown before, and no more
  // slabs than the last number are.
  static constexpr int most_reads = 64, most_bells = 16, most_shown = 1024;

  // ---- the rings

  std::size_t put(std::span<const asio::const_buffer> parts) {
    const std::size_t n = rings_->put(parts);
    accepted_.fetch_add(n, std::memory_order_relaxed);
    if (n > 0 && rings_->must_ring()) ring();
    return n;
  }
  std::size_t take(std::span<std::byte> into) {
    const std::size_t n = rings_->take(into);
    if (n > 0 && rings_->must_ring_for_room()) ring();
    return n;
  }
  static void drop(std::vector<asio::const_buffer>& left, std::size_t bytes) {
    auto at = left.begin();
    for (; at != left.end() && bytes >= at->size(); ++at) bytes -= at->size();
    if (bytes > 0) *at += bytes;
    left.erase(left.begin(), at);
  }

  // ---- the other end

  static void let_go(asio::any_io_executor in, std::shared_ptr<shared_memory> memory) {
    if (!memory->end()) return;
    asio::post(in, [in, memory = std::move(memory)] { let_go(in, memory); });
  }
  void share(std::shared_ptr<shared_memory> memory) {
    memory_ = std::move(memory);
    rings_.emplace(memory_->mapping().rings());
    share_host_memory();
    listen();
  }
  // Returns false where the client has gone without a word.
  awaitable<bool> meet() {
    asio::error_code failed;
    co_await socket_.async_wait(local_socket::wait_read, telling(failed));
    if (failed) throw broken(peer(), failed);
    descriptor file;
    const ssize_t n = receive_file(socket_.native_handle(), file);
    if (n < 0) throw error(errc::unavailable, "the connection with " + peer() + " broke: " + std::strerror(errno));
    if (n == 0) co_return false;
    if (!file) throw error(errc::data_loss, "the client gives no memory to share");
    share(shared_memory::adopt(std::move(file), account_));
    stay_awake();  // a bell may have come with it
    co_return true;
  }
  awaitable<void> give_way() {
    reads_ = 0;
    co_await asio::post(socket_.get_executor(), asio::use_awaitable);
  }

  // Where the socket is full, the other end has been rung for, and has not looked yet.
  void ring() noexcept {
    const char byte = 0;
    static_cast<void>(::send(socket_.native_handle(), &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT));
  }
  void listen() {
    socket_.async_wait(local_socket::wait_read, [rung = bell_](const asio::error_code& closed) {
      if (*rung && !closed) (*rung)->wake();
    });
  }
  void wake() {
    const outcome<> heard = outcome_of([this] { hear(most_bells); });
    if (!heard) failed_ = *heard.failure();
    if (!failed_ && !gone_) listen();
    look();
  }
  // Who was rung for is not rung for again, and so has to look.
  void stay_awake() {
    rings_->wake();
    polls_.add(*this);
  }
  // Takes what is in the socket, by so many calls at most: bells, and slabs that the other end shows. Throws data_loss
  // for what is no slab.
  void hear(int most_calls) {
    stay_awake();
    for (int i = 0; i < most_calls; ++i) {
      descriptor file;
      const ssize_t n = receive_file(socket_.native_handle(), file);
      if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) gone_ = true;
      if (n <= 0) return;
      if (file) memory_->take_shown(std::move(file));
    }
  }

  bool may_read() const { return reader_ && (gone_ || failed_ || rings_->has_bytes() || rings_->is_ended()); }
  bool may_write() const { return writer_ && (gone_ || rings_->has_room()); }
  bool look() override {
    suspension writer = may_write() ? writer_.take() : suspension(),
               reader = may_read() ? reader_.take() : suspension();
    const bool changed = writer || reader;
    writer.resume();
    reader.resume();  // from here on the stream may be gone
    return changed;
  }
  bool rest() override {
    rings_->sleep();
    if (!may_read() && !may_write()) return true;
    rings_->wake();
    return false;
  }
  void abandon() override {
    polls_.leave(*this);
    const suspension writer = writer_.take(), reader = reader_.take();
  }

  local_socket socket_;
  poll_list& polls_;
  const std::shared_ptr<slab_account> account_;
  const std::shared_ptr<ring_stream*> bell_;  // to this, as long as it is open
  std::shared_ptr<shared_memory> memory_;     // null: the client's first byte has not come
  std::optional<ring_end> rings_;             // in the memory
  std::atomic<std::uint64_t> accepted_{0};
  suspension reader_, writer_;
  int reads_ = 0;                       // since it waited last
  bool closed_ = false, gone_ = false;  // here; there
  std::optional<error> failed_;
};

}}}}  // namespace pinion::v0::rpc::detail
