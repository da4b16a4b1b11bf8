/**
 * The two spellings of headers and names on the wire: neutral words (`Svc-…` headers, names of the queue and the
 * store) and those of an alias that an operator may set with MILLRACE_WIRE_ALIAS. Only this module knows both; other
 * code asks for a header by the last part of its neutral name.
 *
 *  WAL1 both spellings of a request header are read; if both arrive, the neutral one counts
 *  WAL2 an answer has one spelling: the alias if any header of the request has its prefix
 *  WAL3 stored names are neutral: they are converted on the way in (`neutralName`) and out (`Spelling.headerName`)
 */

/** The words of one alias: header prefix without its dash, the queue's name, the store's name. */
export interface AliasWords {
  readonly headerWord: string;
  readonly queueWord: string;
  readonly kvWord: string;
  /** The hosting partner's word in one field of search indexes. Undefined: that field has its neutral name. */
  readonly partnerWord?: string | undefined;
}

/** The part after the prefix in a header that endpoints read or write. */
export type WireHeader = 'Encoding' | 'Response-Format' | 'Sync-Token';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

const NEUTRAL_WORD = 'Svc';
const NEUTRAL_PREFIX = 'svc-';
/** The query key of the queue's token, after the queue's name. */
const TOKEN_KEY_END = '_token';
const NEUTRAL_QUEUE_WORD = 'msgq';
/** Precedes the name of a forwarded header, also inside the names of callback settings. */
const FORWARD = 'forward-';
/** Redacted fields may belong to a message, its callback, the callback's failure callback, and so on. */
const REDACTED_FIELDS = /^svc-(?:(?:failure-)?callback-)*redact-fields$/;
/** Where a canonical name contains another neutral name. */
const CARRIED = '-Forward-Svc-';
const WIRE_HEADERS: readonly WireHeader[] = ['Encoding', 'Response-Format', 'Sync-Token'];
/** Sent by client libraries about themselves; accepted and ignored. */
const TELEMETRY_HEADERS = ['Telemetry-Runtime', 'Telemetry-Platform', 'Telemetry-Sdk'];

/** The words of the published client libraries (docs/wire-aliases.md), as in the setting. */
export const PUBLISHED_WORDS = 'Upstash:QStash:redis:vercel';

/** The spelling of one request's answer. */
export class Spelling {
  /** In lower case, with its dash, like Node's header names. */
  readonly prefix: string;
  readonly isAlias: boolean;
  readonly #names: ReadonlyMap<WireHeader, string>;

  constructor(private readonly word: string) {
    this.isAlias = word !== NEUTRAL_WORD;
    this.prefix = `${word.toLowerCase()}-`;
    this.#names = new Map(WIRE_HEADERS.map((header) => [header, `${word}-${header}`]));
  }

  nameOf(header: WireHeader): string {
    return this.#names.get(header) as string;
  }

  /** @param neutral canonical stored name: `Svc-…`, or any other header, which stays as it is */
  headerName(neutral: string): string {
    if (!this.isAlias || !neutral.startsWith(`${NEUTRAL_WORD}-`)) return neutral;
    return `${this.word}${neutral.slice(NEUTRAL_WORD.length)}`;
  }

  /** A configuration header, which may contain another header's name: `Svc-Forward-Svc-Run`. */
  settingName(neutral: string): string {
    if (!this.isAlias || !neutral.startsWith(`${NEUTRAL_WORD}-`)) return neutral;
    const inner = neutral.indexOf(CARRIED);
    const name = inner < 0 ? neutral : neutral.slice(0, inner + CARRIED.length - NEUTRAL_WORD.length - 1);
    const carried = inner < 0 ? '' : this.headerName(neutral.slice(name.length));
    return this.headerName(name) + carried;
  }

  /** A text that may contain header names. */
  text(neutral: string): string {
    if (!this.isAlias) return neutral;
    return neutral.replaceAll(`${NEUTRAL_WORD}-`, `${this.word}-`).replaceAll(NEUTRAL_PREFIX, this.prefix);
  }
}

/** The spelling of answers to requests without alias words. */
export const NEUTRAL_SPELLING = new Spelling(NEUTRAL_WORD);

export class HeaderAliases {
  readonly #neutral = NEUTRAL_SPELLING;
  readonly #aliases: readonly Spelling[];
  /** Query keys of the queue's token; true for an alias. */
  readonly #tokenKeys: ReadonlyMap<string, boolean>;
  /** For each header its names in lower case, neutral first (WAL1: the neutral one counts). */
  readonly #incoming: ReadonlyMap<WireHeader, readonly string[]>;
  readonly #words: readonly string[];

  constructor(aliases: readonly AliasWords[]) {
    this.#aliases = aliases.map((alias) => new Spelling(alias.headerWord));
    this.#tokenKeys = new Map([
      ...aliases.map(({ queueWord }) => [`${queueWord.toLowerCase()}${TOKEN_KEY_END}`, true] as const),
      [`${NEUTRAL_QUEUE_WORD}${TOKEN_KEY_END}`, false],
    ]);
    this.#words = [NEUTRAL_WORD, ...aliases.map((alias) => alias.headerWord)];
    this.#incoming = new Map(
      WIRE_HEADERS.map((header) => [header, this.#words.map((word) => `${word}-${header}`.toLowerCase())]),
    );
  }

  /** The spelling of the request's answer (WAL2: the alias if any header has its prefix). */
  spellingOf(headers: Headers): Spelling {
    if (this.#aliases.length === 0) return this.#neutral;
    for (const name in headers) {
      for (const alias of this.#aliases) if (name.startsWith(alias.prefix)) return alias;
    }
    return this.#neutral;
  }

  /** The header's value in either spelling. */
  read(headers: Headers, header: WireHeader): string | undefined {
    for (const name of this.#incoming.get(header) as readonly string[]) {
      const value = headers[name];
      if (value !== undefined) return String(value);
    }
    return undefined;
  }

  /** The spelling of a record that was created in one of the two, for a reader whose request shows neither. */
  spellingFor(isAlias: boolean): Spelling {
    return isAlias ? (this.#aliases[0] ?? this.#neutral) : this.#neutral;
  }

  /** The spelling of a query key with the queue's token; undefined for other keys. */
  tokenKey(key: string): 'neutral' | 'alias' | undefined {
    const isAlias = this.#tokenKeys.get(key);
    return isAlias === undefined ? undefined : isAlias ? 'alias' : 'neutral';
  }

  /** The spelling that a header or query key, in lower case, begins with. */
  spellingOfName(name: string): 'neutral' | 'alias' | undefined {
    if (name.startsWith(NEUTRAL_PREFIX)) return 'neutral';
    return this.#aliasOf(name) === undefined ? undefined : 'alias';
  }

  /**
   * The name in neutral words, with any header name inside: `acme-callback-forward-acme-run` becomes
   * `svc-callback-forward-svc-run`. Neutral names stay as they are.
   * @param name in lower case
   */
  neutralName(name: string): string {
    const alias = this.#aliasOf(name);
    if (alias === undefined) return name;
    const { prefix } = alias;
    const rest = name.slice(prefix.length);
    const forward = rest.startsWith(FORWARD) ? 0 : rest.indexOf(`-${FORWARD}`) + 1;
    if (forward === 0 && !rest.startsWith(FORWARD)) return NEUTRAL_PREFIX + rest;
    const inner = rest.slice(forward + FORWARD.length);
    if (!inner.startsWith(prefix)) return NEUTRAL_PREFIX + rest;
    return NEUTRAL_PREFIX + rest.slice(0, forward + FORWARD.length) + NEUTRAL_PREFIX + inner.slice(prefix.length);
  }

  /** The value of a configuration header in an alias spelling: redacted fields contain header names. */
  neutralValue(neutralName: string, value: string): string {
    if (!neutralName.endsWith('redact-fields') || !REDACTED_FIELDS.test(neutralName)) return value;
    let text = value;
    for (const { prefix } of this.#aliases) {
      const start = prefix.slice(0, -1);
      text = text.replace(new RegExp(`\\[\\s*${start}-`, 'gi'), `[${NEUTRAL_PREFIX}`);
    }
    return text;
  }

  #aliasOf(name: string): Spelling | undefined {
    for (const alias of this.#aliases) if (name.startsWith(alias.prefix)) return alias;
    return undefined;
  }

  /** Every request header that a browser may send, for preflights. */
  requestHeaders(): string[] {
    return this.#words.flatMap((word) => [...WIRE_HEADERS, ...TELEMETRY_HEADERS].map((header) => `${word}-${header}`));
  }

  /** Every response header that a browser's script may read. */
  responseHeaders(): string[] {
    return this.#words.map((word) => `${word}-Sync-Token`);
  }
}

const KV_START = '/v2/kv/';
const QUEUE_START = '/v2/msgq/';
const PARTNER_FIELD = 'partner_email';
/** Fields with values that may name a tier of the queue. */
const TIER_FIELDS: ReadonlySet<string> = new Set(['plan_name', 'reserved_type']);
const TIER_START = 'msgq_fixed';

type JsonObject = Readonly<Record<string, unknown>>;

/** The spelling of one answer of the management API: field names, and values that name the queue. */
export class FieldSpelling {
  readonly #names: ReadonlyMap<string, string>;
  readonly #neutralNames: ReadonlyMap<string, string>;
  readonly #tierStart: string;
  readonly #queueWord: string;

  /** @param alsoNamed a field that an answer has under both names, because the reader's spelling is unknown */
  constructor(
    alias: AliasWords | undefined,
    private readonly alsoNamed?: readonly [neutral: string, other: string],
  ) {
    this.#queueWord = alias?.queueWord.toLowerCase() ?? NEUTRAL_QUEUE_WORD;
    this.#tierStart = TIER_START.replace(NEUTRAL_QUEUE_WORD, this.#queueWord);
    const names: [string, string][] = [];
    if (alias !== undefined) {
      names.push(['daily_msgq_messages', `daily_${this.#queueWord}_messages`], ['msgq_id', `${this.#queueWord}_id`]);
      if (alias.partnerWord !== undefined) names.push([PARTNER_FIELD, `${alias.partnerWord}_email`]);
    }
    this.#names = new Map(names);
    this.#neutralNames = new Map(names.map(([neutral, other]) => [other, neutral]));
  }

  /** The body in neutral words. If a field came under both names, the neutral one counts. */
  neutral(body: unknown): unknown {
    if (this.#names.size === 0 || !isObject(body)) return body;
    const members: [string, unknown][] = [];
    for (const [name, value] of Object.entries(body)) {
      const neutral = this.#neutralNames.get(name);
      if (neutral !== undefined && Object.hasOwn(body, neutral)) continue;
      members.push([neutral ?? name, turned(name, value, this.#tierStart, TIER_START)]);
    }
    return Object.fromEntries(members);
  }

  /** An answer, or each item of a list, in the reader's spelling. */
  spelled(answer: unknown): unknown {
    if (this.#names.size === 0 && this.alsoNamed === undefined) return answer;
    if (Array.isArray(answer)) return answer.map((item) => this.spelled(item));
    if (!isObject(answer)) return answer;
    const members = Object.entries(answer).flatMap(([name, value]): [string, unknown][] => {
      const said = turned(name, value, TIER_START, this.#tierStart);
      const also: [string, unknown][] = this.alsoNamed?.[0] === name ? [[this.alsoNamed[1], said]] : [];
      return [[this.#names.get(name) ?? name, said], ...also];
    });
    return Object.fromEntries(members);
  }

  /** A text that may contain field or tier names. */
  text(neutral: string): string {
    return this.#names.size === 0 ? neutral : neutral.replaceAll(NEUTRAL_QUEUE_WORD, this.#queueWord);
  }
}

/** Spellings of the management API, where the path shows the client's spelling. */
export class ManagementSpellings {
  readonly #neutral: FieldSpelling;
  readonly #paths: readonly (readonly [start: string, neutral: string, FieldSpelling])[];
  readonly #byPrefix: readonly (readonly [prefix: string, FieldSpelling])[];

  constructor(aliases: readonly AliasWords[]) {
    const partner = aliases.find(({ partnerWord }) => partnerWord !== undefined)?.partnerWord;
    this.#neutral = new FieldSpelling(
      undefined,
      partner === undefined ? undefined : [PARTNER_FIELD, `${partner}_email`],
    );
    const spelled = aliases.map((alias) => [alias, new FieldSpelling(alias)] as const);
    this.#paths = spelled.flatMap(([{ kvWord, queueWord }, fields]) => [
      [`/v2/${kvWord.toLowerCase()}/`, KV_START, fields] as const,
      [`/v2/${queueWord.toLowerCase()}/`, QUEUE_START, fields] as const,
    ]);
    this.#byPrefix = spelled.map(([{ headerWord }, fields]) => [`${headerWord.toLowerCase()}-`, fields] as const);
  }

  /** @returns the path in neutral words, and the spelling of its answer */
  of(path: string, headers: Headers): { readonly path: string; readonly fields: FieldSpelling } {
    for (const [start, neutral, fields] of this.#paths) {
      if (path.startsWith(start)) return { path: neutral + path.slice(start.length), fields };
    }
    if (this.#byPrefix.length > 0) {
      for (const name in headers) {
        for (const [prefix, fields] of this.#byPrefix) if (name.startsWith(prefix)) return { path, fields };
      }
    }
    return { path, fields: this.#neutral };
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value of a field, with the name of a tier converted. */
function turned(field: string, value: unknown, from: string, to: string): unknown {
  const isTier = TIER_FIELDS.has(field) && typeof value === 'string' && value.startsWith(from);
  return isTier ? to + value.slice(from.length) : value;
}
