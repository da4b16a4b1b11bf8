/**
 * Runs that sleep, each as one text of bytes instead of an object with a dozen others: a hundred thousand of them take
 * a quarter of the memory, and a collection of garbage has nothing to follow in them.
 *
 *  SLR1 a run may sleep while one message is all that is open of it, and that message is a step that waits for later
 *  SLR2 a sleeping run is the same run: whoever is to change it wakes it, whoever looks has a copy. Nothing that is
 *      decided, counted or stored follows from which runs sleep
 */
import type { MessageId, RunId } from '../../../kernel/index.js';
import { decoded, encoded, listOf, record, type TypeOf, text, tuple, whole } from '../../../kernel/schema/index.js';
import { RestingEnvelopes } from '../messages/resting-envelopes.js';
import { messageId } from '../records.js';
import { type RunEntry, type RunPart, runEntry, runId } from './records.js';
import { Run } from './run.js';

/** The bytes of `sleeping`, a character each. */
export type SleepingRun = string;

/** What is read and written for it takes some microseconds; a run with more entries stays as it is. */
const MAX_ENTRIES = 64;

const sleeping = record({
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

export class SleepingRuns {
  readonly #envelopes = new RestingEnvelopes();

  /** @returns undefined: it is not one that may */
  putToSleep(run: Run, open: MessageId): SleepingRun | undefined {
    const { id: _, createdAtMs, shared, payloadHash, memoryBytes, entries, invokes, calls } = run;
    if (entries.length > MAX_ENTRIES) return undefined;
    const at = entries.findIndex((entry) => entry.messageId === open);
    if (at === -1) return undefined;
    const bytes = encoded(sleeping, {
      createdAtMs,
      envelope: this.#envelopes.hold(shared),
      payloadHash,
      memoryBytes,
      entries,
      open: at,
      invokes: Array.from(invokes, ([stepId, { child, messageId: id }]) => [stepId, child, id] as const),
      calls: [...calls],
    });
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  }

  /** It is an object from now on, and not here. */
  wake(id: RunId, packed: SleepingRun): Run {
    const run = this.look(id, packed);
    this.#envelopes.release(run.shared);
    return run;
  }

  /** SLR2: a copy. */
  look(id: RunId, packed: SleepingRun): Run {
    const read = unpacked(packed);
    const { createdAtMs, payloadHash, memoryBytes, entries, open, invokes, calls } = read;
    const run = new Run(id, createdAtMs, this.#envelopes.at(read.envelope), undefined, payloadHash);
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
}

/** SLR1: what its open message is to it. */
export function openPartOf(run: Run): RunPart {
  const [open] = run.open;
  const index = run.entries.findIndex(({ messageId: id }) => id === open);
  return { role: 'step', runId: run.id, runCreatedAtMs: run.createdAtMs, index, step: run.entries[index]?.step };
}

function unpacked(packed: SleepingRun): TypeOf<typeof sleeping> {
  return decoded(sleeping, Buffer.from(packed, 'latin1'), 'a sleeping run', 'DEFECT');
}
