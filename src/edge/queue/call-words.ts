/**
 * The headers and query of a request in neutral spelling: its token, its configuration, and the rest of the query.
 * One pass over each, because every publish goes through here.
 *
 *  CWO1 the token appears only in `token`: neither in the rest of the query nor among the headers. With a token in
 *       the query, an `Authorization` header for another server is an ordinary header
 *  CWO2 the rest of the query is unchanged, byte for byte, except for the removed pairs
 */
import { type HeaderList, OPTION_NAMES, type RawSettings } from '../../domain/queue/index.js';
import { type ByteString, textOfHeader } from '../../kernel/index.js';
import { formDecoded } from '../http/percent-encoding.js';
import type { HeaderAliases } from '../wire-alias.js';

export interface CallWords {
  readonly token: string | undefined;
  /** `svc-…` headers, Content-Type and Content-Encoding, lower case. */
  readonly configuration: HeaderList;
  /** All other headers, in lower case, without this server's credentials. */
  readonly others: HeaderList;
  /** Configuration from the query. */
  readonly query: HeaderList;
  /** The query without token and configuration. */
  readonly rest: string;
  /** The request contains alias words, or neutral words. */
  readonly isAlias: boolean;
  readonly isNeutral: boolean;
}

type Pair = readonly [name: string, value: string];

const BEARER = 'bearer ';
const NONE: HeaderList = [];
/** They describe the message's body, and are sent with it. */
const OF_THE_BODY: ReadonlySet<string> = new Set(['content-type', 'content-encoding']);
const AUTHORIZATION = 'authorization';
const HEADER_FORWARD = 'svc-header-forward';

/**
 * @param rawHeaders alternating names and values, as from Node. @param query without its question mark
 * @param isOurs whether a token belongs to a queue account of this installation
 */
export function readWords(
  spellings: HeaderAliases,
  rawHeaders: readonly string[],
  query: string,
  isOurs: (token: string) => boolean,
): CallWords {
  const configuration: Pair[] = [];
  const others: Pair[] = [];
  let fromAlias: Set<Pair> | undefined;
  let isNeutral = false;
  let authorizations: string[] | undefined;
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
    } else if (OF_THE_BODY.has(name)) configuration.push([name, value]);
    else if (name === AUTHORIZATION) {
      authorizations ??= [];
      authorizations.push(value);
    } else others.push([name, value]);
  }
  const asked = query === '' ? undefined : readQuery(spellings, query);
  const token = asked?.token ?? tokenOfHeader(authorizations?.[0]);
  if (asked?.token !== undefined && authorizations !== undefined) {
    for (const value of authorizations)
      if (!isCredential(value, asked.token, isOurs)) others.push([AUTHORIZATION, value]);
  }
  return {
    token,
    configuration: fromAlias !== undefined && isNeutral ? neutralFirst(configuration, fromAlias) : configuration,
    others,
    query: asked?.configuration ?? NONE,
    rest: asked?.rest ?? '',
    isAlias: fromAlias !== undefined || asked?.isAlias === true,
    isNeutral: isNeutral || asked?.isNeutral === true,
  };
}

/**
 * The configuration of a call, with other headers if they may be forwarded.
 * @param mayForward forwarding may be enabled elsewhere, such as in a group's defaults
 */
export function rawSettingsOf({ configuration, others, query }: CallWords, mayForward: boolean): RawSettings {
  const forwards = mayForward || hasName(configuration, HEADER_FORWARD) || hasName(query, HEADER_FORWARD);
  return { headers: forwards ? [...configuration, ...others] : configuration, query };
}

function hasName(list: HeaderList, wanted: string): boolean {
  for (const [name] of list) if (name === wanted) return true;
  return false;
}

/** If a header came in both spellings, the neutral one counts. */
function neutralFirst(configuration: readonly Pair[], fromAlias: ReadonlySet<Pair>): readonly Pair[] {
  const neutral = new Set(configuration.filter((pair) => !fromAlias.has(pair)).map(([name]) => name));
  return configuration.filter((pair) => !fromAlias.has(pair) || !neutral.has(pair[0]));
}

/** Accepts the bearer scheme in any case. */
function tokenOfHeader(authorization: string | undefined): string | undefined {
  if (authorization?.slice(0, BEARER.length).toLowerCase() !== BEARER) return undefined;
  return textOfHeader(authorization.slice(BEARER.length)).trim();
}

/** Is it a token of this server? Then it is not forwarded. */
function isCredential(authorization: string, token: string, isOurs: (token: string) => boolean): boolean {
  const given = tokenOfHeader(authorization);
  return given !== undefined && (given === token || isOurs(given));
}

interface QueryWords {
  readonly token: string | undefined;
  readonly configuration: HeaderList;
  readonly rest: string;
  readonly isAlias: boolean;
  readonly isNeutral: boolean;
}

function readQuery(spellings: HeaderAliases, query: string): QueryWords {
  const configuration: Pair[] = [];
  const kept: string[] = [];
  const spelled = new Set<'neutral' | 'alias'>();
  let token: string | undefined;
  for (const pair of query.split('&')) {
    const equals = pair.indexOf('=');
    const key = formBytes(equals < 0 ? pair : pair.slice(0, equals));
    const value = () => (equals < 0 ? '' : formBytes(pair.slice(equals + 1)));
    const tokenSpelling = spellings.tokenKey(key);
    const spelling = tokenSpelling ?? spellings.spellingOfName(key);
    const neutral = spelling === undefined ? key : spellings.neutralName(key);
    if (tokenSpelling !== undefined) token ??= textOfHeader(value());
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

/** One character per byte, as in headers; invalid encoding stays as it is. */
function formBytes(text: string): ByteString {
  return formDecoded(text) ?? text;
}

/** Query keys that configure a message; all others of a publish belong to its destination. */
const KEYS: ReadonlySet<string> = new Set(OPTION_NAMES.map((option) => `svc-${option}`));

const PREFIXES = ['svc-forward-', 'svc-callback-', 'svc-failure-callback-'];
const TELEMETRY = 'svc-telemetry-';

/** Is it an option of the delivery of a message or its callback? @param name neutral, in lower case */
export function isSetting(name: string): boolean {
  return KEYS.has(name) || PREFIXES.some((prefix) => name.startsWith(prefix) && name.length > prefix.length);
}

function isConfigurationKey(key: string): boolean {
  return isSetting(key) || (key.startsWith(TELEMETRY) && key.length > TELEMETRY.length);
}
