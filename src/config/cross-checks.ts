/**
 * Rules between several settings. Each message names first the variable to change and then those it depends on; the
 * first violation ends the start.
 */
import { describeError } from '../kernel/index.js';
import type { Config } from './schema.js';
import { variableOf, variablesSet } from './setting.js';
import { readSignInProviders } from './sign-in-providers.js';

/** @returns one line, or undefined if the settings are consistent */
export function firstConflict(config: Config): string | undefined {
  return [
    halfAPair(config),
    twoWaysToSignIn(config),
    remoteOnly(config),
    samePort(config),
    shortSecret(config),
    wrongProvider(config),
    timesOutOfOrder(config),
    boundsOutOfOrder(config),
  ].find((line) => line !== undefined);
}

function halfAPair({ endpoints, nats, alerts, backups }: Config): string | undefined {
  return (
    half(endpoints, 'tlsCert', 'tlsKey') ??
    half(nats, 'natsUser', 'natsPassword') ??
    half(nats, 'natsTlsCert', 'natsTlsKey') ??
    half(nats, 'natsSysUser', 'natsSysPassword') ??
    half(alerts, 'smtpUrl', 'smtpFrom') ??
    half(backups, 'backupS3KeyId', 'backupS3Secret')
  );
}

function half<Section extends object>(
  section: Section,
  ...pair: readonly [keyof Section & string, keyof Section & string]
): string | undefined {
  const [given, ...both] = variablesSet(section, ...pair);
  if (given === undefined || both.length > 0) return undefined;
  return `${given} is set without ${pair.map(variableOf).find((variable) => variable !== given)}: set both or neither`;
}

function twoWaysToSignIn({ nats }: Config): string | undefined {
  const ways = variablesSet(nats, 'natsCreds', 'natsUser', 'natsToken', 'natsNkey');
  return moreThanOne(ways) ?? moreThanOne(variablesSet(nats, 'natsSysCreds', 'natsSysNkey', 'natsSysUser'));
}

function moreThanOne([one, other]: readonly string[]): string | undefined {
  return other && `${one} and ${other} are both set: set only one way to sign in`;
}

/** Refused instead of ignored: whoever set these variables expects to use another NATS. */
function remoteOnly({ isEmbedded, nats, storage }: Config): string | undefined {
  if (!isEmbedded) return undefined;
  const signingIn = ['natsCreds', 'natsUser', 'natsToken', 'natsNkey'] as const;
  const system = ['natsSysCreds', 'natsSysNkey', 'natsSysUser'] as const;
  const [given] = variablesSet(nats, ...signingIn, 'natsTlsCa', 'natsTlsCert', ...system);
  if (given)
    return `${given} is set without MILLRACE_NATS_URL: the embedded server generates its own credentials, so remove one or set the other`;
  if (storage.replicas === 1) return undefined;
  return `MILLRACE_REPLICAS accepts 1 without MILLRACE_NATS_URL: the embedded server is a single one`;
}

/**
 * Checks secrets that the first start would store, or that are given in clear text. The message does not contain
 * them.
 */
function shortSecret({ firstStart, signIn: { secretMinCharacters: min, metricsToken } }: Config): string | undefined {
  const { kvToken, kvReadonlyToken, kvPassword, queueToken, queueReadonlyToken, mgmtKey } = firstStart;
  const secrets = { kvToken, kvReadonlyToken, kvPassword, queueToken, queueReadonlyToken, mgmtKey, metricsToken };
  const short = Object.entries(secrets).find(([, secret]) => secret !== undefined && secret.reveal().length < min);
  if (short === undefined) return undefined;
  return `${variableOf(short[0])} must not be shorter than ${min} characters (MILLRACE_SECRET_MIN_CHARACTERS)`;
}

function wrongProvider({ signIn: { signInProviders } }: Config): string | undefined {
  try {
    readSignInProviders(signInProviders);
    return undefined;
  } catch (error) {
    return `${variableOf('signInProviders')} is wrong: ${describeError(error)}`;
  }
}

function samePort({ endpoints: { kvPort, queuePort, mgmtPort, respPort, metricsPort } }: Config): string | undefined {
  const byPort = new Map<number, string>();
  for (const [field, port] of Object.entries({ kvPort, queuePort, mgmtPort, respPort, metricsPort })) {
    const variable = variableOf(field);
    const other = byPort.get(port);
    if (port !== 0 && other) return `${variable} and ${other} are both ${port}: each endpoint needs its own port`;
    byPort.set(port, variable);
  }
  return undefined;
}

function timesOutOfOrder({ ownership, http }: Config): string | undefined {
  const { takeoverSilenceMs: silence } = ownership;
  const heartbeat = ['MILLRACE_SESSION_HEARTBEAT_MS', ownership.sessionHeartbeatMs] as const;
  const headers = ['MILLRACE_HTTP_HEADERS_TIMEOUT_MS', http.httpHeadersTimeoutMs] as const;
  const readLease = ['MILLRACE_READ_LEASE_MS', ownership.readLeaseMs] as const;
  return (
    below(['MILLRACE_LEASE_RENEWAL_MS', ownership.leaseRenewalMs], readLease) ??
    below(readLease, ['MILLRACE_TAKEOVER_SILENCE_MS', silence]) ??
    below(heartbeat, ['half of MILLRACE_TAKEOVER_SILENCE_MS', silence / 2]) ??
    notAbove(headers, ['MILLRACE_HTTP_REQUEST_TIMEOUT_MS', http.httpRequestTimeoutMs])
  );
}

function boundsOutOfOrder({ bounds, http }: Config): string | undefined {
  const command = ['MILLRACE_MAX_COMMAND_BYTES', bounds.maxCommandBytes] as const;
  return (
    notAbove(command, ['MILLRACE_HTTP_MAX_BODY_BYTES', http.httpMaxBodyBytes]) ??
    notAbove(command, ['MILLRACE_BUS_MESSAGE_BYTES', bounds.busMessageBytes]) ??
    notAbove(command, ['MILLRACE_MAILBOX_BYTES', bounds.mailboxBytes])
  );
}

type Named = readonly [variable: string, value: number];

function below([variable, value]: Named, [other, bound]: Named): string | undefined {
  return value < bound ? undefined : `${variable} is ${value}, which must be below ${other} (${bound})`;
}

function notAbove([variable, value]: Named, [other, bound]: Named): string | undefined {
  return value <= bound ? undefined : `${variable} is ${value}, which must not be above ${other} (${bound})`;
}
