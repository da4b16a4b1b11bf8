/**
 * Copies one round: everything that journals and logs got since the round before.
 *
 *  CRN1 intakes are copied before the ends of the queues are read, databases before queues and the control state last, as in a
 *      full backup: an acknowledged write is in the round or in a later one, and no round has an effect without its cause
 *  CRN2 a range ends with a complete entry
 *  CRN3 messages that were removed before they were copied end the copy: the next full backup begins another one
 */
import { isMillraceError, type ShardName } from '../../kernel/index.js';
import type { BackupFiles, FileRef, JournalTail } from '../../ports/index.js';
import { journalEndAt } from '../journal-end.js';
import { type BackupHead, type BackupManifest, headToJson } from './backup-manifest.js';
import { recordOf } from './copy-log.js';
import type { BackupSource, Installation } from './create-backup.js';
import { type BackupRecord, writeRecords } from './record-files.js';
import { type CopiedRange, type RoundManifest, writeRound } from './round-manifest.js';

/** Messages were removed before they were copied (CRN3). */
export class CopyBehind extends Error {
  constructor(shard: ShardName, covered: number, { first, last }: JournalTail) {
    super(`${shard}: the copy ends at position ${covered}, and the journal has positions ${first} to ${last}`);
    this.name = 'CopyBehind';
  }
}

/** The last copied position of each shard. */
export type CopiedEnds = ReadonlyMap<ShardName, number>;

export interface RoundPlace {
  readonly files: BackupFiles;
  /** New in each round. */
  readonly id: string;
}

export interface CopiedRound {
  readonly round: RoundManifest;
  /** Undefined: no shard had a new message, and no manifest was written. */
  readonly bytes: number | undefined;
}

/** The front of an intake moves when an owner accepts its messages. */
const TRIES = 20;
const POSITION_DIGITS = 16;

export function endsOf({ journals, intakes, meter }: BackupManifest): CopiedEnds {
  return new Map([...journals, ...intakes, meter].map(({ shard, to }) => [shard, to]));
}

export function endsAfter({ ends }: RoundManifest): CopiedEnds {
  return new Map(Object.entries(ends) as [ShardName, number][]);
}

/**
 * @param isTold  write a manifest also without new messages
 * @throws CopyBehind; JOURNAL_UNAVAILABLE, JOURNAL_DAMAGED; errors of the files
 */
export async function copyRound(
  source: BackupSource,
  place: RoundPlace,
  installation: Installation,
  covered: CopiedEnds,
  isTold: boolean,
): Promise<CopiedRound> {
  const asOfMs = source.clock.nowMs();
  const copy = new Round(source, place, covered);
  for (const shard of installation.intakes) await copy.intake(shard);
  const ends: [ShardName, BackupHead][] = [];
  for (const shard of installation.journals) {
    const head = await copy.newHead(shard);
    if (head !== undefined) ends.push([shard, head]);
  }
  for (const [shard, head] of ends) await copy.journal(shard, head);
  await copy.meter(installation.meter);
  const { clusterId } = installation;
  const format = await installation.format();
  const round = { format, clusterId, asOfMs, id: place.id, ends: copy.ends(), ranges: copy.ranges };
  if (copy.ranges.length === 0 && !isTold) return { round, bytes: undefined };
  const ofManifest = await writeRound(place.files, round);
  const ofFiles = copy.ranges.flatMap(({ files }) => files).reduce((sum, { bytes }) => sum + bytes, 0);
  return { round, bytes: ofManifest + ofFiles };
}

class Round {
  readonly ranges: CopiedRange[] = [];

  constructor(
    private readonly source: BackupSource,
    private readonly place: RoundPlace,
    private readonly covered: CopiedEnds,
  ) {}

  ends(): Readonly<Record<ShardName, number>> {
    const copied = this.ranges.map(({ shard, to }) => [shard, to] as const);
    return Object.fromEntries([...this.covered, ...copied]);
  }

  /** Removed messages of an intake are in the journal of the queue that accepted them. */
  async intake(shard: ShardName): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      const tail = await this.#tail(shard);
      try {
        await this.#range(shard, Math.max(this.#after(shard), tail.first), tail.last);
        return;
      } catch (error) {
        const { first } = await this.source.journal.tail(shard);
        if (!isMillraceError(error) || first <= tail.first || tries === TRIES) throw error;
      }
    }
  }

  /** Undefined without an entry after the copied ones. */
  async newHead(shard: ShardName): Promise<BackupHead | undefined> {
    const tail = await this.#whole(shard);
    if (tail.last < this.#after(shard)) return undefined;
    const { head } = await journalEndAt(this.source.journal, shard, tail);
    return head.position < this.#after(shard) ? undefined : headToJson(head);
  }

  journal(shard: ShardName, head: BackupHead): Promise<void> {
    return this.#range(shard, this.#after(shard), head.position, head);
  }

  async meter(shard: ShardName): Promise<void> {
    await this.#range(shard, this.#after(shard), (await this.#whole(shard)).last);
  }

  async #range(shard: ShardName, from: number, to: number, head?: BackupHead): Promise<void> {
    if (to < from) return;
    const { journal } = this.source;
    let storedAtMs = 0;
    const records = async function* (): AsyncGenerator<BackupRecord> {
      for await (const message of journal.read(shard, from, to)) {
        storedAtMs = message.storedAtMs;
        yield recordOf(message);
      }
    };
    const prefix = `${shard}/later-${String(from).padStart(POSITION_DIGITS, '0')}-${this.place.id}-`;
    const files: readonly FileRef[] = await writeRecords(this.place.files, prefix, records());
    this.ranges.push({ shard, from, to, ...(head !== undefined && { head }), storedAtMs, files });
  }

  #after(shard: ShardName): number {
    return (this.covered.get(shard) ?? 0) + 1;
  }

  /** @throws CopyBehind when it is another journal than the one that was copied */
  async #tail(shard: ShardName): Promise<JournalTail> {
    const tail = await this.source.journal.tail(shard);
    if (tail.last < this.#after(shard) - 1) throw new CopyBehind(shard, this.#after(shard) - 1, tail);
    return tail;
  }

  /** @throws CopyBehind (CRN3) */
  async #whole(shard: ShardName): Promise<JournalTail> {
    const tail = await this.#tail(shard);
    if (tail.first > this.#after(shard)) throw new CopyBehind(shard, this.#after(shard) - 1, tail);
    return tail;
  }
}
