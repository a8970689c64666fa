# Everything that a bare Debian 12 needs before the project can run; sourced by experiments/run and
# tests/run.
#
#   bootstrap_packages LIST...   installs what is missing (as root, or by sudo without a password); without rights it
#                                prints the list and exits 2
#   bootstrap_libtorch FLAVOUR   cpu or cuda: unpacks the pinned wheel into the cache, once
#   bootstrap_build PRESET PARTS NEXT  configures when needed and builds; PARTS: programs, or all (tests too);
#                                NEXT: what comes then and how long it takes, for the person who waits
#
# A second run finds everything in place, needs no network and takes a second or two.

project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/hyfreedp

packages_build=(g++ cmake ninja-build ccache ca-certificates python3 python3-pip
  libboost1.81-dev libboost-program-options1.81-dev libboost-json1.81-dev libyaml-cpp-dev libfmt-dev
  libsqlite3-dev libsqlitecpp-dev libssl-dev zlib1g-dev
  libjpeg62-turbo-dev libpng-dev libarchive-dev libcurl4-openssl-dev libutf8proc-dev libsentencepiece-dev)
packages_run=(gnuplot-nox fonts-dejavu-core dataset-fashion-mnist)
packages_test=(libgtest-dev libgmock-dev clang-format procps)
packages_test_optional=(chromium tidy libxml2-utils clang-tidy texlive-latex-base texlive-latex-recommended
  sqlite3 python3-pandas python3-matplotlib)

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

# A line for each tenth of a build, with what is left at the pace so far.
bootstrap_show_build() {
  local line tenth shown=-1 start=$SECONDS left
  while IFS= read -r line; do
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]]; then
      tenth=$((10 * BASH_REMATCH[1] / BASH_REMATCH[2]))
      if [[ $tenth != "$shown" ]]; then
        left=""
        ((tenth == 0 || tenth == 10)) ||
          left="; at this pace $(((SECONDS - start) * (BASH_REMATCH[2] - BASH_REMATCH[1]) / BASH_REMATCH[1] + 1)) s more"
        printf '      %s of %s%s\n' "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" "$left"
      fi
      shown=$tenth
    elif [[ $line != "ninja: "* ]]; then
      printf '%s\n' "$line"
    fi
  done
}

# bootstrap_configure PRESET KEY=VALUE...
# Both run scripts use one build folder, in any order, on a machine where packages appear between
# two calls. So what was configured is written down, only after it succeeded, and is configured
# again where something that is asked for now is not in it. What another call had asked for and this
# one does not mention stays as it is: the tests that tests/run added are still there after
# experiments/run.
bootstrap_configure() {
  local preset=$1 build=$project/build/$1 wanted configured=() arguments=() fits=yes
  shift
  local stamp=$build/.configured-with
  [[ -e $build/build.ninja && -e $stamp ]] && mapfile -t configured <"$stamp"
  for wanted in "$@"; do
    [[ " ${configured[*]} " == *" $wanted "* ]] || fits=
  done
  if [[ $fits == yes && ${#configured[@]} != 0 ]]; then
    say "[3/4] build/$preset is configured"
    return
  fi
  say "[3/4] configuring build/$preset (seconds)"
  mkdir -p "$project/build"
  rm -f "$stamp"
  arguments=("${@/#/-D}")
  if ! (cd "$project" && cmake --preset "$preset" "${arguments[@]}" >"$build.log" 2>&1); then
    cat "$build.log" >&2
    fail "cmake could not configure the build; its message is above"
  fi
  for wanted in "${configured[@]}"; do
    [[ " $*" == *" ${wanted%%=*}="* ]] || set -- "$@" "$wanted"
  done
  printf '%s\n' "$@" >"$stamp"
}

# What one step of a cold build takes one core, on average, in hundredths of a second (measured).
seconds_a_step=150

bootstrap_build() {
  local preset=$1 parts=$2 next=$3 targets=(hyfreedp hyfreedp-worker) settings
  settings=("HYFREEDP_CUDA=$cuda" "HYFREEDP_LIBTORCH_DIR=$cache/libtorch-2.11.0-$flavour")
  if [[ $parts == all ]]; then
    targets=(all)
    settings+=(HYFREEDP_TESTS=ON)
  fi
  bootstrap_configure "$preset" "${settings[@]}"
  local build=$project/build/$preset steps
  # Steps of a cold build less those that were done here before: no more than a hint.
  steps=$(ninja -C "$build" -t commands "${targets[@]}" | grep -c .)
  [[ ! -e $build/.ninja_log ]] || steps=$((steps - $(cut -f4 "$build/.ninja_log" | sort -u | wc -l)))
  if [[ $steps -lt 50 ]]; then
    say "[4/4] building"
  else
    say "[4/4] building: $steps steps, about $(((steps * seconds_a_step / 100 / $(nproc) + 59) / 60)) min on $(nproc) cores; less where" \
      "the compiler cache knows them. Then $next"
  fi
  # On a terminal ninja keeps one line up to date; elsewhere a line every 10 % is enough.
  if [[ -t 2 ]]; then
    ninja -C "$build" "${targets[@]}" >&2 || fail "the build failed; its message is above"
  else
    NINJA_STATUS='[%f/%t] ' ninja -C "$build" "${targets[@]}" 2>&1 | bootstrap_show_build >&2
    [[ ${PIPESTATUS[0]} == 0 ]] || fail "the build failed; its message is above"
  fi
}

# CMake arguments and LibTorch flavour for this machine: a GPU driver means a CUDA build unless
# --cpu was given.
bootstrap_device() {
  if [[ ${1:-} == cpu ]] || ! { [[ -e /proc/driver/nvidia/version ]] || [[ -e /dev/nvidia0 ]]; }; then
    flavour=cpu
    cuda=OFF
  else
    flavour=cuda
    cuda=AUTO
  fi
}
