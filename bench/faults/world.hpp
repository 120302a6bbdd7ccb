// A world of this program alone: file systems and networks that it may fill and cut, and that end with it.
#pragma once

#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace faults {

inline void shell(const std::string& command) {
  if (std::system(("{ " + command + "; } >/dev/null 2>&1").c_str()) != 0)
    throw std::runtime_error("failed: " + command);
}

// The means of this machine: why there are none of a kind, or "".
struct world {
  std::string no_disks, no_hosts;
};

inline void loopback_up() {
  const int any = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq lo{};
  std::strcpy(lo.ifr_name, "lo");
  lo.ifr_flags = IFF_UP | IFF_RUNNING;
  const bool is_up = ::ioctl(any, SIOCSIFFLAGS, &lo) == 0;
  ::close(any);
  if (!is_up) throw std::runtime_error(fmt::format("a network of its own has no loopback: {}", std::strerror(errno)));
}
inline std::string why_not(const std::string& command) try {
  shell(command);
  return "";
} catch (const std::exception& e) {
  return e.what();
}

// Moves this program into namespaces of its own, before it has threads, where the system permits that.
inline world enter_own_world() {
  const uid_t user = ::getuid();
  const gid_t group = ::getgid();
  if (::unshare(CLONE_NEWNS | CLONE_NEWNET | (user == 0 ? 0 : CLONE_NEWUSER)) != 0) {
    const std::string why = fmt::format("the system gives no namespaces ({})", std::strerror(errno));
    return {why, why};
  }
  if (user != 0) {
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << "0 " << user << " 1";
    std::ofstream("/proc/self/gid_map") << "0 " << group << " 1";
  }
  loopback_up();
  return {why_not("mount --make-rprivate /; mount -t tmpfs none /run"),
          why_not("ip netns add probe && ip link add probe type veth peer name up netns probe && ip link del probe")};
}

// A disk of a megabyte, which can be filled. Requires: a world of this program's own.
class small_disk {
 public:
  explicit small_disk(const std::filesystem::path& at) : ballast_(at / "ballast") {
    std::filesystem::create_directories(at);
    if (::mount("none", at.c_str(), "tmpfs", 0, "size=1m") != 0)
      throw std::runtime_error(fmt::format("no tmpfs: {}", std::strerror(errno)));
  }
  small_disk(const small_disk&) = delete;
  ~small_disk() { ::umount2(ballast_.parent_path().c_str(), MNT_DETACH); }

  void fill() const {
    std::ofstream out(ballast_, std::ios::binary);
    const std::vector<char> page(4096);
    while (out.write(page.data(), static_cast<std::streamsize>(page.size())).flush()) continue;
  }
  void empty() const { std::filesystem::remove(ballast_); }

 private:
  std::filesystem::path ballast_;
};

// A host of its own at the end of a cable. Requires: a world of this program's own.
class far_host {
 public:
  explicit far_host(int number) : name_(fmt::format("far{}", number)), net_(fmt::format("10.77.{}.", number)) {
    shell(
        fmt::format("ip netns add {0} && ip link add {0} type veth peer name up netns {0} && "
                    "ip addr add {1}1/30 dev {0} && ip link set {0} up && ip netns exec {0} ip link set lo up && "
                    "ip netns exec {0} ip addr add {1}2/30 dev up && ip netns exec {0} ip link set dev up up",
                    name_, net_));
  }
  far_host(const far_host&) = delete;
  ~far_host() {
    try {
      shell(fmt::format("ip link del {0}; ip netns del {0}", name_));
    } catch (const std::exception&) {  // it ends with the world
    }
  }

  std::string near_address(int port) const { return fmt::format("{}1:{}", net_, port); }
  std::string far_address(int port) const { return fmt::format("{}2:{}", net_, port); }
  // The words before those of a program that is to run there.
  std::vector<std::string> prefix() const { return {"env", "ip", "netns", "exec", name_}; }
  void cut() const { shell(fmt::format("ip link set {} down", name_)); }
  void mend() const { shell(fmt::format("ip link set {} up", name_)); }

 private:
  std::string name_, net_;
};

}  // namespace faults
