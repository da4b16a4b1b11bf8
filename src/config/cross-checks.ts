/**
 * What settings must keep between them. Each line names the variable to change first and those it
 * depends on; the first one that is broken ends the start.
 */
import type { Config } from './schema.js';

/** @returns one line, or undefined when all fit together */
export function firstConflict(config: Config): string | undefined {
  return [
    halfAPair(config),
    twoWaysToSignIn(config),
    remoteOnly(config),
    samePort(config),
    shortSecret(config),
    timesOutOfOrder(config),
    boundsOutOfOrder(config),
  ].find((line) => line !== undefined);
}

function halfAPair({ faces, nats }: Config): string | undefined {
  const pairs: [string, unknown, string, unknown][] = [
    ['MILLRACE_TLS_CERT', faces.tlsCert, 'MILLRACE_TLS_KEY', faces.tlsKey],
    ['MILLRACE_NATS_USER', nats.natsUser, 'MILLRACE_NATS_PASSWORD', nats.natsPassword],
    ['MILLRACE_NATS_TLS_CERT', nats.natsTlsCert, 'MILLRACE_NATS_TLS_KEY', nats.natsTlsKey],
    ['MILLRACE_NATS_SYS_USER', nats.natsSysUser, 'MILLRACE_NATS_SYS_PASSWORD', nats.natsSysPassword],
  ];
  const half = pairs.find(([, one, , other]) => (one === undefined) !== (other === undefined));
  if (!half) return undefined;
  const [given, missing] = half[1] === undefined ? [half[2], half[0]] : [half[0], half[2]];
  return `${given} is set without ${missing}: they go together`;
}

function twoWaysToSignIn({ nats }: Config): string | undefined {
  return (
    moreThanOne({
      MILLRACE_NATS_CREDS: nats.natsCreds,
      MILLRACE_NATS_USER: nats.natsUser,
      MILLRACE_NATS_TOKEN: nats.natsToken,
      MILLRACE_NATS_NKEY: nats.natsNkey,
    }) ?? moreThanOne({ MILLRACE_NATS_SYS_CREDS: nats.natsSysCreds, MILLRACE_NATS_SYS_USER: nats.natsSysUser })
  );
}

function moreThanOne(ways: Record<string, unknown>): string | undefined {
  const given = Object.keys(ways).filter((variable) => ways[variable] !== undefined);
  return given.length > 1 ? `${given[0]} and ${given[1]} are both set: one way of signing in at a time` : undefined;
}

/** Said aloud rather than ignored: someone who set these believes that they are using another NATS. */
function remoteOnly(config: Config): string | undefined {
  if (!config.isEmbedded) return undefined;
  const { natsCreds, natsUser, natsToken, natsNkey, natsTlsCa, natsTlsCert, natsSysCreds, natsSysUser } = config.nats;
  const given = Object.entries({
    MILLRACE_NATS_CREDS: natsCreds,
    MILLRACE_NATS_USER: natsUser,
    MILLRACE_NATS_TOKEN: natsToken,
    MILLRACE_NATS_NKEY: natsNkey,
    MILLRACE_NATS_TLS_CA: natsTlsCa,
    MILLRACE_NATS_TLS_CERT: natsTlsCert,
    MILLRACE_NATS_SYS_CREDS: natsSysCreds,
    MILLRACE_NATS_SYS_USER: natsSysUser,
  }).find(([, value]) => value !== undefined);
  if (given) return `${given[0]} is set without MILLRACE_NATS_URL: the embedded server has credentials of its own`;
  if (config.storage.replicas === 1) return undefined;
  return `MILLRACE_REPLICAS accepts 1 without MILLRACE_NATS_URL: the embedded server is a single one`;
}

/** Of what the first start would store, and of the rest that is given in the clear; nobody is told what it was. */
function shortSecret({ firstStart, signIn: { secretMinCharacters: min, metricsToken } }: Config): string | undefined {
  const { kvToken, kvReadonlyToken, kvPassword, queueToken, queueReadonlyToken, mgmtKey } = firstStart;
  const short = Object.entries({
    MILLRACE_KV_TOKEN: kvToken,
    MILLRACE_KV_READONLY_TOKEN: kvReadonlyToken,
    MILLRACE_KV_PASSWORD: kvPassword,
    MILLRACE_QUEUE_TOKEN: queueToken,
    MILLRACE_QUEUE_READONLY_TOKEN: queueReadonlyToken,
    MILLRACE_MGMT_KEY: mgmtKey,
    MILLRACE_METRICS_TOKEN: metricsToken,
  }).find(([, secret]) => secret !== undefined && secret.reveal().length < min);
  return short && `${short[0]} must not be shorter than ${min} characters (MILLRACE_SECRET_MIN_CHARACTERS)`;
}

function samePort({ faces }: Config): string | undefined {
  const byPort = new Map<number, string>();
  const ports = {
    MILLRACE_KV_PORT: faces.kvPort,
    MILLRACE_QUEUE_PORT: faces.queuePort,
    MILLRACE_MGMT_PORT: faces.mgmtPort,
    MILLRACE_RESP_PORT: faces.respPort,
    MILLRACE_METRICS_PORT: faces.metricsPort,
  };
  for (const [variable, port] of Object.entries(ports)) {
    const other = byPort.get(port);
    if (port !== 0 && other) return `${variable} is ${port}, which ${other} is too: each face has a port of its own`;
    byPort.set(port, variable);
  }
  return undefined;
}

function timesOutOfOrder({ ownership: own, http }: Config): string | undefined {
  return (
    below('MILLRACE_LEASE_RENEWAL_MS', own.leaseRenewalMs, 'MILLRACE_READ_LEASE_MS', own.readLeaseMs) ??
    below('MILLRACE_READ_LEASE_MS', own.readLeaseMs, 'MILLRACE_TAKEOVER_SILENCE_MS', own.takeoverSilenceMs) ??
    below(
      'MILLRACE_SESSION_HEARTBEAT_MS',
      own.sessionHeartbeatMs,
      'half of MILLRACE_TAKEOVER_SILENCE_MS',
      own.takeoverSilenceMs / 2,
    ) ??
    notAbove(
      'MILLRACE_HTTP_HEADERS_TIMEOUT_MS',
      http.httpHeadersTimeoutMs,
      'MILLRACE_HTTP_REQUEST_TIMEOUT_MS',
      http.httpRequestTimeoutMs,
    )
  );
}

function boundsOutOfOrder({ bounds, http }: Config): string | undefined {
  const command = bounds.maxCommandBytes;
  return (
    notAbove('MILLRACE_MAX_COMMAND_BYTES', command, 'MILLRACE_HTTP_MAX_BODY_BYTES', http.httpMaxBodyBytes) ??
    notAbove('MILLRACE_MAX_COMMAND_BYTES', command, 'MILLRACE_BUS_MESSAGE_BYTES', bounds.busMessageBytes) ??
    notAbove('MILLRACE_MAX_COMMAND_BYTES', command, 'MILLRACE_MAILBOX_BYTES', bounds.mailboxBytes)
  );
}

function below(variable: string, value: number, other: string, bound: number): string | undefined {
  return value < bound ? undefined : `${variable} is ${value}, which must be below ${other} (${bound})`;
}

function notAbove(variable: string, value: number, other: string, bound: number): string | undefined {
  return value <= bound ? undefined : `${variable} is ${value}, which must not be above ${other} (${bound})`;
}
