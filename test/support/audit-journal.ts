/** An in-memory control journal with records of the audit log. */
import { encodeControlEvent } from '../../src/codec/control/index.js';
import { encodeEntry, hashSection, NO_HASH, sha256 } from '../../src/codec/envelope/index.js';
import type { AuditEntry } from '../../src/domain/control/index.js';
import { CONTROL_PARTITION, CONTROL_SHARD, type EntryBody, type Section } from '../../src/protocol/index.js';
import { ACCOUNT } from '../spec/control/given.js';
import { MemoryJournal } from './memory/index.js';
import { realTime } from './real-time.js';

export const DAY_MS = 86_400_000;
export const NOON_MS = Date.UTC(2026, 10, 30, 12);

export function auditNote(number: number, over: Partial<AuditEntry> = {}): AuditEntry {
  const texts = { secondaryEntity: '', thirdEntity: '', ip: '192.0.2.1', reason: '' };
  const of = { account: ACCOUNT, atMs: NOON_MS, actor: 'ada@example.com', action: 1, source: 'api' };
  return { number, ...of, entity: `database-${number}`, ...texts, ...over } as AuditEntry;
}

export class AuditJournal {
  readonly journal = new MemoryJournal({ clock: realTime, timers: realTime });
  #number = 0;
  #hash: Uint8Array = NO_HASH;
  #section: Section | undefined;

  constructor() {
    this.journal.createStream(CONTROL_SHARD);
  }

  /** Appends one entry with these records. */
  async append(...notes: readonly AuditEntry[]): Promise<void> {
    const section: Section = {
      partition: CONTROL_PARTITION,
      index: (this.#section?.index ?? 0) + 1,
      previousHash: this.#section === undefined ? NO_HASH : hashSection(this.#section),
      effects: Buffer.concat(notes.map((note) => encodeControlEvent({ type: 'AuditNoted', ...note }))),
    };
    this.#section = section;
    await this.#store({ kind: 'batch', commandIds: [], sections: [section] });
  }

  async #store(body: EntryBody): Promise<void> {
    if (this.#number === 0 && body.kind !== 'claim') await this.#store({ kind: 'claim', clusterId: 'c' });
    const bytes = encodeEntry({
      shard: CONTROL_SHARD,
      epoch: 1,
      writer: new Uint8Array(16),
      number: this.#number + 1,
      previousHash: this.#hash,
      clockMs: NOON_MS,
      body,
    });
    await this.journal.append(CONTROL_SHARD, bytes, this.#number);
    this.#number += 1;
    this.#hash = sha256(bytes);
  }
}
