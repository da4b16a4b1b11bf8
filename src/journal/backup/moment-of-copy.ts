/**
 * The state of a continuous copy at a moment, as the manifest of a backup: the full backup of a folder with the ranges of later
 * rounds. Verifying and restoring then read it as any other backup.
 *
 *  MOC1 without a moment: the end of the newest round
 *  MOC2 at a moment: of each journal every entry with a clock up to it, as `millrace journal replay --at` has them; of intakes
 *      the messages that were stored up to it; of the meter's log the records up to the end of that round, because the control
 *      state may have counted them
 */
import { EntryAssembler } from '../../codec/envelope/index.js';
import { MillraceError, type ShardName } from '../../kernel/index.js';
import type { BackupFiles, FileRef } from '../../ports/index.js';
import {
  type BackupHead,
  type BackupManifest,
  headToJson,
  type JournalBackup,
  type LogBackup,
} from './backup-manifest.js';
import { readMessages } from './copy-log.js';
import type { CopiedRange, RoundManifest } from './round-manifest.js';

/** @param rounds  in the order of their times. @throws JOURNAL_DAMAGED when messages are missing */
export async function manifestAt(
  files: BackupFiles,
  base: BackupManifest,
  rounds: readonly RoundManifest[],
  atMs: number | undefined,
): Promise<BackupManifest> {
  const last = rounds.at(-1);
  if (last === undefined) return base;
  return new MomentOfCopy(files, base, rounds, last, atMs).manifest();
}

class MomentOfCopy {
  readonly #ranges = new Map<ShardName, CopiedRange[]>();

  constructor(
    private readonly files: BackupFiles,
    private readonly base: BackupManifest,
    rounds: readonly RoundManifest[],
    private readonly last: RoundManifest,
    private readonly atMs: number | undefined,
  ) {
    this.formats = [base, ...rounds].map(({ format }) => format);
    const meters = rounds.find(({ asOfMs }) => atMs === undefined || asOfMs >= atMs) ?? last;
    this.meterEnd = (atMs === undefined ? last : meters).ends[base.meter.shard] ?? base.meter.to;
    for (const range of rounds.flatMap(({ ranges }) => ranges)) {
      const known = this.#ranges.get(range.shard);
      if (known === undefined) this.#ranges.set(range.shard, [range]);
      else known.push(range);
    }
    for (const ranges of this.#ranges.values()) ranges.sort((a, b) => a.from - b.from || a.to - b.to);
  }

  private readonly formats: readonly number[];
  private readonly meterEnd: number;

  async manifest(): Promise<BackupManifest> {
    const { base, last, atMs } = this;
    const journals: JournalBackup[] = [];
    for (const backup of base.journals) journals.push(await this.#journal(backup));
    const intakes: LogBackup[] = [];
    for (const backup of base.intakes) intakes.push(...(await this.#intake(backup)));
    const format = Math.max(...this.formats);
    const meter = this.#meter(base.meter);
    return { ...base, format, startedAtMs: atMs ?? last.asOfMs, finishedAtMs: last.asOfMs, journals, intakes, meter };
  }

  async #journal(backup: JournalBackup): Promise<JournalBackup> {
    const { shard } = backup;
    const end = this.atMs === undefined ? (this.last.ends[shard] ?? backup.to) : Number.POSITIVE_INFINITY;
    let { to, head } = backup;
    const entries: FileRef[] = [...backup.entries];
    for (const range of this.#after(shard, to, end)) {
      entries.push(...range.files);
      if (range.head !== undefined && range.head.clockMs <= (this.atMs ?? Number.POSITIVE_INFINITY)) {
        to = range.to;
        head = range.head;
        continue;
      }
      head = (await this.#lastEntry(range)) ?? head;
      to = Math.max(to, head.position);
      break;
    }
    if (this.atMs === undefined && to !== end) throw lacking(shard, to + 1);
    return { ...backup, to, head, entries };
  }

  /** The last entry of a range with a clock up to the moment. */
  async #lastEntry({ files, to }: CopiedRange): Promise<BackupHead | undefined> {
    const assembler = new EntryAssembler();
    let found: BackupHead | undefined;
    for await (const { position, bytes } of readMessages(this.files, files)) {
      if (position > to) break;
      const read = assembler.add(position, bytes);
      if (read === undefined) continue;
      const { number, epoch, clockMs } = read.entry;
      if (clockMs > (this.atMs ?? 0)) break;
      found = headToJson({ number, epoch, clockMs, hash: read.hash, position });
    }
    return found;
  }

  /** Each part without a gap by itself: messages in a gap were accepted by the owner of their queue, and removed. */
  async #intake(backup: LogBackup): Promise<LogBackup[]> {
    const parts: LogBackup[] = [backup];
    for (const range of this.#ranges.get(backup.shard) ?? []) {
      const part = parts.at(-1) as LogBackup;
      const to = await this.#lastStored(range);
      if (to <= part.to) continue;
      const isNext = range.from <= part.to + 1;
      const records = isNext ? [...part.records, ...range.files] : range.files;
      const joined = { shard: backup.shard, from: isNext ? part.from : range.from, to, records };
      parts.splice(isNext ? parts.length - 1 : parts.length, 1, joined);
    }
    return parts;
  }

  /** The last position that was stored up to the moment; below the range: none. */
  async #lastStored({ shard, from, to, storedAtMs, files }: CopiedRange): Promise<number> {
    if (this.atMs === undefined) return Math.min(to, this.last.ends[shard] ?? to);
    if (storedAtMs <= this.atMs) return to;
    let found = from - 1;
    for await (const message of readMessages(this.files, files)) {
      if (message.storedAtMs > this.atMs) break;
      found = message.position;
    }
    return found;
  }

  #meter(backup: LogBackup): LogBackup {
    const { shard } = backup;
    const records = [...backup.records];
    let { to } = backup;
    for (const range of this.#after(shard, to, this.meterEnd)) {
      records.push(...range.files);
      to = range.to;
    }
    if (to < this.meterEnd) throw lacking(shard, to + 1);
    return { ...backup, to, records };
  }

  /** Ranges without a gap from `covered` to `end`; a later one may overlap with an earlier one. */
  *#after(shard: ShardName, covered: number, end: number): Iterable<CopiedRange> {
    let reached = covered;
    for (const range of this.#ranges.get(shard) ?? []) {
      if (range.to <= reached || range.to > end) continue;
      if (range.from > reached + 1) throw lacking(shard, reached + 1);
      reached = range.to;
      yield range;
    }
  }
}

function lacking(shard: ShardName, position: number): MillraceError {
  return new MillraceError('JOURNAL_DAMAGED', `${shard}: the copy lacks messages from position ${position} on`, {
    position,
  });
}
