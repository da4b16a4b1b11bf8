/** Warnings about a valid but unusual configuration: one line each, never with a value that may be secret. */
import { isLoopback } from './defaults.js';
import type { Config } from './schema.js';
import type { Secret } from './secret.js';
import { PREFIX, type SettingSpec, variableOf } from './setting.js';

/** A shorter token could be guessed; it is not refused, to keep first experiments easy. */
const SHORT_TOKEN_CHARACTERS = 16;
/** The edit distance of two typing errors; at a larger distance a suggestion would be a guess. */
const SPELLING_DISTANCE = 3;

/** Variables with the same prefix for tests and benchmarks, and the addresses that `millrace env` prints. */
const FOREIGN = /^MILLRACE_(TEST|BENCH)_|^MILLRACE_(KV|QUEUE|MGMT|METRICS)_URL$/;

export function warningsFor(
  config: Config,
  environment: Readonly<Record<string, string | undefined>>,
  settings: readonly SettingSpec[],
): string[] {
  return [...unknownVariables(environment, settings), ...oddTokens(config), ...openEndpoints(config)];
}

function unknownVariables(
  environment: Readonly<Record<string, string | undefined>>,
  settings: readonly SettingSpec[],
): string[] {
  const known = settings.map(({ variable }) => variable);
  return Object.keys(environment)
    .filter((name) => name.startsWith(PREFIX) && !known.includes(name) && !FOREIGN.test(name))
    .sort()
    .map((name) => {
      const [nearest] = known
        .map((variable) => ({ variable, distance: editDistance(name, variable) }))
        .filter(({ distance }) => distance <= SPELLING_DISTANCE)
        .sort((one, other) => one.distance - other.distance);
      const hint = nearest ? `; did you mean ${nearest.variable}?` : '';
      return `${JSON.stringify(name).slice(1, -1)} is not a setting and does nothing${hint}`;
    });
}

/** Warnings for a process that other machines can reach. */
function openEndpoints({ endpoints: { host, tlsCert }, signIn: { metricsToken } }: Config): string[] {
  if (isLoopback(host)) return [];
  const open: string[] = [];
  if (tlsCert === undefined) {
    open.push(
      'MILLRACE_HOST is not loopback and MILLRACE_TLS_CERT is not set: secrets are sent in clear text, unless a proxy in front of it speaks TLS',
    );
  }
  if (metricsToken === undefined) {
    open.push(
      'MILLRACE_HOST is not loopback and MILLRACE_METRICS_TOKEN is not set: every client that reaches the metrics port may read /metrics',
    );
  }
  return open;
}

function oddTokens({ firstStart }: Config): string[] {
  const { kvToken, kvReadonlyToken, queueToken, mgmtKey } = firstStart;
  const short = Object.entries({ kvToken, kvReadonlyToken, queueToken, mgmtKey })
    .filter(([, secret]) => secret && secret.reveal().length < SHORT_TOKEN_CHARACTERS)
    .map(([field]) => `${variableOf(field)} is shorter than ${SHORT_TOKEN_CHARACTERS} characters and can be guessed`);
  if (!queueToken || namesAUser(queueToken)) return short;
  return [
    ...short,
    'MILLRACE_QUEUE_TOKEN is not base64 of JSON with a text UserID: workflow clients cannot build webhook URLs from it',
  ];
}

function namesAUser(token: Secret): boolean {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(token.reveal(), 'base64').toString('utf8'));
    return typeof parsed === 'object' && parsed !== null && 'UserID' in parsed && typeof parsed.UserID === 'string';
  } catch {
    return false;
  }
}

/** The Levenshtein distance, for short names. */
function editDistance(one: string, other: string): number {
  let previous = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const replaced = (previous[column - 1] as number) + (one[row - 1] === other[column - 1] ? 0 : 1);
      const removed = (previous[column] as number) + 1;
      const inserted = (current[column - 1] as number) + 1;
      current.push(Math.min(replaced, removed, inserted));
    }
    previous = current;
  }
  return previous[other.length] as number;
}
