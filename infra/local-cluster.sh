#!/usr/bin/env bash
# The cluster of infra/compose.yml on this machine without containers: three nats-servers and two
# Millrace processes on loopback.
#
#   infra/local-cluster.sh start    everything; what already runs is left alone
#   infra/local-cluster.sh nats     the three nats-servers only
#   infra/local-cluster.sh status   what runs, and where
#   infra/local-cluster.sh stop     the processes, then the nats-servers; data is kept
#
# MILLRACE_CLUSTER_DIR        where data, logs and credentials go          (.cache/cluster)
# MILLRACE_CLUSTER_NATS_PORT  of the first node; the others follow, routes
#                             100 above, monitoring 200 above              (14222)
# MILLRACE_CLUSTER_HTTP_PORT  of the first process: kv, queue, management,
#                             RESP, metrics in turn; the second 10 above   (17100)
# MILLRACE_NATS_SERVER        the binary                                   (.tools, then the PATH)
# MILLRACE_HEAP_MB            heap limit of each process                   (512)
# Other MILLRACE_* variables reach the processes as they are.
set -euo pipefail
cd "$(dirname "$0")/.."
umask 077

dir=${MILLRACE_CLUSTER_DIR:-.cache/cluster}
nats_port=${MILLRACE_CLUSTER_NATS_PORT:-14222}
http_port=${MILLRACE_CLUSTER_HTTP_PORT:-17100}
heap_mb=${MILLRACE_HEAP_MB:-512}
# A leader's election takes up to nine seconds, reading large stores longer.
start_timeout_s=60
# A process drains within 10 s.
stop_timeout_s=15

mkdir -p "$dir"
dir=$(cd "$dir" && pwd)

fail() { echo "local-cluster: $*" >&2; exit 1; }

# --- processes: a pid file holds the pid and its start time, because pids are used again -------------

started_at() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20; }

is_running() { # name
  local pid ticks
  read -r pid ticks 2>/dev/null <"$dir/$1.pid" || return 1
  [ -n "$ticks" ] && [ "$(started_at "$pid")" = "$ticks" ]
}

run() { # name program [argument…]: in the background, with a session and a log of its own
  local name=$1 pid
  shift
  setsid "$@" </dev/null >>"$dir/$name.log" 2>&1 &
  pid=$!
  disown
  echo "$pid $(started_at "$pid")" >"$dir/$name.pid"
}

stop_one() { # name
  local pid ticks waited=0
  if is_running "$1"; then
    read -r pid ticks <"$dir/$1.pid"
    kill -TERM "$pid" 2>/dev/null || true
    while is_running "$1"; do
      [ "$waited" -lt $((stop_timeout_s * 10)) ] || { kill -KILL "$pid" 2>/dev/null || true; }
      waited=$((waited + 1))
      sleep 0.1
    done
    echo "$1: stopped"
  fi
  rm -f "$dir/$1.pid"
}

wait_for() { # name question…: until the question is answered with yes
  local name=$1 waited=0
  shift
  until "$@" >/dev/null 2>&1; do
    is_running "$name" || fail "$name ended: $(tail -n 1 "$dir/$name.log")"
    [ "$waited" -lt $((start_timeout_s * 5)) ] || fail "$name is not ready after $start_timeout_s s; its log is $dir/$name.log"
    waited=$((waited + 1))
    sleep 0.2
  done
}

# --- nats-servers ----------------------------------------------------------------------------------------

find_server() {
  local candidate
  for candidate in "${MILLRACE_NATS_SERVER:-}" $(ls -d .tools/nats-server-*/nats-server 2>/dev/null | sort -rV) \
    "$(command -v nats-server || true)"; do
    [ -x "$candidate" ] && { echo "$candidate"; return; }
  done
  fail 'no nats-server: name one with MILLRACE_NATS_SERVER, or let "make run" fetch one'
}

# Letters and digits, a letter first: nats-server reads the variables as pieces of configuration.
secret() { echo "s$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')"; }

credentials() {
  if [ ! -s "$dir/credentials" ]; then
    {
      echo "NATS_APP_USER=millrace"
      echo "NATS_APP_PASSWORD=$(secret)"
      echo "NATS_SYS_USER=millracesys"
      echo "NATS_SYS_PASSWORD=$(secret)"
      echo "NATS_CLUSTER_USER=route"
      echo "NATS_CLUSTER_PASSWORD=$(secret)"
    } >"$dir/credentials.new"
    mv "$dir/credentials.new" "$dir/credentials"
  fi
  set -a
  # shellcheck disable=SC1091
  . "$dir/credentials"
  set +a
}

node_url() { echo "nats://127.0.0.1:$((nats_port + $1 - 1))"; }

start_nats() {
  local n server
  server=$(find_server)
  credentials
  for n in 1 2 3; do
    export "NATS_ROUTE_$n=nats://$NATS_CLUSTER_USER:$NATS_CLUSTER_PASSWORD@127.0.0.1:$((nats_port + 100 + n - 1))"
  done
  for n in 1 2 3; do
    is_running "nats-$n" && continue
    NATS_LISTEN="127.0.0.1:$((nats_port + n - 1))" \
      NATS_CLUSTER_LISTEN="127.0.0.1:$((nats_port + 100 + n - 1))" \
      NATS_MONITOR_LISTEN="127.0.0.1:$((nats_port + 200 + n - 1))" \
      NATS_STORE_DIR="$dir/nats-$n" run "nats-$n" "$server" -c "infra/nats/node-$n.conf"
  done
  for n in 1 2 3; do
    wait_for "nats-$n" node -e "fetch('http://127.0.0.1:$((nats_port + 200 + n - 1))/healthz').then(r=>process.exit(r.ok?0:1),()=>process.exit(1))"
    echo "nats-$n: $(node_url "$n")"
  done
}

# --- Millrace ----------------------------------------------------------------------------------------------

millrace() { # arguments of the command line, with the cluster's settings
  node "--max-old-space-size=$heap_mb" dist/src/cli/main.js "$@"
}

start_process() { # number
  local m=$1 base=$((http_port + ($1 - 1) * 10))
  if ! is_running "millrace-$m"; then
    : >"$dir/millrace-$m.log"
    MILLRACE_DATA_DIR="$dir/millrace-$m" MILLRACE_KV_PORT=$base MILLRACE_QUEUE_PORT=$((base + 1)) \
      MILLRACE_MGMT_PORT=$((base + 2)) MILLRACE_RESP_PORT=$((base + 3)) MILLRACE_METRICS_PORT=$((base + 4)) \
      run "millrace-$m" node "--max-old-space-size=$heap_mb" dist/src/cli/main.js serve
    wait_for "millrace-$m" grep -q '^ready ' "$dir/millrace-$m.log"
  fi
  echo "millrace-$m: http://127.0.0.1:$base (kv)  redis://127.0.0.1:$((base + 3)) (RESP)  http://127.0.0.1:$((base + 4)) (metrics)"
}

start_all() {
  [ -f dist/src/cli/main.js ] || fail 'dist/src/cli/main.js is missing: run "make build" first'
  start_nats
  export MILLRACE_NATS_URL MILLRACE_NATS_USER=$NATS_APP_USER MILLRACE_NATS_PASSWORD=$NATS_APP_PASSWORD
  export MILLRACE_NATS_SYS_USER=$NATS_SYS_USER MILLRACE_NATS_SYS_PASSWORD=$NATS_SYS_PASSWORD
  export MILLRACE_REPLICAS=3
  MILLRACE_NATS_URL="$(node_url 1),$(node_url 2),$(node_url 3)"
  # Both must be able to open what either has sealed.
  export MILLRACE_SEAL_KEY_FILE=${MILLRACE_SEAL_KEY_FILE:-$dir/seal.key}
  MILLRACE_DATA_DIR="$dir/millrace-1" millrace cluster init
  start_process 1
  # What the first process generated are the first-start credentials of the cluster.
  if [ -f "$dir/millrace-1/credentials.env" ]; then
    # The file is written for a shell. `read` would cut the padding off a value that ends in `=`.
    set -a
    # shellcheck disable=SC1091
    . "$dir/millrace-1/credentials.env"
    set +a
  fi
  start_process 2
}

names='millrace-2 millrace-1 nats-3 nats-2 nats-1'

case ${1:-} in
  start) start_all ;;
  nats) start_nats ;;
  status)
    for name in $names; do
      if is_running "$name"; then echo "$name: runs, log $dir/$name.log"; else echo "$name: does not run"; fi
    done
    ;;
  stop) for name in $names; do stop_one "$name"; done ;;
  *) fail 'start, nats, status or stop?' ;;
esac
