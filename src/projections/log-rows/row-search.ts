/**
 * Finds rows of `events`, `dlq`, `runs` or `run_events` in order of place. A filter uses the narrowest index that it
 * allows: by message, profile or rare state; several keys are merged. Without an index it scans the account's rows in
 * steps, and the caller decides when to stop.
 */

import type { MessageFilter } from '../../domain/queue/index.js';
import { BoundedCache, getOrCreate } from '../../kernel/index.js';
import type { SqlFile, SqlRow, SqlStatement, SqlValue } from '../../ports/index.js';
import { isWanted, type Profile, rangesOf, type Wanted, wantedOf } from './facets.js';
import { isBefore, type LogPlace, type Order } from './log-places.js';
import { FIRST_RARE_STATE } from './schema.js';

export type Table = 'events' | 'dlq' | 'runs' | 'run_events';

/** Rows with one key. */
export interface Key {
  readonly by: keyof typeof KEYS;
  readonly values: readonly SqlValue[];
}

export interface Search {
  readonly account: number;
  readonly filter: MessageFilter;
  /** Stored numbers; empty: any. Not for `dlq`. */
  readonly states: readonly number[];
  readonly order: Order;
  /** Both exclusive. */
  readonly after: LogPlace;
  readonly before: LogPlace;
  /** Keys of the caller that are narrower than the filter. */
  readonly only?: readonly Key[] | undefined;
  /** Conditions without an index. */
  accept(row: SqlRow): boolean;
}

/** The place that the search has reached, with the row if one was found there. */
export interface SearchStep {
  readonly place: LogPlace;
  readonly row: SqlRow | undefined;
}

/** More keys are not merged: then so many rows match that a scan soon finds them. */
const MAX_STREAMS = 256;
const FIRST_FETCH = 16;
const MAX_FETCH = 512;
/** Rows per step: a few milliseconds. */
const STEP_ROWS = 2000;
/** Fewer rows are scanned directly, even if another index exists. */
const FEW_ROWS = 2000;

/** The condition and index of each key; the query planner alone may choose a slower index. */
const KEYS = {
  message: { index: 'by_message', where: 'message = ? AND account = ?' },
  profile: { index: 'by_profile', where: 'profile = ?' },
  state: { index: 'by_rare_state', where: `account = ? AND state = ? AND state >= ${FIRST_RARE_STATE}` },
  account: { index: undefined, where: 'account = ?' },
  place: { index: 'by_place', where: 'account = ?' },
  run: { index: 'by_run', where: 'run = ? AND account = ?' },
  id: { index: undefined, where: 'id = ? AND account = ?' },
} as const;

export class RowSearch {
  readonly #statements = new Map<string, SqlStatement>();
  readonly #findProfiles: SqlStatement;
  readonly #readProfile: SqlStatement;
  readonly #findMessage: SqlStatement;
  readonly #countOfProfile: SqlStatement;

  constructor(
    private readonly file: SqlFile,
    private readonly table: Table,
  ) {
    this.#findProfiles = file.prepare(
      'SELECT profile FROM profile_facets WHERE account = ? AND facet = ? AND value BETWEEN ? AND ? LIMIT ?',
    );
    this.#readProfile = file.prepare('SELECT facets FROM profiles WHERE id = ?');
    this.#countOfProfile = file.prepare(
      `SELECT count(*) AS rows FROM (SELECT 1 FROM ${table} INDEXED BY ${table}_by_profile WHERE profile = ? LIMIT ?)`,
    );
    this.#findMessage = file.prepare('SELECT id FROM messages WHERE name = ? AND account = ?');
  }

  /** Rows in order, with steps without a row in between. */
  *run(search: Search): Generator<SearchStep> {
    const wanted = wantedOf(search.filter);
    const profiles = new BoundedCache<number, boolean>(STEP_ROWS);
    const fits = (row: SqlRow) => this.#fits(row, search, wanted, profiles);
    const streams = this.#streams(search, wanted);
    let examined = 0;
    for (;;) {
      const stream = nextOf(streams, search.order);
      if (stream === undefined) return;
      const { row, place } = stream.take();
      examined += 1;
      if (fits(row)) yield { place, row };
      else if (examined % STEP_ROWS === 0) yield { place, row: undefined };
    }
  }

  #fits(row: SqlRow, search: Search, wanted: readonly Wanted[], profiles: BoundedCache<number, boolean>): boolean {
    if (search.states.length > 0 && !search.states.includes(row.state as number)) return false;
    if (!search.accept(row)) return false;
    if (wanted.length === 0) return true;
    const id = row.profile as number;
    return getOrCreate(profiles, id, () => this.#isProfileWanted(id, wanted));
  }

  #isProfileWanted(id: number, wanted: readonly Wanted[]): boolean {
    const row = this.#readProfile.get([id]);
    return row !== undefined && isWanted(JSON.parse(row.facets as string) as Profile, wanted);
  }

  #streams(search: Search, wanted: readonly Wanted[]): RowStream[] {
    const { account, filter, states, only } = search;
    if (only !== undefined) return only.map(({ by, values }) => this.#stream(by, values, search));
    if (filter.messageId !== undefined && filter.messageId.length > 0) {
      const rows = [...new Set(filter.messageId)].map((name) => this.#findMessage.get([name, account]));
      return rows.flatMap((row) =>
        row === undefined ? [] : [this.#stream('message', [row.id as number, account], search)],
      );
    }
    const profiles = this.#profilesOf(account, wanted);
    const isRare = this.table !== 'dlq' && states.length > 0 && states.every((state) => state >= FIRST_RARE_STATE);
    if (profiles !== undefined && !(isRare && this.#areMany(profiles))) {
      return profiles.map((id) => this.#stream('profile', [id], search));
    }
    if (isRare) return states.map((state) => this.#stream('state', [account, state], search));
    return [this.#stream(this.table === 'runs' ? 'place' : 'account', [account], search)];
  }

  /** Profiles that match the filter; undefined: too many to merge, or no profile conditions. */
  #profilesOf(account: number, wanted: readonly Wanted[]): readonly number[] | undefined {
    for (const one of wanted) {
      const profiles = this.#profilesWith(account, one);
      if (profiles !== undefined) return profiles.filter((id) => this.#isProfileWanted(id, wanted));
    }
    return undefined;
  }

  #areMany(profiles: readonly number[]): boolean {
    let rows = 0;
    for (const id of profiles) {
      rows += this.#countOfProfile.get([id, FEW_ROWS])?.rows as number;
      if (rows >= FEW_ROWS) return true;
    }
    return false;
  }

  /** Undefined: too many to merge. */
  #profilesWith(account: number, { facet, values }: Wanted): readonly number[] | undefined {
    const found = new Set<number>();
    for (const value of values) {
      for (const [first, last] of rangesOf(facet, value)) {
        for (const row of this.#findProfiles.all([account, facet, first, last, MAX_STREAMS + 1])) {
          found.add(row.profile as number);
        }
        if (found.size > MAX_STREAMS) return undefined;
      }
    }
    return [...found];
  }

  #stream(by: keyof typeof KEYS, key: readonly SqlValue[], { order, after, before }: Search): RowStream {
    const name = `${by} ${order}`;
    let statement = this.#statements.get(name);
    if (statement === undefined) {
      const direction = order === 'earliestFirst' ? 'ASC' : 'DESC';
      const { index, where } = KEYS[by];
      const through = index === undefined ? 'NOT INDEXED' : `INDEXED BY ${this.table}_${index}`;
      statement = this.file.prepare(`SELECT * FROM ${this.table} ${through} WHERE ${where}
        AND (at_ms, n) > (?, ?) AND (at_ms, n) < (?, ?) ORDER BY at_ms ${direction}, n ${direction} LIMIT ?`);
      this.#statements.set(name, statement);
    }
    return new RowStream(statement, key, order, after, before);
  }
}

/** Rows with one key, fetched in growing batches. */
class RowStream {
  #rows: readonly SqlRow[] = [];
  #at = 0;
  #fetch = FIRST_FETCH;
  #isOver = false;

  constructor(
    private readonly statement: SqlStatement,
    private readonly key: readonly SqlValue[],
    private readonly order: Order,
    private after: LogPlace,
    private before: LogPlace,
  ) {}

  peek(): SearchStep | undefined {
    if (this.#at === this.#rows.length) this.#more();
    const row = this.#rows[this.#at];
    return row && { place: placeOfRow(row), row };
  }

  /** Only after `peek` has returned a row. */
  take(): { readonly place: LogPlace; readonly row: SqlRow } {
    const row = this.#rows[this.#at] as SqlRow;
    this.#at += 1;
    return { place: placeOfRow(row), row };
  }

  #more(): void {
    if (this.#isOver) return;
    const { after, before } = this;
    this.#rows = this.statement.all([...this.key, after.atMs, after.n, before.atMs, before.n, this.#fetch]);
    this.#at = 0;
    this.#isOver = this.#rows.length < this.#fetch;
    this.#fetch = Math.min(this.#fetch * 4, MAX_FETCH);
    const last = this.#rows.at(-1);
    if (last === undefined) return;
    if (this.order === 'earliestFirst') this.after = placeOfRow(last);
    else this.before = placeOfRow(last);
  }
}

/** The stream with the next row in this order. */
function nextOf(streams: readonly RowStream[], order: Order): RowStream | undefined {
  let first: RowStream | undefined;
  let firstPlace: LogPlace | undefined;
  for (const stream of streams) {
    const place = stream.peek()?.place;
    if (place === undefined) continue;
    const isFirst =
      firstPlace === undefined ||
      (order === 'earliestFirst' ? isBefore(place, firstPlace) : isBefore(firstPlace, place));
    if (!isFirst) continue;
    first = stream;
    firstPlace = place;
  }
  return first;
}

function placeOfRow(row: SqlRow): LogPlace {
  return { atMs: row.at_ms as number, n: row.n as number };
}
