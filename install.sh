#!/usr/bin/env bash
# install.sh ENV [--deps] LOCK... [.]: installs the packages of each LOCK into the virtual environment ENV; `.` is Quern.
#
# uv takes a tenth of pip's time. pip installs where uv fails or cannot: where pip's configuration names an index of its
# own, and with --deps, for torch: where a CPU build of it lies beside the index pip takes that, else the CUDA build.
set -uo pipefail
readonly UV_PIN=uv==0.13.9
env=$1 && shift
python=$env/bin/python
deps=--no-deps files=() quern=() log=
for argument; do
  case $argument in
    --deps) deps= ;;
    .) quern=(--no-build-isolation --editable .) ;;
    *) files+=("$argument") ;;
  esac
done
locks=("${files[@]/#/-r}")

# Shows large downloads and how far pip is; hundreds of lines about single packages are left out.
progress() {
  awk '/^ *Downloading .*[0-9][0-9](\.[0-9]+)? ?[MG]i?B/ || /^Prepared [0-9][0-9]/ { sub(/^ +/, ""); print "  " $0 }
       /^Collecting / && ++n % 20 == 0 { print "  " n " packages were found" }
       /^Installing collected/ { print "  all are here and are unpacked" }
       { fflush() }' >&2
}

# Runs a command and keeps its output in `log`, in memory: the disk may be full.
run() { log=$("$@" 2>&1 | tee >(progress)); }

pip() { run "$python" -m pip install --disable-pip-version-check --no-input --no-compile --progress-bar off $deps "$@"; }

uv() { run "$env/uv/bin/uv" pip install --python "$python" --no-deps "$@"; }

says() { printf '%s\n' "$log" | grep -qiE "$1"; }

free_megabytes() { df -Pk "$(dirname "$env")" "$env" 2>/dev/null | awk 'NR > 1 { free = $4 } END { print int(free / 1024) }'; }

disk_is_full() { says 'no space left|disk quota exceeded' || [ "$(free_megabytes)" -lt 20 ]; }

fail() {
  echo "The installation into $env failed: $1." >&2
  exit 1
}

# Ends with the last lines of `log` and a sentence: what is wrong, and what to do.
explain() {
  printf '%s\n' "$log" | grep -vE ' is ignored: it is |Retrying ' | tail -n 6 | cut -c 1-300 >&2
  if disk_is_full; then
    fail "the disk is full ($(free_megabytes) MB are free there); the default environment takes 1.3 GB, and as much in the cache of packages. Make room and run the same command again"
  elif says 'ensurepip'; then
    fail "this Python cannot make virtual environments. Install its package venv (Debian: sudo apt-get install python3-venv)"
  elif says 'connect|timed out|name resolution|unreachable|dns error|max retries'; then
    fail "the package index cannot be reached. See that this machine is online, or name a mirror in PIP_INDEX_URL, and run the same command again"
  elif says 'no matching distribution|no solution found|failed to build'; then
    fail "the package index has no build of a package above for this machine ($(uname -sm), $("$python" -V)). The lock is made for Linux on x86-64 and Python 3.11 to 3.13"
  fi
  fail "the lines above say why"
}

# Whether uv is here and reads what pip would read.
uv_serves() {
  [ -n "$deps" ] && ! "$python" -m pip config list 2>/dev/null | grep -qE '\.(index-url|no-index)=' &&
    pip --quiet --target "$env/uv" "$UV_PIN"
}

# Installs everything by `$1`, pip or uv.
by() { "$1" "${locks[@]}" && { [ "${#quern[@]}" = 0 ] || "$1" "${quern[@]}"; }; }

started=$SECONDS
base=${PYTHON:-python3}
command -v "$base" >/dev/null || fail "there is no $base here. Install Python 3.11 (Debian: sudo apt-get install python3-venv)"
"$base" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' ||
  fail "Quern needs Python 3.11, 3.12 or 3.13, and $base is $("$base" -V 2>&1). Name another: make demo PYTHON=python3.11"
echo "installing $(cat "${files[@]}" | grep -c ==) packages into $env"
if [ ! -x "$env/bin/pip" ]; then
  # What was begun is cleared; a folder that is something else is not.
  [ -f "$env/pyvenv.cfg" ] || [ -z "$(ls -A "$env" 2>/dev/null)" ] || fail "$env is a folder that is no virtual environment. Remove it, or name another"
  run "$base" -m venv --clear "$env" || explain
fi
trap 'rm -rf "$env/uv"' EXIT
{ uv_serves && by uv; } || { ! disk_is_full && by pip; } || explain
echo "installed in $((SECONDS - started)) s"
