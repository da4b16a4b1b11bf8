/**
 * The two spellings of the wire: the neutral words (`Svc-…` headers, the queue's and the store's names)
 * and those of an alias that the operator may name with MILLRACE_WIRE_ALIAS. This module alone knows
 * that there are two; everything else asks it for a header by the neutral name's last part.
 *
 * Invariants
 *  W1 both spellings of a request header are read; when both arrive the neutral one counts
 *  W2 an answer carries one spelling: the alias when any header of the request began with it
 */

/** The words of one alias: header prefix without its dash, the queue's name, the store's name. */
export interface AliasWords {
  readonly headerWord: string;
  readonly queueWord: string;
  readonly kvWord: string;
}

/** What follows the prefix in a header that the faces read or write. */
export type WireHeader = 'Encoding' | 'Response-Format' | 'Sync-Token';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

const NEUTRAL_WORD = 'Svc';
const WIRE_HEADERS: readonly WireHeader[] = ['Encoding', 'Response-Format', 'Sync-Token'];
/** Sent by client packages about themselves; allowed and ignored. */
const TELEMETRY_HEADERS = ['Telemetry-Runtime', 'Telemetry-Platform', 'Telemetry-Sdk'];

/** How one request's answer is spelled. */
export class Spelling {
  /** Lower case, with its dash: as Node gives header names. */
  readonly prefix: string;
  readonly #names: ReadonlyMap<WireHeader, string>;

  constructor(word: string) {
    this.prefix = `${word.toLowerCase()}-`;
    this.#names = new Map(WIRE_HEADERS.map((header) => [header, `${word}-${header}`]));
  }

  nameOf(header: WireHeader): string {
    return this.#names.get(header) as string;
  }
}

export class WireSpellings {
  readonly #neutral = new Spelling(NEUTRAL_WORD);
  readonly #aliases: readonly Spelling[];
  /** For each header its names in lower case, neutral first (W1). */
  readonly #incoming: ReadonlyMap<WireHeader, readonly string[]>;
  readonly #words: readonly string[];

  constructor(aliases: readonly AliasWords[]) {
    this.#aliases = aliases.map((alias) => new Spelling(alias.headerWord));
    this.#words = [NEUTRAL_WORD, ...aliases.map((alias) => alias.headerWord)];
    this.#incoming = new Map(
      WIRE_HEADERS.map((header) => [header, this.#words.map((word) => `${word}-${header}`.toLowerCase())]),
    );
  }

  /** The spelling that the request's answer has (W2). */
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

  /** Every request header that a browser may send, for preflights. */
  requestHeaders(): string[] {
    return this.#words.flatMap((word) => [...WIRE_HEADERS, ...TELEMETRY_HEADERS].map((header) => `${word}-${header}`));
  }

  /** Every response header that a browser's script may read. */
  responseHeaders(): string[] {
    return this.#words.map((word) => `${word}-Sync-Token`);
  }
}
