/**
 * What a request's headers and query say, in neutral words: its token, its configuration, and what is left of
 * the query. One pass over each; publishes go through here.
 *
 * Invariants
 *  CWO1 the token is in nothing but `token`: not in what is left of the query, nor among the headers
 *  CWO2 what is left of the query is as it came, byte for byte, without the pairs that were taken out
 */
import { type HeaderList, OPTION_NAMES, type RawSettings } from '../../domain/queue/index.js';
import type { WireSpellings } from '../wire-alias.js';

export interface CallWords {
  readonly token: string | undefined;
  /** `svc-…` headers and Content-Type, lower case. */
  readonly configuration: HeaderList;
  /** All other headers, lower case, but for Authorization. */
  readonly others: HeaderList;
  /** Configuration from the query. */
  readonly query: HeaderList;
  /** The query without the above. */
  readonly rest: string;
  /** A word of the alias, or of the neutral spelling, stands somewhere in the request. */
  readonly isAlias: boolean;
  readonly isNeutral: boolean;
}

type Pair = readonly [name: string, value: string];

const BEARER = 'bearer ';
const NONE: HeaderList = [];
const HEADER_FORWARD = 'svc-header-forward';

/** @param rawHeaders names and values in turn, as Node gives them. @param query without its question mark */
export function readWords(spellings: WireSpellings, rawHeaders: readonly string[], query: string): CallWords {
  const configuration: Pair[] = [];
  const others: Pair[] = [];
  let fromAlias: Set<Pair> | undefined;
  let isNeutral = false;
  let authorization: string | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] as string).toLowerCase();
    const value = rawHeaders[at + 1] as string;
    const spelling = spellings.spellingOfName(name);
    if (spelling === 'alias') {
      const neutral = spellings.neutralName(name);
      const pair: Pair = [neutral, spellings.neutralValue(neutral, value)];
      fromAlias ??= new Set();
      fromAlias.add(pair);
      configuration.push(pair);
    } else if (spelling === 'neutral') {
      isNeutral = true;
      configuration.push([name, value]);
    } else if (name === 'content-type') configuration.push([name, value]);
    else if (name === 'authorization') authorization ??= value;
    else others.push([name, value]);
  }
  const asked = query === '' ? undefined : readQuery(spellings, query);
  return {
    token: asked?.token ?? tokenOfHeader(authorization),
    configuration: fromAlias !== undefined && isNeutral ? neutralFirst(configuration, fromAlias) : configuration,
    others,
    query: asked?.configuration ?? NONE,
    rest: asked?.rest ?? '',
    isAlias: fromAlias !== undefined || asked?.isAlias === true,
    isNeutral: isNeutral || asked?.isNeutral === true,
  };
}

/**
 * The configuration of a call. Headers beyond it come along where they may be forwarded.
 * @param mayForward somebody else may ask for it, as a group's defaults do
 */
export function rawSettingsOf({ configuration, others, query }: CallWords, mayForward: boolean): RawSettings {
  const forwards = mayForward || hasName(configuration, HEADER_FORWARD) || hasName(query, HEADER_FORWARD);
  return { headers: forwards ? [...configuration, ...others] : configuration, query };
}

function hasName(list: HeaderList, wanted: string): boolean {
  for (const [name] of list) if (name === wanted) return true;
  return false;
}

/** Where a header came in both spellings, the neutral one counts. */
function neutralFirst(configuration: readonly Pair[], fromAlias: ReadonlySet<Pair>): readonly Pair[] {
  const neutral = new Set(configuration.filter((pair) => !fromAlias.has(pair)).map(([name]) => name));
  return configuration.filter((pair) => !fromAlias.has(pair) || !neutral.has(pair[0]));
}

/** The bearer scheme in any case. */
function tokenOfHeader(authorization: string | undefined): string | undefined {
  if (authorization?.slice(0, BEARER.length).toLowerCase() !== BEARER) return undefined;
  return authorization.slice(BEARER.length).trim();
}

interface QueryWords {
  readonly token: string | undefined;
  readonly configuration: HeaderList;
  readonly rest: string;
  readonly isAlias: boolean;
  readonly isNeutral: boolean;
}

function readQuery(spellings: WireSpellings, query: string): QueryWords {
  const configuration: Pair[] = [];
  const kept: string[] = [];
  const spelled = new Set<'neutral' | 'alias'>();
  let token: string | undefined;
  for (const pair of query.split('&')) {
    const equals = pair.indexOf('=');
    const key = formText(equals < 0 ? pair : pair.slice(0, equals));
    const value = () => (equals < 0 ? '' : formText(pair.slice(equals + 1)));
    const tokenSpelling = spellings.tokenKey(key);
    const spelling = tokenSpelling ?? spellings.spellingOfName(key);
    const neutral = spelling === undefined ? key : spellings.neutralName(key);
    if (tokenSpelling !== undefined) token ??= value();
    else if (spelling !== undefined && isConfigurationKey(neutral))
      configuration.push([neutral, spellings.neutralValue(neutral, value())]);
    else {
      kept.push(pair);
      continue;
    }
    spelled.add(spelling as 'neutral' | 'alias');
  }
  const rest = spelled.size === 0 ? query : kept.join('&');
  return { token, configuration, rest, isAlias: spelled.has('alias'), isNeutral: spelled.has('neutral') };
}

/** A form's text; what cannot be decoded stays as it is. */
function formText(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

/** Query keys that configure a message; all others of a publish belong to its destination. */
const KEYS: ReadonlySet<string> = new Set(OPTION_NAMES.map((option) => `svc-${option}`));

const PREFIXES = ['svc-forward-', 'svc-callback-', 'svc-failure-callback-', 'svc-telemetry-'];

/** @param key neutral; lower case, as the interface has it */
function isConfigurationKey(key: string): boolean {
  return KEYS.has(key) || PREFIXES.some((prefix) => key.startsWith(prefix) && key.length > prefix.length);
}
