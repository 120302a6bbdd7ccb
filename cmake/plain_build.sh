# Sourced by tests/gpu.sh and bench/gpu.sh: builds programs by g++ and nvcc alone, for a machine with a GPU that has
# nothing else. Optional libraries are off, but those of clusters where they are there. fmt, Catch2, Asio and cereal are
# headers, of the folder third_party where it is there, else of the system. Objects are kept: one is compiled anew when
# a file that it was made of is newer.
#
# Set before: $out, the folder of the build. Optional: $jobs, $arch (90), CXX (g++), CXXFLAGS (-O2), CUDA_PATH.
# Sets $clusters to 1 if programs of clusters can be built.

jobs="${jobs:-$(nproc)}" arch="${arch:-90}" CXX="${CXX:-g++}" toolkit="${CUDA_PATH:-/usr/local/cuda}"
[ -x "$toolkit/bin/nvcc" ] || ! command -v nvcc >/dev/null ||
  toolkit="$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")"
headers="-Iinclude -isystem $toolkit/include"
[ ! -d third_party ] || headers="-Iinclude -isystem third_party -isystem $toolkit/include"
common="-std=c++20 ${CXXFLAGS:--O2} -DFMT_HEADER_ONLY=1 -DPINION_COMPILED=1 -DPINION_HAS_CUDA=1"
for name in ONEDNN CBLAS JSON ZLIB PROTOZERO; do common="$common -DPINION_HAS_$name=0"; done
clusters=0 libraries="-static-libstdc++ -static-libgcc -lpthread -ldl -lrt"
# shellcheck disable=SC2086 # headers are several words
if printf '#include <%s>\n' asio/awaitable.hpp cereal/cereal.hpp openssl/hmac.h openssl/ssl.h |
  "$CXX" -std=c++20 $headers -E -o /dev/null -x c++ - 2>/dev/null; then
  clusters=1
  # A machine that the programs are packed for may lack OpenSSL.
  case "$("$CXX" -print-file-name=libssl.a)" in
    /*) libraries="-l:libssl.a -l:libcrypto.a $libraries" ;;
    *) libraries="-lssl -lcrypto $libraries" ;;
  esac
fi
for name in ASIO CEREAL OPENSSL DISTRIBUTED; do common="$common -DPINION_HAS_$name=$clusters"; done
export CXX toolkit headers common arch out

# The object of a source.
object() { echo "$out/objects/${1//\//_}.o"; }

# compile_one SOURCE [FLAG...]: unless its object is new. A failure prints the beginning of what the compiler says.
compile_one() {
  local source="$1" to compiler
  shift
  to="$(object "$source")"
  # shellcheck disable=SC2046 # no file has a space in its name
  [ ! -e "$to" ] || [ ! -e "$to.d" ] ||
    [ -n "$(find $(sed 's/^[^ ]* *://; s/\\$//' "$to.d") -newer "$to" 2>&1 | head -1)" ] || return 0
  case "$source $*" in
    *.cu* | *"-x cu") compiler="$toolkit/bin/nvcc -ccbin $CXX --expt-relaxed-constexpr -DFMT_USE_CONSTEXPR=1
      -DPINION_CUDA_KERNELS=1 -gencode arch=compute_$arch,code=[sm_$arch,compute_$arch]" ;;
    *) compiler="$CXX -Wno-psabi" ;;
  esac
  # shellcheck disable=SC2086 # a command is several words
  $compiler $common $headers "$@" -MD -MF "$to.new" -c "$source" -o "$to" >"$to.log" 2>&1 ||
    { echo "$source was not compiled:" && grep -m 5 -E 'error|No such' "$to.log" && return 1; }
  mv "$to.new" "$to.d"
}
export -f object compile_one

# compile: reads lines `SOURCE [FLAG...]`, and compiles $jobs at a time.
compile() {
  local tool
  for tool in "$toolkit/bin/nvcc" "$CXX"; do
    command -v "$tool" >/dev/null ||
      { echo "There is no $tool here: CUDA_PATH names the toolkit, and CXX the compiler." && return 1; }
  done
  mkdir -p "$out/objects"
  # shellcheck disable=SC2016 # the words are those of the inner shell
  xargs -P "$jobs" -d '\n' -n 1 bash -c 'eval "compile_one $0"'
}

# library_sources: those of pinion::compiled and pinion::cuda, those that take longest first.
library_sources() {
  ls cmake/compiled/kernels*.cpp cmake/compiled/cuda/{sorting,conv,fold,reduce}*.cu
  ls cmake/compiled/{,netsim/}*.cpp cmake/compiled/cuda/*.cu | grep -vE '/kernels[^/]*[.]cpp|/(sorting|conv|fold|reduce)[^/]*[.]cu'
}

# build_library: makes libpinion.a of the compiled library.
build_library() {
  library_sources | compile || return
  rm -f "$out/libpinion.a"
  # shellcheck disable=SC2046
  ar qcs "$out/libpinion.a" $(for s in $(library_sources); do object "$s"; done)
}

# link PROGRAM SOURCE...: of objects that are compiled.
link() {
  local program="$out/$1"
  shift
  # shellcheck disable=SC2046,SC2086
  "$CXX" -o "$program" $(for s in "$@"; do object "$s"; done) "$out/libpinion.a" \
    "$(ls "$toolkit"/lib64/libcudart_static.a "$toolkit"/lib/libcudart_static.a 2>/dev/null | head -1)" \
    $libraries
}

# print_tools: prints the versions of the compilers.
print_tools() {
  { "$toolkit/bin/nvcc" --version | tail -1 | grep .; } 2>/dev/null || echo "no nvcc"
  { "$CXX" --version | head -1 | grep .; } 2>/dev/null || echo "no $CXX"
}

# take_built NAME...: takes programs out of the archive, if it has them for this architecture.
take_built() {
  [ "$(cat built/arch 2>/dev/null)" = "$arch" ] || return
  mkdir -p "$out"
  local name
  for name in "$@"; do cp -u "built/$name" "$out/" 2>/dev/null || return; done
}

# take_kernels: has programs keep compiled kernels in $out, beside those of the archive.
take_kernels() {
  export PINION_CUDA_CACHE="$out/kernels"
  [ ! -e built/kernels ] || cp -rn built/kernels "$out/"
}

# find_gpus: sets $gpus, a line for each GPU that the driver shows, and $arch to the compute capability of the first.
find_gpus() {
  gpus="$(nvidia-smi --query-gpu=name,compute_cap,driver_version,memory.total --format=csv,noheader 2>/dev/null)" ||
    gpus=""
  [ -z "$gpus" ] || arch="$(sed -n '1s/^[^,]*, *\([0-9]*\)[.]\([0-9]*\).*/\1\2/p' <<<"$gpus")"
}
