/**
 * Runs that sleep, each as a piece of bytes outside of the heap instead of an object with a dozen others: a hundred
 * thousand of them take a sixth of the memory, and a collection of garbage does not look at them.
 *
 *  SLR1 a run may sleep while one message is all that is open of it, and that message is a step that waits for later
 *  SLR2 a sleeping run is the same run: whoever is to change it wakes it, whoever looks has a copy. Nothing that is
 *      decided, counted or stored follows from which runs sleep
 */
import type { MessageId, RunId } from '../../../kernel/index.js';
import { decoded, encoded, listOf, record, type TypeOf, text, tuple, whole } from '../../../kernel/schema/index.js';
import { ByteChains } from '../collections/byte-chains.js';
import { RecordIndex } from '../collections/record-index.js';
import { hashOfText } from '../collections/text-hash.js';
import { RestingEnvelopes } from '../messages/resting-envelopes.js';
import { messageId } from '../records.js';
import { type RunEntry, type RunPart, runEntry, runId } from './records.js';
import { Run } from './run.js';

/** What is read and written for it takes some microseconds; a run with more entries stays as it is. */
const MAX_ENTRIES = 64;

const sleeping = record({
  id: runId,
  createdAtMs: whole,
  /** By number. */
  envelope: whole,
  payloadHash: text(),
  memoryBytes: whole,
  entries: listOf(runEntry),
  /** The entry that the open message delivers. */
  open: whole,
  invokes: listOf(tuple(whole, runId, messageId)),
  calls: listOf(tuple(whole, messageId)),
});
type Sleeping = TypeOf<typeof sleeping>;

export class SleepingRuns {
  readonly #envelopes = new RestingEnvelopes();
  readonly #texts = new ByteChains();
  /** By the run's id, and by that of its open message. */
  readonly #byRun = new RecordIndex((slot) => this.#isSought(slot, ({ id }) => id));
  readonly #byMessage = new RecordIndex((slot) => this.#isSought(slot, openOf));
  #sought = '';
  /** The last one that was sought and found. */
  #found: Sleeping | undefined;

  get size(): number {
    return this.#texts.size;
  }

  has(id: RunId): boolean {
    return this.#find(this.#byRun, id) !== -1;
  }

  /** @returns false: it is not one that may */
  putToSleep(run: Run, open: MessageId): boolean {
    const { id, createdAtMs, shared, payloadHash, memoryBytes, entries, invokes, calls } = run;
    if (entries.length > MAX_ENTRIES) return false;
    const at = entries.findIndex((entry) => entry.messageId === open);
    if (at === -1) return false;
    const hash = hashOfText(id);
    // Ids may be chosen for their hashes: of two with the same one stays awake, and nobody looks through many.
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
    this.#byMessage.add(hashOfText(open), slot);
    return true;
  }

  /** It is an object from now on, and not here. */
  wake(id: RunId): Run | undefined {
    return this.#taken(this.#find(this.#byRun, id));
  }

  /** Whose open message it is. */
  wakeOf(message: MessageId): Run | undefined {
    return this.#taken(this.#find(this.#byMessage, message));
  }

  /** SLR2: a copy. */
  look(id: RunId): Run | undefined {
    return this.#find(this.#byRun, id) === -1 ? undefined : this.#runOf(this.#found as Sleeping);
  }

  lookOf(message: MessageId): Run | undefined {
    return this.#find(this.#byMessage, message) === -1 ? undefined : this.#runOf(this.#found as Sleeping);
  }

  /** Copies. Sees what sleeps all the time; may or may not see what falls asleep or wakes meanwhile. */
  *all(): IterableIterator<Run> {
    for (const slot of this.#texts.pieces()) yield this.#runOf(this.#read(slot));
  }

  #find(index: RecordIndex, sought: string): number {
    if (this.size === 0) return -1;
    this.#sought = sought;
    return index.find(hashOfText(sought));
  }

  #isSought(slot: number, idOf: (read: Sleeping) => string): boolean {
    this.#found = this.#read(slot);
    return idOf(this.#found) === this.#sought;
  }

  #taken(slot: number): Run | undefined {
    if (slot === -1) return undefined;
    const found = this.#found as Sleeping;
    const run = this.#runOf(found);
    this.#byRun.delete(hashOfText(found.id), slot);
    this.#byMessage.delete(hashOfText(openOf(found)), slot);
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

/** SLR1: what its open message is to it. */
export function openPartOf(run: Run): RunPart {
  const [open] = run.open;
  const index = run.entries.findIndex(({ messageId: id }) => id === open);
  return { role: 'step', runId: run.id, runCreatedAtMs: run.createdAtMs, index, step: run.entries[index]?.step };
}
