/**
 * The two spellings of the wire: the neutral words (`Svc-…` headers, the queue's and the store's names)
 * and those of an alias that the operator may name with MILLRACE_WIRE_ALIAS. This module alone knows
 * that there are two; everything else asks it for a header by the neutral name's last part.
 *
 * Invariants
 *  WAL1 both spellings of a request header are read; when both arrive the neutral one counts
 *  WAL2 an answer carries one spelling: the alias when any header of the request began with it
 *  WAL3 what is kept is neutral: names are turned on their way in (`neutralName`) and out (`Spelling.headerName`)
 */

/** The words of one alias: header prefix without its dash, the queue's name, the store's name. */
export interface AliasWords {
  readonly headerWord: string;
  readonly queueWord: string;
  readonly kvWord: string;
  /** The hosting partner's word, in one field of search indexes. Undefined: that field has its neutral name. */
  readonly partnerWord?: string | undefined;
}

/** What follows the prefix in a header that the faces read or write. */
export type WireHeader = 'Encoding' | 'Response-Format' | 'Sync-Token';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

const NEUTRAL_WORD = 'Svc';
const NEUTRAL_PREFIX = 'svc-';
/** The query key of the queue's token, after the queue's name. */
const TOKEN_KEY_END = '_token';
const NEUTRAL_QUEUE_WORD = 'msgq';
/** Stands before the name of a header that is passed on, also inside the names of callbacks' settings. */
const FORWARD = 'forward-';
/** Fields may be redacted of a message, of its callback, of the callback's failure callback, and so on. */
const REDACTED_FIELDS = /^svc-(?:(?:failure-)?callback-)*redact-fields$/;
/** Where a canonical name carries another of ours. */
const CARRIED = '-Forward-Svc-';
const WIRE_HEADERS: readonly WireHeader[] = ['Encoding', 'Response-Format', 'Sync-Token'];
/** Sent by client packages about themselves; allowed and ignored. */
const TELEMETRY_HEADERS = ['Telemetry-Runtime', 'Telemetry-Platform', 'Telemetry-Sdk'];

/** The words of the client packages as they are published (docs/wire-aliases.md), as a setting has them. */
export const PUBLISHED_WORDS = 'Upstash:QStash:redis:vercel';

/** How one request's answer is spelled. */
export class Spelling {
  /** Lower case, with its dash: as Node gives header names. */
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

  /** @param neutral canonical, as it is kept: `Svc-…`, or any other header, which stays as it is */
  headerName(neutral: string): string {
    if (!this.isAlias || !neutral.startsWith(`${NEUTRAL_WORD}-`)) return neutral;
    return `${this.word}${neutral.slice(NEUTRAL_WORD.length)}`;
  }

  /** A configuration header, which may carry another header's name: `Svc-Forward-Svc-Run`. */
  settingName(neutral: string): string {
    if (!this.isAlias || !neutral.startsWith(`${NEUTRAL_WORD}-`)) return neutral;
    const inner = neutral.indexOf(CARRIED);
    const name = inner < 0 ? neutral : neutral.slice(0, inner + CARRIED.length - NEUTRAL_WORD.length - 1);
    const carried = inner < 0 ? '' : this.headerName(neutral.slice(name.length));
    return this.headerName(name) + carried;
  }

  /** A text in which headers may be named. */
  text(neutral: string): string {
    if (!this.isAlias) return neutral;
    return neutral.replaceAll(`${NEUTRAL_WORD}-`, `${this.word}-`).replaceAll(NEUTRAL_PREFIX, this.prefix);
  }
}

/** The spelling of answers whose reader shows no sign of another. */
export const NEUTRAL_SPELLING = new Spelling(NEUTRAL_WORD);

export class WireSpellings {
  readonly #neutral = NEUTRAL_SPELLING;
  readonly #aliases: readonly Spelling[];
  /** Query keys of the queue's token; true for an alias. */
  readonly #tokenKeys: ReadonlyMap<string, boolean>;
  /** It has for each header its names in lower case, neutral first (WAL1). */
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

  /** The spelling that the request's answer has (WAL2). */
  spellingOf(headers: Headers): Spelling {
    if (this.#aliases.length === 0) return this.#neutral;
    for (const name in headers) {
      for (const alias of this.#aliases) if (name.startsWith(alias.prefix)) return alias;
    }
    return this.#neutral;
  }

  /** The header's value under whichever name it came. */
  read(headers: Headers, header: WireHeader): string | undefined {
    for (const name of this.#incoming.get(header) as readonly string[]) {
      const value = headers[name];
      if (value !== undefined) return String(value);
    }
    return undefined;
  }

  /** The spelling of a record that was made in one of the two, when its reader shows no sign of either. */
  spellingFor(isAlias: boolean): Spelling {
    return isAlias ? (this.#aliases[0] ?? this.#neutral) : this.#neutral;
  }

  /** Does a query key carry the queue's token? In which spelling, if so. */
  tokenKey(key: string): 'neutral' | 'alias' | undefined {
    const isAlias = this.#tokenKeys.get(key);
    return isAlias === undefined ? undefined : isAlias ? 'alias' : 'neutral';
  }

  /** Does a header or query key, in lower case, begin with the word of a spelling? */
  spellingOfName(name: string): 'neutral' | 'alias' | undefined {
    if (name.startsWith(NEUTRAL_PREFIX)) return 'neutral';
    return this.#aliasOf(name) === undefined ? undefined : 'alias';
  }

  /**
   * The same name in neutral words, also where it carries a header's name of the same spelling inside:
   * `acme-callback-forward-acme-run` becomes `svc-callback-forward-svc-run`. Neutral names stay as they are.
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

  /** The value of a configuration header that came in an alias: header names are in it where fields are redacted. */
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
/** Fields whose values may name a tier of the queue. */
const TIER_FIELDS: ReadonlySet<string> = new Set(['plan_name', 'reserved_type']);
const TIER_START = 'msgq_fixed';

type JsonObject = Readonly<Record<string, unknown>>;

/** How one answer of the management API is spelled: names of fields, and values that name the queue. */
export class FieldSpelling {
  readonly #names: ReadonlyMap<string, string>;
  readonly #neutralNames: ReadonlyMap<string, string>;
  readonly #tierStart: string;
  readonly #queueWord: string;

  /** @param alsoNamed a field that an answer has under both names, since nothing says which its reader knows */
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

  /** A body in neutral words. Where a field came under both names, the neutral one counts. */
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

  /** An answer, or each of a list of them, in the words of its reader. */
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

  /** A text in which fields or tiers may be named. */
  text(neutral: string): string {
    return this.#names.size === 0 ? neutral : neutral.replaceAll(NEUTRAL_QUEUE_WORD, this.#queueWord);
  }
}

/** Spellings of the management API, where a path says which words its client knows. */
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

  /** @returns the path in neutral words, and how its answer is spelled */
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

/** The value of a field, with the name of a tier turned. */
function turned(field: string, value: unknown, from: string, to: string): unknown {
  const isTier = TIER_FIELDS.has(field) && typeof value === 'string' && value.startsWith(from);
  return isTier ? to + value.slice(from.length) : value;
}
