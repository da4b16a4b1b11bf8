#!/usr/bin/env bash
# A cluster on this machine that is set up like one on three: three nats-servers with TLS and a user for each role, three
# Millrace processes (two with all roles, one that is an edge), and a balancer before them if haproxy is installed. A
# process that dies is started again.
#
#   infra/local-cluster.sh start    everything (`make up`); running processes are left alone
#   infra/local-cluster.sh nats     the three nats-servers only
#   infra/local-cluster.sh status   the running processes and their addresses
#   infra/local-cluster.sh balancer-config  the balancer's file, which `start` writes too
#   infra/local-cluster.sh stop     all processes of the cluster and no others (`make down`); data is kept
#
# `. DIR/operator.env` sets the variables that `millrace` commands need to reach the cluster.
#
# MILLRACE_CLUSTER_DIR        directory of data, logs, keys, certificates  (.cache/cluster)
# MILLRACE_CLUSTER_NATS_PORT  of the first node; the others follow, routes
#                             100 above, monitoring 200 above              (14222)
# MILLRACE_CLUSTER_HTTP_PORT  of the first process: kv, queue, management,
#                             RESP, metrics in turn; the next 10 above,
#                             the balancer 100 above; its port in the place
#                             of metrics reports whether a process is ready (17100)
# MILLRACE_NATS_SERVER        the binary             (found or fetched, as `serve` does)
# MILLRACE_HEAP_MB            heap limit of each process                   (512)
# Other MILLRACE_* variables are passed to the processes unchanged.
set -euo pipefail
cd "$(dirname "$0")/.."
umask 077

dir=${MILLRACE_CLUSTER_DIR:-.cache/cluster}
nats_port=${MILLRACE_CLUSTER_NATS_PORT:-14222}
http_port=${MILLRACE_CLUSTER_HTTP_PORT:-17100}
main=(node "--max-old-space-size=${MILLRACE_HEAP_MB:-512}" --max-semi-space-size=8 dist/src/cli/main.js)
# A leader's election takes up to nine seconds, reading large stores longer.
start_timeout_s=60
# A process of a cluster ends within MILLRACE_SHUTDOWN_MS, 20 s.
stop_timeout_s=25
# These variables configure the script, and are not settings of a process.
export -n MILLRACE_CLUSTER_DIR MILLRACE_CLUSTER_NATS_PORT MILLRACE_CLUSTER_HTTP_PORT
names='balancer millrace-3 millrace-2 millrace-1 nats-3 nats-2 nats-1'

mkdir -p "$dir"
dir=$(cd "$dir" && pwd)

fail() { echo "local-cluster: $*" >&2; exit 1; }

# --- programs: a pid file holds the pid of a supervisor and its start time, because pids are used again ----------------

started_at() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20; }

is_running() { # name
  local pid ticks
  read -r pid ticks 2>/dev/null <"$dir/$1.pid" || return 1
  [ -n "$ticks" ] && [ "$(started_at "$pid")" = "$ticks" ]
}

run() { # name program [argument…]: in the background, in a session and with a log of its own, looked after
  local name=$1 pid
  : >"$dir/$name.log"
  shift
  setsid "$0" look-after "$dir/$name.child" "$@" </dev/null >>"$dir/$name.log" 2>&1 &
  pid=$!
  disown
  echo "$pid $(started_at "$pid")" >"$dir/$name.pid"
}

look_after() { # file program [argument…]: starts it again a second after it has ended, until it is told to end itself
  local file=$1
  shift
  trap 'kill -TERM "${!:-}" 2>/dev/null || true; wait; exit 0' TERM
  while :; do
    "$@" &
    echo "$!" >"$file"
    wait "$!" || echo "local-cluster: it ended with $?, and is started again" >&2
    sleep 1 &
    wait "$!"
  done
}

stop_one() { # name
  local pid ticks end=$((SECONDS + stop_timeout_s))
  if is_running "$1"; then
    read -r pid ticks <"$dir/$1.pid"
    kill -TERM "$pid" 2>/dev/null || true
    while is_running "$1"; do
      # The session contains only this program's processes.
      [ "$SECONDS" -lt "$end" ] || kill -KILL -- "-$pid" 2>/dev/null || true
      sleep 0.1
    done
    echo "$1: stopped"
  fi
  rm -f "$dir/$1.pid" "$dir/$1.child"
}

wait_for() { # name question…: until the question is answered with yes
  local name=$1 end=$((SECONDS + start_timeout_s))
  shift
  until "$@" >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$end" ] ||
      fail "$name is not ready after $start_timeout_s s: $(tail -n 1 "$dir/$name.log") (all of it: $dir/$name.log)"
    sleep 0.2
  done
}

is_well() { node -e "fetch('http://127.0.0.1:$1').then(r=>process.exit(r.ok?0:1),()=>process.exit(1))"; }

# --- nats-servers -------------------------------------------------------------------------------------------------------

# The password of nodes: letters and digits, a letter first, since nats-server parses the variable as configuration.
route_password() {
  [ -s "$dir/route" ] || echo "s$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')" >"$dir/route"
  cat "$dir/route"
}

# The environment of the operator's commands. The processes have the same one, with another NATS key.
operator_env() {
  local n urls=
  for n in 0 1 2; do urls="$urls,nats://localhost:$((nats_port + n))"; done
  cat >"$dir/operator.env" <<EOF
export MILLRACE_NATS_URL='${urls#,}' MILLRACE_REPLICAS=3
export MILLRACE_NATS_NKEY='$dir/nats/operator.nk' MILLRACE_NATS_SYS_NKEY='$dir/nats/system.nk'
export MILLRACE_NATS_TLS_CA='$dir/tls/ca.crt' MILLRACE_NATS_TLS_CERT='$dir/tls/process.crt' MILLRACE_NATS_TLS_KEY='$dir/tls/process.key'
export MILLRACE_SEAL_KEY_FILE='${MILLRACE_SEAL_KEY_FILE:-$dir/seal.key}'
EOF
  # shellcheck disable=SC1091
  . "$dir/operator.env"
}

start_nats() {
  local n server
  [ -f dist/src/cli/main.js ] || fail 'dist/src/cli/main.js is missing: run "make build" first'
  server=$("${main[@]}" tools)
  [ -s "$dir/tls/node.crt" ] || infra/certificates.sh "$dir/tls" node DNS:localhost,IP:127.0.0.1
  [ -s "$dir/tls/process.crt" ] || infra/certificates.sh "$dir/tls" process DNS:millrace
  mkdir -p "$dir/nats"
  cp infra/nats/*.conf "$dir/nats/"
  mv "$dir/nats/tls-required.conf" "$dir/nats/tls.conf"
  operator_env
  "${main[@]}" cluster users "$dir/nats" >"$dir/users.log"
  export NATS_CLUSTER_USER=route NATS_CLUSTER_PASSWORD NATS_TLS_CA="$dir/tls/ca.crt"
  export NATS_TLS_CERT="$dir/tls/node.crt" NATS_TLS_KEY="$dir/tls/node.key"
  NATS_CLUSTER_PASSWORD=$(route_password)
  for n in 1 2 3; do
    export "NATS_ROUTE_$n=nats://route:$NATS_CLUSTER_PASSWORD@localhost:$((nats_port + 100 + n - 1))"
  done
  for n in 1 2 3; do
    is_running "nats-$n" && continue
    NATS_LISTEN="127.0.0.1:$((nats_port + n - 1))" \
      NATS_CLUSTER_LISTEN="127.0.0.1:$((nats_port + 100 + n - 1))" \
      NATS_MONITOR_LISTEN="127.0.0.1:$((nats_port + 200 + n - 1))" \
      NATS_STORE_DIR="$dir/nats-$n" run "nats-$n" "$server" -c "$dir/nats/node-$n.conf"
  done
}

await_nats() {
  local n
  for n in 1 2 3; do
    wait_for "nats-$n" is_well "$((nats_port + 200 + n - 1))/healthz"
    echo "nats-$n: nats://localhost:$((nats_port + n - 1))"
  done
}

# --- Millrace -------------------------------------------------------------------------------------------------------------

start_process() { # number, user, roles
  local m=$1 user=$2 roles=$3 base=$((http_port + ($1 - 1) * 10))
  is_running "millrace-$m" && return
  MILLRACE_DATA_DIR="$dir/millrace-$m" MILLRACE_ROLES=$roles MILLRACE_NATS_NKEY="$dir/nats/$user.nk" \
    MILLRACE_KV_PORT=$base MILLRACE_QUEUE_PORT=$((base + 1)) MILLRACE_MGMT_PORT=$((base + 2)) \
    MILLRACE_RESP_PORT=$((base + 3)) MILLRACE_METRICS_PORT=$((base + 4)) run "millrace-$m" "${main[@]}" serve
}

await_process() { # number
  local m=$1 base=$((http_port + ($1 - 1) * 10))
  wait_for "millrace-$m" is_well "$((base + 4))/readyz"
  echo "millrace-$m: http://127.0.0.1:$base (kv)  redis://127.0.0.1:$((base + 3)) (RESP)  http://127.0.0.1:$((base + 4)) (metrics)"
}

# The credentials that the first process generated for the first database are used by all processes.
take_credentials() {
  [ -f "$dir/millrace-1/credentials.env" ] || return 0
  # The file is written for a shell. `read` would cut the padding off a value that ends in `=`.
  set -a
  # shellcheck disable=SC1091
  . "$dir/millrace-1/credentials.env"
  set +a
}

start_others() {
  take_credentials
  start_process 2 process edge,kv,queue,projection
  start_process 3 edge edge
}

start_processes() {
  MILLRACE_DATA_DIR="$dir/millrace-1" "${main[@]}" cluster init
  start_process 1 process edge,kv,queue,projection
  await_process 1
  start_others
  await_process 2
  await_process 3
}

# --- the balancer: infra/balancer/haproxy.cfg, with the addresses of the processes on this machine -----------------------

# The first argument is the balancer's first port. An additional port reports whether a process takes requests.
balancer_config() {
  local face m base=$1 edits=() metrics
  for face in 7100:0 7200:1 7300:2 6380:3; do
    edits+=(-e "s/^  bind :${face%:*} .*/  bind 127.0.0.1:$((base + ${face#*:}))/")
    for m in 1 2 3; do
      metrics=$((http_port + (m - 1) * 10 + 4))
      edits+=(-e "s/ millrace-$m:${face%:*} check/& port $metrics/")
      edits+=(-e "s/ millrace-$m:${face%:*} / 127.0.0.1:$((http_port + (m - 1) * 10 + ${face#*:})) /")
    done
  done
  sed "${edits[@]}" infra/balancer/haproxy.cfg
  printf '\nfrontend health\n  bind 127.0.0.1:%s\n  monitor-uri /\n  monitor fail if { nbsrv(kv) lt 1 }\n' $((base + 4))
}

start_balancer() {
  local base=$((http_port + 100))
  command -v haproxy >/dev/null || { echo 'no balancer: haproxy is not installed'; return; }
  balancer_config "$base" >"$dir/balancer.cfg"
  is_running balancer || run balancer haproxy -db -f "$dir/balancer.cfg"
  wait_for balancer is_well $((base + 4))/
  echo "balancer: http://127.0.0.1:$base (kv)  http://127.0.0.1:$((base + 1)) (queue)  http://127.0.0.1:$((base + 2)) (management)  redis://127.0.0.1:$((base + 3)) (RESP)"
}

start_all() {
  start_nats
  # An existing cluster has everything that its processes need: they wait for its servers by themselves.
  if [ -f "$dir/made" ]; then
    take_credentials
    start_process 1 process edge,kv,queue,projection
    start_others
  fi
  await_nats
  start_processes
  start_balancer
  : >"$dir/made"
  echo "commands: . $dir/operator.env; first credentials: $dir/millrace-1/credentials.env"
  echo ready
}

status() {
  local name
  for name in $names; do
    if is_running "$name"; then
      echo "$name: runs as process $(cat "$dir/$name.child" 2>/dev/null), log $dir/$name.log"
    else
      echo "$name: does not run"
    fi
  done
}

case ${1:-} in
  start) start_all ;;
  nats) start_nats; await_nats ;;
  status) status ;;
  balancer-config) balancer_config $((http_port + 100)) ;;
  stop) for name in $names; do stop_one "$name"; done ;;
  look-after) shift; look_after "$@" ;;
  *) fail 'start, nats, status, balancer-config or stop?' ;;
esac
