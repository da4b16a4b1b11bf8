/**
 * Writes the audit log of all accounts to files of days, from the control journal, while this process owns the control shard.
 *
 *  AFW1 each note is one line, in order, once: the last line has the position from which an owner continues
 *  AFW2 a failed write, as on a full disk, is repeated until it succeeds; it is logged and measured, and no note is skipped
 *  AFW3 a last line that the journal does not confirm stops the writing: the files are of another journal
 *  AFW4 notes that the journal no longer has are reported with their number
 */
import { type AuditEntry, auditLine, auditNumberIn } from '../../domain/control/index.js';
import { type FollowingReader, followLog } from '../../journal/index.js';
import { describeError, MillraceError } from '../../kernel/index.js';
import type { AuditFiles, AuditWatch, Clock, Journal, Log, Metrics, Timer, Timers } from '../../ports/index.js';
import { CONTROL_SHARD } from '../../protocol/index.js';
import { MAX_QUEUED_BYTES, NoteFeed, notesAt, type PlacedNote } from './audit-notes.js';

export interface AuditFileWriterPorts {
  readonly journal: Pick<Journal, 'follow' | 'tail' | 'readAt'>;
  readonly files: AuditFiles;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'gauge'>;
  /** True when this process owns the control shard. */
  isOwner(): boolean;
}

const LOOK_EVERY_MS = 1_000;
const RETRY_MS = 1_000;

/** The place of the last line. */
interface Written {
  readonly day: string;
  readonly number: number;
  readonly position: number;
}

export class AuditFileWriter implements AuditWatch {
  #timer: Timer | undefined;
  #gauge: { stop(): void } | undefined;
  #running: AbortController | undefined;
  #over: Promise<void> = Promise.resolve();
  #written: Written | undefined;
  /** The time of the oldest note that is read and not written. */
  #waitingSinceMs: number | undefined;
  #failure: string | undefined;
  #failedSinceMs = 0;

  constructor(private readonly ports: AuditFileWriterPorts) {}

  start(): void {
    const { metrics, timers } = this.ports;
    const lagSeconds = () => (this.ports.isOwner() ? this.#lagMs / 1000 : undefined);
    this.#gauge = metrics.gauge('millrace_audit_export_lag_seconds', lagSeconds, 'files');
    this.#timer = timers.every(LOOK_EVERY_MS, () => this.look());
    this.look();
  }

  async stop(): Promise<void> {
    this.#timer?.cancel();
    this.#gauge?.stop();
    this.#running?.abort();
    await this.#over;
  }

  /** Starts or ends the writing. */
  look(): void {
    const isOwner = this.ports.isOwner();
    if (!isOwner) this.#running?.abort();
    if (!isOwner || this.#running !== undefined) return;
    const running = new AbortController();
    this.#running = running;
    this.#over = this.#follow(running.signal).finally(() => {
      this.ports.files.release();
      this.#running = undefined;
      this.#waitingSinceMs = undefined;
      this.#failure = undefined;
    });
  }

  /** Undefined while lines are written, and in a process that does not write them. */
  failure() {
    if (this.#failure === undefined) return undefined;
    return {
      place: this.ports.files.label,
      cause: this.#failure,
      ageMs: this.ports.clock.nowMs() - this.#failedSinceMs,
    };
  }

  get #lagMs(): number {
    const sinceMs = this.#waitingSinceMs ?? (this.#failure === undefined ? undefined : this.#failedSinceMs);
    return sinceMs === undefined ? 0 : Math.max(0, this.ports.clock.nowMs() - sinceMs);
  }

  async #follow(stopped: AbortSignal): Promise<void> {
    const { journal, timers } = this.ports;
    let notes = new NoteFeed(timers);
    const reader: FollowingReader = {
      follow: (from, follower) => journal.follow(CONTROL_SHARD, from, follower),
      begin: async (signal) => {
        notes = new NoteFeed(timers);
        return this.#begin(signal);
      },
      take: async (batch, signal) => this.#write(await notes.notesIn(batch), signal),
      failed: (error) => this.#failed(error),
    };
    await followLog(
      timers,
      reader,
      { shard: CONTROL_SHARD, maxQueuedBytes: MAX_QUEUED_BYTES, retryMs: RETRY_MS },
      stopped,
    );
  }

  /** @returns the position up to which all notes are written */
  async #begin(signal: AbortSignal): Promise<number> {
    const { journal, files, timers } = this.ports;
    const newest = await files.newest();
    this.#written = newest && writtenIn(newest.day, newest.text, files.label);
    const { first, last } = await journal.tail(CONTROL_SHARD);
    if (this.#written === undefined || this.#written.position < first) {
      if (this.#waitingSinceMs === undefined) this.#continues();
      return first - 1;
    }
    const { position, number } = this.#written;
    const notes = position > last ? [] : await notesAt(journal, timers, position);
    if (notes?.some(({ note }) => note.number === number) === false) throw ofAnotherJournal(files.label, number);
    await this.#write(notes ?? [], signal);
    if (this.#waitingSinceMs === undefined) this.#continues();
    return position;
  }

  async #write(notes: readonly PlacedNote[], signal: AbortSignal): Promise<void> {
    const { files } = this.ports;
    const last = this.#written?.number ?? 0;
    const missing = notes.filter(({ note }) => note.number > last);
    const [first] = missing;
    if (first === undefined) return;
    this.#waitingSinceMs ??= first.note.atMs;
    for (const [day, some] of byDay(missing, this.#written?.day ?? '')) {
      // A process that is no longer the owner leaves the rest to the next one.
      if (!this.ports.isOwner()) this.#running?.abort();
      if (signal.aborted) return;
      const lines = some.map(({ note, position }) => lineOf(note, position));
      await files.append(day, lines.join(''));
      const end = some.at(-1) as PlacedNote;
      this.#reportGap(some);
      this.#written = { day, number: end.note.number, position: end.position };
    }
    this.#waitingSinceMs = undefined;
    this.#continues();
  }

  /** AFW4 */
  #reportGap([first]: readonly PlacedNote[]): void {
    const before = this.#written?.number;
    if (first === undefined || before === undefined || first.note.number === before + 1) return;
    this.ports.log.error('audit-files.gap', { place: this.ports.files.label, after: before, next: first.note.number });
  }

  #continues(): void {
    if (this.#failure !== undefined) this.ports.log.info('audit-files.continues', { place: this.ports.files.label });
    this.#failure = undefined;
  }

  #failed(error: unknown): boolean {
    const cause = describeError(error);
    const { clock, files, log } = this.ports;
    if (this.#failure === undefined) this.#failedSinceMs = clock.nowMs();
    if (this.#failure !== cause) log.error('audit-files.not-written', { place: files.label, cause });
    this.#failure = cause;
    return true;
  }
}

function lineOf(note: AuditEntry, position: number): string {
  return `${JSON.stringify({ ...auditLine(note), account: note.account, position })}\n`;
}

/** @throws INVALID for a text that is no line of these files */
function writtenIn(day: string, text: string, place: string): Written {
  let line: { readonly log_id?: unknown; readonly position?: unknown } | undefined;
  try {
    line = JSON.parse(text);
  } catch {
    line = undefined;
  }
  const number = auditNumberIn(line?.log_id);
  const position = line?.position;
  if (number === undefined || typeof position !== 'number' || !Number.isSafeInteger(position)) {
    throw new MillraceError('INVALID', `${place}: the last line of ${day} is not a line of the audit log`);
  }
  return { day, number, position };
}

/** Days never go back, so that the newest file has the last line. */
function* byDay(notes: readonly PlacedNote[], notBefore: string): Iterable<readonly [string, readonly PlacedNote[]]> {
  let [day, some]: [string, PlacedNote[]] = [notBefore, []];
  for (const placed of notes) {
    const own = new Date(placed.note.atMs).toISOString().slice(0, 10);
    if (own > day) {
      if (some.length > 0) yield [day, some];
      [day, some] = [own, []];
    }
    some.push(placed);
  }
  if (some.length > 0) yield [day, some];
}

function ofAnotherJournal(place: string, number: number): MillraceError {
  const text = `${place}: the journal does not have note ${number}, the last line: the files are of another installation, or newer than a restored one; name another directory`;
  return new MillraceError('INVALID', text);
}
