/** The first deliveries of a run that begins with entries of another one. */
import type { MessageId } from '../../../kernel/index.js';
import type { QueueTurn } from '../messages/turn.js';
import { derivedMessageId } from '../model/ids.js';
import type { RunEntry } from '../model/run-records.js';
import type { Run } from '../model/runs/run.js';
import { openEnvelope } from './resumed-envelopes.js';
import { acceptPart, partOf } from './run-parts.js';

/** Indexes of the entries to deliver: FR3 (announced steps without a result, else the last entry). */
export function openEntries(entries: readonly Pick<RunEntry, 'step'>[]): readonly number[] {
  const done = new Set<number>();
  for (const { step } of entries) if (step !== undefined && step.stepId > 0) done.add(step.stepId);
  const announced: number[] = [];
  entries.forEach(({ step }, index) => {
    if (step?.stepId === 0 && !done.has(step.targetStep)) announced.push(index);
  });
  return announced.length > 0 ? announced : [entries.length - 1];
}

interface OpenEntries {
  /** Indexes within `entries`. */
  readonly open: readonly number[];
  readonly entries: readonly RunEntry[];
  /** The id of the first delivery; those of the others are derived from it. */
  readonly firstId: MessageId;
  readonly notBeforeMs: number;
}

export function deliverOpen(run: Run, { open, entries, firstId, notBeforeMs }: OpenEntries, turn: QueueTurn): void {
  open.forEach((index, nth) => {
    const { body, step } = entries[index] as RunEntry;
    const part = { role: 'step', ...partOf(run), index, step } as const;
    const id = nth === 0 ? firstId : derivedMessageId(`${firstId} entry ${index}`);
    acceptPart(
      { id, envelope: openEnvelope(run, index), body: { ...body, content: undefined }, notBeforeMs, part },
      turn,
    );
  });
}
