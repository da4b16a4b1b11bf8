/**
 * The latest sizes of databases and indexes and the latest numbers of connections. Partitions and processes report
 * separately, and a subject is their sum. A process that stops reporting connections counts as gone. Caches of this
 * object are valid only after successful transactions; call `forget` after a failed one.
 */
import { BoundedCache } from '../../kernel/index.js';
import type { SqlFile } from '../../ports/index.js';
import { type Prepared, prepared } from '../statements.js';
import { GAUGE_PLACES } from './metrics.js';

/**
 * Processes report once a minute while they have connections: MG1 (connections are reported with a change, and
 * otherwise once a minute). The rest is for late records.
 */
export const CONNECTIONS_LAST_MS = 150_000;

export interface Size {
  readonly items: number;
  readonly bytes: number;
}

interface ReportedSize extends Size {
  readonly epoch: number;
}

interface Open {
  readonly open: number;
  readonly atMs: number;
}

interface State {
  readonly parts: Map<number, ReportedSize>;
  readonly sessions: Map<string, Open>;
}

const MAX_REMEMBERED = 20_000;

export class GaugeState {
  readonly #sql: Prepared<typeof STATEMENTS>;
  readonly #states = new BoundedCache<number, State>(MAX_REMEMBERED);

  constructor(file: SqlFile) {
    this.#sql = prepared(file, STATEMENTS);
  }

  /**
   * A report of an earlier owner is ignored, because a process that stood still may send it late.
   * @param epoch of the owner; undefined: unknown, and the report is accepted
   * @returns the sum of all parts
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

  /** @returns the sum of all processes */
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

  /** By `GAUGE_PLACES`, the values at that moment; undefined: never reported. */
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
      const { part, items, bytes, epoch } = row as Record<keyof ReportedSize | 'part', number>;
      state.parts.set(part, { items, bytes, epoch });
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
