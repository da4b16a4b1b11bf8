#!/usr/bin/env bash
# Certificates for TLS between processes and nats-servers, by the installation's own authority.
#
#   infra/certificates.sh DIR NAME ALTERNATIVES
#
# It writes DIR/NAME.crt and DIR/NAME.key, valid for both ends of a connection, and replaces existing ones. Before that it
# writes DIR/ca.crt and DIR/ca.key if they are missing. ALTERNATIVES are the names and addresses that others connect to:
# DNS:nats-1.example,IP:10.0.0.1. A process that accepts no connection needs a name, too: DNS:millrace.
set -euo pipefail
umask 077

[ $# -eq 3 ] || { echo "usage: $0 DIR NAME ALTERNATIVES" >&2; exit 2; }
dir=$1 name=$2 alternatives=$3
curve=(-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes)

mkdir -p "$dir"
if [ ! -s "$dir/ca.crt" ]; then
  openssl req -x509 "${curve[@]}" -days 3650 -subj '/CN=millrace authority' \
    -keyout "$dir/ca.key" -out "$dir/ca.crt" 2>/dev/null
fi
openssl req -new "${curve[@]}" -subj "/CN=$name" -keyout "$dir/$name.key.new" -out "$dir/$name.request" 2>/dev/null
openssl x509 -req -in "$dir/$name.request" -CA "$dir/ca.crt" -CAkey "$dir/ca.key" -days 397 -out "$dir/$name.crt.new" \
  -extfile <(printf 'subjectAltName=%s\nextendedKeyUsage=serverAuth,clientAuth\n' "$alternatives") 2>/dev/null
mv "$dir/$name.key.new" "$dir/$name.key"
mv "$dir/$name.crt.new" "$dir/$name.crt"
rm -f "$dir/$name.request"
chmod 644 "$dir"/*.crt
