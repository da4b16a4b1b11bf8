/**
 * How large databases and indexes are and who is connected, as it was told last: partitions and processes tell each for
 * itself, and a subject is their sum. A process that has told of connections and then of nothing is gone.
 *
 * What this object remembers is only valid as long as its transactions succeed; after one that did not, `forget` it.
 */
import { Remembered } from '../../kernel/index.js';
import type { SqlFile } from '../../ports/index.js';
import { type Prepared, prepared } from '../statements.js';
import { GAUGE_PLACES } from './metrics.js';

/** Processes tell once a minute while there are any (MG1); some seconds for records that are late. */
export const CONNECTIONS_LAST_MS = 150_000;

export interface Size {
  readonly items: number;
  readonly bytes: number;
}

interface Told extends Size {
  readonly epoch: number;
}

interface Open {
  readonly open: number;
  readonly atMs: number;
}

interface State {
  readonly parts: Map<number, Told>;
  readonly sessions: Map<string, Open>;
}

const MAX_REMEMBERED = 20_000;

export class GaugeState {
  readonly #sql: Prepared<typeof STATEMENTS>;
  readonly #states = new Remembered<number, State>(MAX_REMEMBERED);

  constructor(file: SqlFile) {
    this.#sql = prepared(file, STATEMENTS);
  }

  /**
   * What an owner says that has a successor is passed over: a process that stood still may tell it late.
   * @param epoch of the owner; undefined: nobody knows, and it is taken at its word
   * @returns of all parts
   */
  setSize(subject: number, part: number, { items, bytes }: Size, epoch: number | undefined): Size {
    const { parts } = this.#stateOf(subject);
    const known = parts.get(part)?.epoch ?? 0;
    if (epoch === undefined || epoch >= known) {
      const told = { items, bytes, epoch: epoch ?? known };
      parts.set(part, told);
      this.#sql.setSize.run([subject, part, items, bytes, told.epoch]);
    }
    return sumOf(parts);
  }

  /** @returns of all processes */
  setConnections(subject: number, session: string, open: number, atMs: number): number {
    const { sessions } = this.#stateOf(subject);
    for (const [name, told] of sessions) {
      if (name !== session && told.atMs + CONNECTIONS_LAST_MS < atMs) this.#dropSession(subject, sessions, name);
    }
    if (open === 0) {
      this.#dropSession(subject, sessions, session);
    } else {
      sessions.set(session, { open, atMs });
      this.#sql.setSession.run([subject, session, open, atMs]);
    }
    return openAt(sessions, atMs);
  }

  /** They are found at `GAUGE_PLACES`, as they stand at that moment; undefined: never told. */
  at(subject: number, atMs: number): (number | undefined)[] {
    const { parts, sessions } = this.#stateOf(subject);
    const gauges: (number | undefined)[] = [];
    gauges[GAUGE_PLACES.connections] = sessions.size === 0 ? undefined : openAt(sessions, atMs);
    const size = parts.size === 0 ? undefined : sumOf(parts);
    gauges[GAUGE_PLACES.items] = size?.items;
    gauges[GAUGE_PLACES.bytes] = size?.bytes;
    return gauges;
  }

  forget(): void {
    this.#states.clear();
  }

  #dropSession(subject: number, sessions: Map<string, Open>, session: string): void {
    if (sessions.delete(session)) this.#sql.dropSession.run([subject, session]);
  }

  #stateOf(subject: number): State {
    const known = this.#states.get(subject);
    if (known !== undefined) return known;
    const state: State = { parts: new Map(), sessions: new Map() };
    for (const row of this.#sql.sizes.all([subject])) {
      const { part, items, bytes, epoch } = row as Record<string, number>;
      state.parts.set(part as number, { items, bytes, epoch } as unknown as Told);
    }
    for (const row of this.#sql.sessions.all([subject])) {
      state.sessions.set(row.session as string, { open: row.open as number, atMs: row.at_ms as number });
    }
    this.#states.set(subject, state);
    return state;
  }
}

function openAt(sessions: ReadonlyMap<string, Open>, atMs: number): number {
  let sum = 0;
  for (const { open, atMs: toldAtMs } of sessions.values()) if (toldAtMs + CONNECTIONS_LAST_MS >= atMs) sum += open;
  return sum;
}

function sumOf(parts: ReadonlyMap<number, Size>): Size {
  let items = 0;
  let bytes = 0;
  for (const part of parts.values()) {
    items += part.items;
    bytes += part.bytes;
  }
  return { items, bytes };
}

const STATEMENTS = {
  sizes: 'SELECT part, items, bytes, epoch FROM sizes WHERE subject = ?',
  setSize: 'INSERT OR REPLACE INTO sizes VALUES (?, ?, ?, ?, ?)',
  sessions: 'SELECT session, open, at_ms FROM connections WHERE subject = ?',
  setSession: 'INSERT OR REPLACE INTO connections VALUES (?, ?, ?, ?)',
  dropSession: 'DELETE FROM connections WHERE subject = ? AND session = ?',
} as const;
