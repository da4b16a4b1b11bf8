#!/bin/sh
# Unpacks a newer redis-server than the system's into .tools/redis8, for the tests that compare with one.
#
# The packages and the libraries that they are linked against are unpacked into one directory, not installed.
# `.tools/redis8/run` starts the server through that directory's own loader. Needs Debian on amd64 or arm64, apt-get and
# dpkg-deb; no root. Ends early if the server is there. On failure it ends with 0 and one line of text: the tests that need
# it are then skipped.
set -eu

root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
target="$root/.tools/redis8"
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

[ -x "$target/run" ] && "$target/run" --version >/dev/null 2>&1 && exit 0

give_up() {
  echo "fetch-redis: $1; tests against it are skipped"
  exit 0
}
for tool in apt-get apt-cache dpkg-deb dpkg; do
  command -v "$tool" >/dev/null 2>&1 || give_up "no $tool here"
done
[ -r "$keyring" ] || give_up "no $keyring"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/state" "$work/debs" "$work/tree"
: >"$work/status"
# Newer commands reach experimental first; the newest version of all is taken.
for suite in testing experimental; do
  echo "deb [signed-by=$keyring] $mirror $suite main"
done >"$work/sources.list"
options="-qq -o Dir::Etc::sourcelist=$work/sources.list -o Dir::Etc::sourceparts=/dev/null \
 -o Dir::State=$work/state -o Dir::State::Lists=$work/lists -o Dir::State::status=$work/status \
 -o Dir::Cache=$work/cache -o APT::Sandbox::User=root -o Acquire::Languages=none"

# shellcheck disable=SC2086
apt-get $options update 2>/dev/null || give_up "cannot read $mirror"
# shellcheck disable=SC2086
version=$(apt-cache $options madison redis-tools | sed 's/^[^|]*| *\([^ ]*\).*/\1/' | sort -rV | head -n 1)
[ -n "$version" ] || give_up "no redis package at $mirror"
# shellcheck disable=SC2086
libraries=$(apt-cache $options depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks \
  --no-replaces --no-enhances "redis-tools=$version" | grep -E '^(lib|zlib)[a-z0-9.+-]*$' | sort -u |
  grep -vE '^(lib(pam|debconf|selinux|semanage|audit)|libc-bin)' || true)

cd "$work/debs"
# shellcheck disable=SC2086
apt-get $options download "redis-server=$version" "redis-tools=$version" $libraries 2>/dev/null ||
  give_up "cannot download redis $version"
for package in *.deb; do dpkg-deb -x "$package" "$work/tree"; done

loader=$(find "$work/tree" -name 'ld-linux-*.so.*' | head -n 1)
[ -n "$loader" ] || give_up "the unpacked libc has no loader"
mkdir -p "$target/lib" "$target/bin"
find "$work/tree" \( -type f -o -type l \) -name '*.so*' -not -path '*/gconv/*' -exec cp -Lf {} "$target/lib/" \; 2>/dev/null
cp -Lf "$work/tree/usr/bin/redis-check-rdb" "$target/bin/redis-server"
cat >"$target/run" <<RUN
#!/bin/sh
here=\$(CDPATH= cd -- "\$(dirname -- "\$0")" && pwd)
exec "\$here/lib/$(basename "$loader")" --argv0 redis-server --library-path "\$here/lib" "\$here/bin/redis-server" "\$@"
RUN
chmod +x "$target/run"
"$target/run" --version || { rm -f "$target/run"; give_up "redis $version does not start here"; }
