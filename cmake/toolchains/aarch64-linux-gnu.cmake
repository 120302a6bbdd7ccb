# AArch64 from another machine, by Debian's packages g++-aarch64-linux-gnu and qemu-user; libraries are those of the
# foreign architecture arm64.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
