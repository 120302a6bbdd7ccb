# Sourced by tests/run.sh and examples/quickstart.sh: sees to it that what they need is installed (Debian, Ubuntu).

packages="g++ cmake ninja-build libfmt-dev libdnnl-dev libopenblas-openmp-dev libasio-dev libcereal-dev libssl-dev
  nlohmann-json3-dev libprotozero-dev libcli11-dev zlib1g-dev"   # the library and its examples
test_packages="catch2 libbenchmark-dev"                          # its tests and benchmarks

stop() {
  echo "$*" >&2
  exit 1
}

installed() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ] || command -v "$1" >/dev/null
}

# install_missing PACKAGE...: installs with apt-get those that are not there, and says so; stops where it cannot.
install_missing() {
  local missing="" package as_root=""
  if ! command -v apt-get >/dev/null; then
    command -v cmake >/dev/null || stop "Cannot go on: this is no Debian or Ubuntu (no apt-get), and there is no cmake."
    echo "There is no apt-get here; taking it that these are installed in some other way:" "$@"
    return
  fi
  for package in "$@"; do
    installed "$package" || missing="$missing $package"
  done
  [ -n "$missing" ] || return 0

  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || stop "Cannot install$missing: that takes root or sudo. As root: apt-get install$missing"
    as_root="sudo"
  fi
  echo "Installing with apt-get:$missing"
  $as_root apt-get -qq -o DPkg::Lock::Timeout=120 update || stop "Cannot go on: apt-get update failed. Is there a network?"
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0 \
    install --no-install-recommends $missing >/dev/null || stop "Cannot go on: apt-get could not install$missing"
}

# configure FOLDER CMAKE-ARGUMENT...: silent unless it fails.
configure() {
  local folder="$1" said
  shift
  said="$(cmake -B "$folder" "$@" 2>&1)" || stop "$said" "
Cannot go on: cmake could not configure $folder."
}
