#!/usr/bin/env bash
# Builds another commit of this repository in another directory, to be measured or run next to the current one.
#
#   infra/build-commit.sh <commit> <directory>
#
# A finished build of the same commit is kept. Packages are installed only if the lock file differs.
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
commit=$(git -C "$root" rev-parse --verify --quiet "$1^{commit}") || {
  echo "$0: this clone has no commit $1: it needs the history (git fetch --unshallow)" >&2
  exit 1
}
mkdir -p "$2"
directory=$(cd -- "$2" && pwd)
[ "$(cat "$directory/.commit" 2>/dev/null)" = "$commit" ] && exit 0
rm -rf "$directory"
mkdir -p "$directory"
git -C "$root" archive "$commit" | tar -x -C "$directory"
if cmp -s "$root/package-lock.json" "$directory/package-lock.json"; then
  cp -al "$root/node_modules" "$directory/node_modules"
else
  (cd "$directory" && npm ci --no-audit --no-fund --loglevel=error)
fi
[ ! -d "$root/.tools" ] || cp -a "$root/.tools" "$directory/.tools"
# The types were checked when the commit was made.
(cd "$directory" && node_modules/.bin/tsc -p . --noCheck)
echo "$commit" >"$directory/.commit"
