#!/usr/bin/env bash
# The build: compiles the program, then makes its bundle, the console and the documentation's site at the same time.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
PATH="$PWD/node_modules/.bin:$PATH"

step() { echo "$1 …" >&2; }

step 'Compiling the program'
tsc -p .

step 'Bundling the program, the console and the documentation'
node infra/build-site.mjs &
site=$!
node infra/bundle.mjs
node infra/write-api-types.mjs dist/api-types.d.ts
tsc -p src/console
node infra/build-console.mjs
wait "$site"
