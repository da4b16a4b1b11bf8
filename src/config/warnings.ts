/** What is odd about a configuration that works: one line each, never with a value that may be secret. */
import { isLoopback } from './defaults.js';
import type { Config } from './schema.js';
import type { Secret } from './secret.js';
import { PREFIX, type SettingSpec, variableOf } from './setting.js';

/** Below this a token can be guessed; refusing it would only annoy whoever tries things out. */
const SHORT_TOKEN_CHARACTERS = 16;
/** Two slips of a finger; beyond that a suggestion is a guess. */
const SPELLING_DISTANCE = 3;

/** Variables of the same prefix that other parts of the project read: tests and benchmarks. */
const FOREIGN = /^MILLRACE_(TEST|BENCH)_/;

export function warningsFor(
  config: Config,
  environment: Readonly<Record<string, string | undefined>>,
  settings: readonly SettingSpec[],
): string[] {
  return [...unknownVariables(environment, settings), ...oddTokens(config), ...openFaces(config)];
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

/** Others than this machine can connect. */
function openFaces({ faces: { host, tlsCert }, signIn: { metricsToken } }: Config): string[] {
  if (isLoopback(host)) return [];
  const open: string[] = [];
  if (tlsCert === undefined) {
    open.push(
      'MILLRACE_HOST is not loopback and MILLRACE_TLS_CERT is not set: secrets travel in the clear, unless what is in front speaks TLS',
    );
  }
  if (metricsToken === undefined) {
    open.push(
      'MILLRACE_HOST is not loopback and MILLRACE_METRICS_TOKEN is not set: whoever reaches the metrics port may read /metrics',
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

/** Levenshtein's distance; names are short. */
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
