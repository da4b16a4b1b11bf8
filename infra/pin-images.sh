#!/bin/sh
# Prints the base images of infra/Dockerfile, and the balancer's of infra/compose.yml, with the current digests of their tags
# in the registry, a line each:
# NODE_IMAGE=node:24-bookworm-slim@sha256:…, for --build-arg and --env-file. Keep the output with the images that were built
# with it. Needs docker with buildx, and the registry. Fails without output if a digest is missing.
set -eu

root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
pinned=
for line in $(sed -n 's/^ARG \([A-Z]*_IMAGE=.*\)$/\1/p' "$root/infra/Dockerfile") \
  $(sed -n 's/^ *image: ${\(HAPROXY_IMAGE\):-\(.*\)}$/\1=\2/p' "$root/infra/compose.yml"); do
  image=${line#*=}
  digest=$(docker buildx imagetools inspect --format '{{.Manifest.Digest}}' "$image")
  case $digest in
    sha256:????????????????????????????????????????????????????????????????) ;;
    *)
      echo "pin-images: $image has no digest: $digest" >&2
      exit 1
      ;;
  esac
  pinned="$pinned$line@$digest
"
done
printf '%s' "$pinned"
