#!/usr/bin/env bash
# Brings a Debian 12 machine with a Swift toolchain to where Turnout builds; only what is missing is installed.
#
#   ./deploy/setup.sh            what the build needs
#   ./deploy/setup.sh --tests    and what the tests need: curl, h2load, HAProxy, nginx, promtool, Redis, Chromium, a
#                                Python environment in .venv-tests
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
packages=(
  ca-certificates git g++ pkg-config libc6-dev
  libyaml-dev libprotobuf-dev libprotoc-dev libc-ares-dev libnghttp2-dev libssl-dev
  zlib1g-dev libbrotli-dev libzstd-dev libhiredis-dev
)
with_tests=false

say() { printf 'setup: %s\n' "$*"; }
fail() { printf 'setup: %s\n' "$*" >&2; exit 1; }

usage() { sed -n '2,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }

for argument in "$@"; do
  case $argument in
    --tests) with_tests=true ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done
if $with_tests; then
  packages+=(chromium curl haproxy nginx nghttp2-client openssl prometheus python3 python3-venv redis-server)
fi

as_root() {
  if [[ $(id -u) -eq 0 ]]; then "$@"; else sudo "$@"; fi
}

# Runs a command that needs the network, once more when it fails.
twice() {
  "$@" && return
  say "once more: $*"
  sleep 5
  "$@"
}

is_installed() {
  [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

apt() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@"
}

# Debian starts a service when its package comes; only the programs are wanted.
policy=/usr/sbin/policy-rc.d
made_policy=false
forbid_services() {
  [[ -e $policy ]] && return
  made_policy=true
  printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
  as_root chmod 755 "$policy"
}
allow_services() {
  if $made_policy; then as_root rm -f "$policy"; made_policy=false; fi
}

install_packages() {
  local missing=() package started=()
  for package in "${packages[@]}"; do is_installed "$package" || missing+=("$package"); done
  if [[ ${#missing[@]} -eq 0 ]]; then
    say "all packages are there"
    return
  fi
  command -v apt-get >/dev/null || fail "apt-get is not here; install the counterparts of: ${missing[*]}"
  for package in haproxy nginx prometheus redis-server; do
    if ! is_installed "$package"; then started+=("$package"); fi
  done
  say "installing ${missing[*]}"
  twice apt update
  trap allow_services EXIT
  forbid_services
  twice apt install --no-install-recommends --yes "${missing[@]}"
  allow_services
  [[ -d /run/systemd/system ]] || return 0
  for package in "${started[@]}"; do
    if is_installed "$package"; then as_root systemctl --quiet disable --now "$package.service"; fi
  done
}

check_swift() {
  local version
  if ! command -v swift >/dev/null; then
    fail "swift is not on the PATH: install Swift 6.3 or later (swift.org, Install, Linux, Debian 12)" \
      "and add its usr/bin to the PATH"
  fi
  version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\.[0-9]*\).*/\1/p' | head -n 1)
  if [[ $(printf '6.3\n%s\n' "$version" | sort -V | head -n 1) != 6.3 ]]; then
    fail "Swift ${version:-of an unknown version} is too old: 6.3 or later is needed"
  fi
  say "Swift $version"
}

python_environment() {
  local folder=$root/.venv-tests requirements=$root/Tests/Interop/requirements.txt stamp
  if [[ ! -x $folder/bin/pip ]]; then
    say "making $folder"
    rm -rf "$folder"
    python3 -m venv "$folder"
  fi
  [[ -f $requirements ]] || return 0
  stamp=$folder/requirements.installed
  if cmp -s "$requirements" "$stamp"; then
    say "the Python packages are there"
    return
  fi
  say "installing Tests/Interop/requirements.txt"
  twice "$folder/bin/pip" install --quiet --disable-pip-version-check --requirement "$requirements"
  cp "$requirements" "$stamp"
}

install_packages
if $with_tests; then python_environment; fi
check_swift
