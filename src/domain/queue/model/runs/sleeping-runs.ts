/**
 * Sleeping runs, each encoded as bytes outside the JavaScript heap instead of about a dozen objects. A hundred
 * thousand of them take a sixth of the memory, and the garbage collector does not scan them.
 *
 *  SLR1 a run may sleep while its only open message is a step that waits for a later time
 *  SLR2 sleeping does not change a run: a change wakes it, and reads return a copy. No decision, count or stored byte
 *       depends on which runs sleep
 */
import type { MessageId, RunId } from '../../../../kernel/index.js';
import { decoded, encoded, listOf, record, type TypeOf, text, tuple, whole } from '../../../../kernel/schema/index.js';
import { hashKey, RecordIndex } from '../../../collections/index.js';
import { ByteChains } from '../../collections/byte-chains.js';
import { NumberedEnvelopes } from '../messages/numbered-envelopes.js';
import { messageId } from '../records.js';
import { type RunEntry, type RunPart, runEntry, runId } from '../run-records.js';
import { Run } from './run.js';

/** Encoding and decoding take some microseconds; a run with more entries stays awake. */
const MAX_ENTRIES = 64;

const sleeping = record({
  id: runId,
  createdAtMs: whole,
  /** The envelope's number in `NumberedEnvelopes`. */
  envelope: whole,
  payloadHash: text(),
  memoryBytes: whole,
  entries: listOf(runEntry),
  /** The index of the entry that the open message delivers. */
  open: whole,
  invokes: listOf(tuple(whole, runId, messageId)),
  calls: listOf(tuple(whole, messageId)),
});
type Sleeping = TypeOf<typeof sleeping>;

export class SleepingRuns {
  readonly #envelopes = new NumberedEnvelopes();
  readonly #texts = new ByteChains();
  /** Indexes by run id and by the id of the open message. */
  readonly #byRun = new RecordIndex((slot) => this.#isSought(slot, ({ id }) => id));
  readonly #byMessage = new RecordIndex((slot) => this.#isSought(slot, openOf));
  #sought = '';
  /** The run that the last search found. */
  #found: Sleeping | undefined;

  get size(): number {
    return this.#texts.size;
  }

  has(id: RunId): boolean {
    return this.#find(this.#byRun, id) !== -1;
  }

  /** @returns false if the run has too many entries or the wrong open message */
  putToSleep(run: Run, open: MessageId): boolean {
    const { id, createdAtMs, shared, payloadHash, memoryBytes, entries, invokes, calls } = run;
    if (entries.length > MAX_ENTRIES) return false;
    const at = entries.findIndex((entry) => entry.messageId === open);
    if (at === -1) return false;
    const hash = hashKey(id);
    // A client may choose ids with equal hashes: only one of them sleeps, so that no search compares many.
    if (this.#byRun.has(hash)) return false;
    const slot = this.#texts.add(
      encoded(sleeping, {
        id,
        createdAtMs,
        envelope: this.#envelopes.hold(shared),
        payloadHash,
        memoryBytes,
        entries,
        open: at,
        invokes: Array.from(invokes, ([stepId, { child, messageId: asked }]) => [stepId, child, asked] as const),
        calls: [...calls],
      }),
    );
    this.#byRun.add(hash, slot);
    this.#byMessage.add(hashKey(open), slot);
    return true;
  }

  /** Converts the run to an object and removes the bytes. */
  wake(id: RunId): Run | undefined {
    return this.#taken(this.#find(this.#byRun, id));
  }

  /** Wakes the run of an open message. */
  wakeOf(message: MessageId): Run | undefined {
    return this.#taken(this.#find(this.#byMessage, message));
  }

  /** SLR2 (reads return a copy). */
  look(id: RunId): Run | undefined {
    return this.#find(this.#byRun, id) === -1 ? undefined : this.#runOf(this.#found as Sleeping);
  }

  lookOf(message: MessageId): Run | undefined {
    return this.#find(this.#byMessage, message) === -1 ? undefined : this.#runOf(this.#found as Sleeping);
  }

  /** Copies. Runs that fall asleep or wake during the iteration may or may not be seen. */
  *all(): IterableIterator<Run> {
    for (const slot of this.#texts.pieces()) yield this.#runOf(this.#read(slot));
  }

  #find(index: RecordIndex, sought: string): number {
    if (this.size === 0) return -1;
    this.#sought = sought;
    return index.find(hashKey(sought));
  }

  #isSought(slot: number, idOf: (read: Sleeping) => string): boolean {
    this.#found = this.#read(slot);
    return idOf(this.#found) === this.#sought;
  }

  #taken(slot: number): Run | undefined {
    if (slot === -1) return undefined;
    const found = this.#found as Sleeping;
    const run = this.#runOf(found);
    this.#byRun.delete(hashKey(found.id), slot);
    this.#byMessage.delete(hashKey(openOf(found)), slot);
    this.#texts.remove(slot);
    this.#envelopes.release(run.shared);
    return run;
  }

  #runOf({ id, createdAtMs, envelope, payloadHash, memoryBytes, entries, open, invokes, calls }: Sleeping): Run {
    const run = new Run(id, createdAtMs, this.#envelopes.at(envelope), undefined, payloadHash);
    for (const entry of entries) {
      run.append(entry);
      run.bytes += entry.body.bytes;
    }
    run.memoryBytes = memoryBytes;
    run.opened((entries[open] as RunEntry).messageId);
    for (const [stepId, child, message] of invokes) run.addInvoke(stepId, { child, messageId: message });
    for (const [stepId, message] of calls) run.addCall(stepId, message);
    return run;
  }

  #read(slot: number): Sleeping {
    return decoded(sleeping, this.#texts.read(slot), 'a sleeping run', 'DEFECT');
  }
}

function openOf({ entries, open }: Sleeping): MessageId {
  return (entries[open] as RunEntry).messageId;
}

/** The role of the open message of a sleeping run: SLR1 (it is a step that waits for a later time). */
export function openPartOf(run: Run): RunPart {
  const [open] = run.open;
  const index = run.entries.findIndex(({ messageId: id }) => id === open);
  return { role: 'step', runId: run.id, runCreatedAtMs: run.createdAtMs, index, step: run.entries[index]?.step };
}
