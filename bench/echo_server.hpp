// A server that takes messages and answers each with nothing, and its callers, over TCP with or without TLS.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <pinion/rpc/acceptor.hpp>
#include <pinion/rpc/channel.hpp>
#include <pinion/rpc/security/credentials.hpp>
#include <pinion/rpc/security/security.hpp>
#include <pinion/rpc/tcp_network.hpp>

namespace bench {

// Files of an authority and of two certificates for 127.0.0.1, made by the command openssl; gone with this.
class certificate_folder {
 public:
  explicit certificate_folder(bool wanted) {
    if (!wanted) return;
    std::string name = (std::filesystem::temp_directory_path() / "pinion_bench_XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    path_ = name;
    run("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=authority -days 1 -keyout ca.key "
        "-out ca.pem");
    for (const std::string who : {"server", "client"}) {
      run("req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=" + who + " -keyout " + who + ".key -out " +
          who + ".csr -addext subjectAltName=IP:127.0.0.1");
      run("x509 -req -in " + who + ".csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 1 -copy_extensions copy -out " +
          who + ".pem");
    }
  }
  certificate_folder(const certificate_folder&) = delete;
  ~certificate_folder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  void run(const std::string& words) const {
    if (std::system(("cd " + path_ + " && openssl " + words + " 2>/dev/null").c_str()) != 0)
      throw std::runtime_error("the command openssl makes no certificates");
  }
  std::string path_;
};

// The credentials of one of the two; none where there is no folder.
inline pinion::rpc::credentials shown(const std::string& who, const std::string& folder) {
  if (folder.empty()) return {};
  const std::string name = folder + "/" + who;
  return pinion::rpc::credentials_of(
      {.certificate = name + ".pem", .private_key = name + ".key", .authorities = folder + "/ca.pem"});
}

// Takes what comes, into memory that it keeps.
class taken final : public pinion::rpc::incoming {
 public:
  taken(const pinion::rpc::envelope& e, pinion::rpc::responder answer) : answer_(std::move(answer)) {
    static std::vector<std::byte> memory;
    if (memory.size() < e.payload) memory.resize(static_cast<std::size_t>(e.payload));
    room_ = {memory.data(), static_cast<std::size_t>(e.payload)};
  }
  std::span<const std::span<std::byte>> rooms() const override { return {&room_, 1}; }
  void arrived() override { answer_.reply({}); }

 private:
  pinion::rpc::responder answer_;
  std::span<std::byte> room_;
};

class echo_server {
 public:
  explicit echo_server(const pinion::rpc::credentials& shows)
      : door_(std::make_shared<pinion::rpc::acceptor>(
            *net_, net_->listen("127.0.0.1:0"),
            pinion::rpc::acceptor_options{.me = {"/job:echo/replica:0/task:0", 1, shows}, .allowed = {}}, service())) {
    door_->start();
  }
  echo_server(const echo_server&) = delete;
  ~echo_server() {
    door_->stop(pinion::error(pinion::errc::unavailable, "it is over"));
    pinion::rpc::settle(*net_);
  }
  const std::string& address() const { return door_->address(); }

 private:
  static pinion::rpc::service service() {
    return {.request = [](const pinion::rpc::envelope& e, pinion::rpc::responder answer,
                          const pinion::rpc::peer_ref&) { return std::make_unique<taken>(e, std::move(answer)); },
            .notice = [](const pinion::rpc::envelope&,
                         const pinion::rpc::peer_ref&) -> std::unique_ptr<pinion::rpc::incoming> { return nullptr; },
            .gone = {}};
  }
  const std::shared_ptr<pinion::rpc::network> net_ = pinion::rpc::tcp_network_of_this_process();
  const std::shared_ptr<pinion::rpc::acceptor> door_;
};

// A connected channel.
class caller {
 public:
  caller(const std::string& address, const pinion::rpc::credentials& shows)
      : way_(std::make_shared<pinion::rpc::channel>(
            *net_, address, "",
            pinion::rpc::channel_options{.me = {"", pinion::rpc::random_number(), shows}, .allowed = {}})) {
    pinion::countdown ended;
    way_->connect(std::chrono::steady_clock::now() + std::chrono::seconds(10), [&](pinion::outcome<> how) {
      if (!how) why_ = how.failure()->what();
      ended.count_down();
    });
    ended.wait();
    if (!why_.empty()) throw std::runtime_error(why_);
  }
  caller(const caller&) = delete;
  ~caller() {
    way_->close(pinion::error(pinion::errc::cancelled, "it is over"));
    pinion::rpc::settle(*net_);
  }
  // Sends that many bytes, and waits for the answer.
  void send(std::size_t bytes) {
    static const std::vector<std::byte> sent(std::size_t{256} << 20, std::byte{7});
    pinion::rpc::message m;
    if (bytes > 0) m.parts.push_back({sent.data(), bytes, nullptr});
    pinion::countdown ended;
    const auto answered = [&](const pinion::rpc::envelope&) {
      ended.count_down();
      return nullptr;
    };
    way_->request(pinion::rpc::lane::data, 1, std::move(m), {.open = answered, .failed = [&](const pinion::error& e) {
                                                               why_ = e.what();
                                                               ended.count_down();
                                                             }});
    ended.wait();
    if (!why_.empty()) throw std::runtime_error(why_);
  }

 private:
  const std::shared_ptr<pinion::rpc::network> net_ = pinion::rpc::tcp_network_of_this_process();
  const std::shared_ptr<pinion::rpc::channel> way_;
  std::string why_;
};

}  // namespace bench
