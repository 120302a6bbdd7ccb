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

# progress: reads what ninja says, and tells of it how much is done and how long the rest will take: in one line of a
# terminal that it writes again, else in a line for each quarter. It passes on what is no step of the build. The last
# step is told of once nothing comes behind it, since a failure would.
#
# Steps take from less than a second to a minute, so they count by what cmake/compiled/seconds.txt says of the units of
# the library, and as 6 seconds where it says nothing.
progress() {
  local line began=$SECONDS told=0 last="" unit seconds units=0 of_units=0 other=6 done=0
  local -A takes
  while read -r unit seconds; do
    takes[$unit]=$seconds units=$((units + 1)) of_units=$((of_units + seconds))
  done <cmake/compiled/seconds.txt
  while IFS= read -r line; do
    if [[ "$line" =~ ^\[([0-9]+)/([0-9]+)\]" " ]]; then
      local made=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]} whole
      [ "$made" != 0 ] || continue  # it looks for new files
      seconds=$other
      [[ ! "$line" =~ /compiled/([a-z_]+)\.cpp\.o$ ]] || seconds=${takes[${BASH_REMATCH[1]}]:-$other}
      done=$((done + seconds))
      whole=$((of_units + other * (all - units)))
      [ "$all" -ge $units ] && [ $whole -ge $done ] || whole=$((done * all / made))  # most was built before
      local taken=$((SECONDS - began)) text="$made of $all steps"
      local text_to_go="$text, about $((taken * (whole - done) / done)) s to go"
      if [ "$made" = "$all" ]; then
        last="$text in $taken s"
      elif [ -t 1 ]; then
        printf '\r\033[K%s' "$text_to_go"
      elif [ $((4 * done)) -ge $((whole * (told + 1))) ]; then
        told=$((4 * done / whole))
        echo "$text_to_go"
      fi
    else
      last=""
      [ ! -t 1 ] || printf '\r\033[K'
      printf '%s\n' "$line"
    fi
  done
  [ ! -t 1 ] || printf '\r\033[K'
  [ -z "$last" ] || echo "$last"
}
