#!/bin/sh
# Renders the chart of infra/helm into infra/kubernetes, for clusters that are managed without helm. With a directory as its
# argument it writes there instead.
set -eu

root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
out=${1:-$root/infra/kubernetes}
helm="$root/.tools/helm/helm"
[ -x "$helm" ] || { echo "no helm in .tools: run infra/fetch-helm.sh" >&2; exit 1; }

# rendered <template>…: without the lines that name the chart's files.
rendered() {
  only=
  for template in "$@"; do only="$only --show-only templates/$template.yaml"; done
  # shellcheck disable=SC2086
  "$helm" template millrace "$root/infra/helm" $only --set create.secrets=false --set create.natsFiles=false 2>/dev/null |
    sed -e '/^# Source: /d' -e '1{/^---$/d}'
}

{
  cat <<'HEAD'
# Three nats-servers, each on a different machine. Rendered from infra/helm by `make manifests`.
#
#   secret() { echo "s$(openssl rand -hex 16)"; }
#   kubectl create namespace millrace
#   kubectl -n millrace create configmap millrace-nats --from-file=infra/nats
#   kubectl -n millrace create secret generic millrace-nats \
#     --from-literal=app="$(secret)" --from-literal=sys="$(secret)" --from-literal=cluster="$(secret)"
#   kubectl -n millrace apply -f infra/kubernetes/nats.yaml
#
# Passwords begin with a letter, because the server reads them as parts of its configuration. The storage class is the
# cluster's default; it must store data durably when it is synced.
HEAD
  rendered nats
} >"$out/nats.yaml"

{
  cat <<'HEAD'
# Millrace on the NATS of nats.yaml: processes that answer clients, that own shards, and that have read models. Rendered from
# infra/helm by `make manifests`.
#
#   openssl rand -base64 32 > seal.key     # keep a copy apart from all backups
#   kubectl -n millrace create secret generic millrace-seal-key --from-file=seal.key
#   kubectl -n millrace apply -f infra/kubernetes/millrace.yaml
#   kubectl -n millrace exec deploy/millrace-owner -- cat /data/credentials.env
#
# The image is built from infra/Dockerfile. Clients connect to the service `millrace`, without TLS: put an ingress or a balancer
# in front that ends TLS, and list its addresses in MILLRACE_TRUSTED_PROXIES.
#
# No data is lost with a pod: a new process builds its read models from the journal.
HEAD
  rendered settings init roles
} >"$out/millrace.yaml"
