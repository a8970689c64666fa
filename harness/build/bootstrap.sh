# Everything that a bare Debian 12 needs before the project can run; sourced by experiments/run and tests/run.
#
#   bootstrap_packages LIST...   installs what is missing (as root, or by sudo without a password); without rights it
#                                prints the list and exits 2
#   bootstrap_libtorch FLAVOUR   cpu or cuda: unpacks the pinned wheel into the cache, once
#   bootstrap_build PRESET TARGET...   configures when needed and builds
#
# A second run finds everything in place, needs no network and takes a second or two.

project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/hyfreedp

packages_build=(g++ cmake ninja-build ccache ca-certificates python3 python3-pip
  libboost1.81-dev libboost-program-options1.81-dev libboost-json1.81-dev libyaml-cpp-dev libfmt-dev
  libsqlite3-dev libsqlitecpp-dev libssl-dev zlib1g-dev)
packages_run=(gnuplot-nox fonts-dejavu-core dataset-fashion-mnist)
packages_test=(libgtest-dev libgmock-dev clang-format procps)
packages_test_optional=(chromium tidy libxml2-utils clang-tidy texlive-latex-base texlive-latex-recommended)

say() { printf '%s\n' "$*" >&2; }

fail() {
  say "hyfreedp: $*"
  exit 2
}

bootstrap_packages() {
  local missing=() name
  command -v dpkg-query >/dev/null || fail "this set-up knows Debian 12 only. Install by hand: $*"
  local installed
  installed=" $(dpkg-query -W -f '${db:Status-Abbrev}${Package}\n' 2>/dev/null | sed -n 's/^ii //p' | tr '\n' ' ')"
  for name in "$@"; do
    [[ $installed == *" $name "* ]] || missing+=("$name")
  done
  if [[ ${#missing[@]} == 0 ]]; then
    say "[1/4] packages: all ${#} present"
    return
  fi
  say "[1/4] packages: ${#missing[@]} of ${#} missing: ${missing[*]}"
  local sudo=()
  if [[ $(id -u) != 0 ]]; then
    if ! sudo -n true 2>/dev/null; then
      fail "no rights to install packages. As root: apt-get install --no-install-recommends ${missing[*]}"
    fi
    sudo=(sudo -n)
  fi
  say "      apt-get update, apt-get install (a few minutes on a bare machine)"
  # Progress goes to a log; the last lines are shown if it fails.
  local log
  log=$(mktemp)
  if ! "${sudo[@]}" apt-get update -qq >"$log" 2>&1 ||
     ! "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
         "${missing[@]}" >>"$log" 2>&1; then
    tail -20 "$log" >&2
    fail "apt-get failed; the whole log is in $log"
  fi
  rm -f "$log"
}

bootstrap_libtorch() {
  local flavour=$1
  local folder=$cache/libtorch-2.11.0-$flavour
  if [[ -e $folder/.complete ]]; then
    say "[2/4] LibTorch 2.11.0 ($flavour): in $folder"
    return
  fi
  local size="0.5 GB to load, 1.2 GB on disk"
  [[ $flavour == cpu ]] || size="2 GB to load, 4 GB on disk"
  say "[2/4] LibTorch 2.11.0 ($flavour): fetching into $folder ($size)"
  mkdir -p "$cache"
  local partial
  partial=$(mktemp -d "$cache/libtorch-partial-XXXXXX")
  local quiet=(--quiet)
  [[ -t 2 ]] && quiet=()
  local arguments=(install "${quiet[@]}" --no-cache-dir --no-compile --disable-pip-version-check --root-user-action=ignore
    --only-binary=:all: --python-version 3.11 --implementation cp --abi cp311 --abi none --target "$partial"
    --no-deps --require-hashes -r "$project/harness/build/libtorch-$flavour.txt")
  if ! python3 -m pip "${arguments[@]}" >&2; then
    rm -rf "$partial"
    fail "LibTorch could not be fetched (no network, or a package that is not the pinned one); run the command again"
  fi
  if [[ $flavour == cpu ]]; then
    # 0.5 GB that a CPU build never opens.
    rm -f "$partial"/torch/lib/libtorch_cuda*.so "$partial"/torch/lib/libtorch_python.so
  fi
  touch "$partial/.complete"
  rm -rf "$folder"
  mv "$partial" "$folder"
}

bootstrap_show_build() {
  local line tenth shown=-1
  while IFS= read -r line; do
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]]; then
      tenth=$((10 * BASH_REMATCH[1] / BASH_REMATCH[2]))
      [[ $tenth == "$shown" ]] || printf '      %s of %s\n' "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
      shown=$tenth
    elif [[ $line != "ninja: "* ]]; then
      printf '%s\n' "$line"
    fi
  done
}

# bootstrap_build PRESET CMAKE_ARGUMENTS -- TARGET...
bootstrap_build() {
  local preset=$1
  shift
  local arguments=()
  while [[ $1 != -- ]]; do
    arguments+=("$1")
    shift
  done
  shift
  local build=$project/build/$preset
  local stamp=$build/.configured-with
  if [[ ! -e $build/build.ninja || $(cat "$stamp" 2>/dev/null) != "${arguments[*]}" ]]; then
    say "[3/4] configuring build/$preset"
    mkdir -p "$project/build"
    if ! (cd "$project" && cmake --preset "$preset" "${arguments[@]}" >"$build.log" 2>&1); then
      cat "$build.log" >&2
      fail "cmake could not configure the build; its message is above"
    fi
    printf '%s' "${arguments[*]}" >"$stamp"
  else
    say "[3/4] build/$preset is configured"
  fi
  say "[4/4] building (a cold build takes some minutes on two cores)"
  # On a terminal ninja keeps one line up to date; elsewhere a line every 10 % is enough.
  if [[ -t 2 ]]; then
    ninja -C "$build" "$@" >&2 || fail "the build failed; its message is above"
  else
    NINJA_STATUS='[%f/%t] ' ninja -C "$build" "$@" 2>&1 | bootstrap_show_build >&2
    [[ ${PIPESTATUS[0]} == 0 ]] || fail "the build failed; its message is above"
  fi
}

# CMake arguments and LibTorch flavour for this machine: a GPU driver means a CUDA build unless --cpu was given.
bootstrap_device() {
  if [[ ${1:-} == cpu ]] || ! { [[ -e /proc/driver/nvidia/version ]] || [[ -e /dev/nvidia0 ]]; }; then
    flavour=cpu
    cuda=OFF
  else
    flavour=cuda
    cuda=AUTO
  fi
}
