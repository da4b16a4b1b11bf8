/** References of runs to shared data of the account: bodies and envelopes live while they are held. */
import type { MessageId } from '../../../../kernel/index.js';
import type { SharedEnvelope } from '../messages/envelopes.js';
import type { BodyRef, CarriedBody, Envelope } from '../records.js';
import type { EventWaiter, Invoker, ResultDelivery, RunEntry, StepMark, StoredEvent } from '../run-records.js';
import type { Run, Waiting } from './run.js';

/** Memory of the parts of a run without texts, bodies and messages; measured as in `held.ts`. */
const RUN_MEMORY_BYTES = 750;
const ENTRY_MEMORY_BYTES = 300;
const WAITER_MEMORY_BYTES = 500;
const EVENT_MEMORY_BYTES = 350;
/** A call or a child run. */
const ASKED_MEMORY_BYTES = 160;

export interface RunHolds {
  holdBody(body: BodyRef): void;
  /** Also stores the content if the event carries it. */
  takeBody(body: CarriedBody): void;
  /** Stores the content of a body that is held already. */
  storeBody(body: CarriedBody): void;
  dropBody(body: BodyRef): void;
  holdEnvelope(envelope: Envelope): SharedEnvelope;
  dropEnvelope(shared: SharedEnvelope): void;
  /** @param envelope of a held `SharedEnvelope` */
  dropEnvelopeOf(envelope: Envelope): void;
  /** The time until a delayed message is due; 0: the message is not delayed. */
  restsForMs(message: MessageId): number;
  /** The body will not be sent for a long time. */
  restBody(body: BodyRef): void;
  /** Adds to the bytes kept in the state itself. */
  weigh(bytes: number): void;
}

export function appendHeld(run: Run, entry: RunEntry, holds: RunHolds): void {
  run.append(entry);
  run.bytes += entry.body.bytes;
  holds.holdBody(entry.body);
  weigh(run, ENTRY_MEMORY_BYTES + nameBytes(entry.step), holds);
}

export function weighRun(run: Run, holds: RunHolds): void {
  const { id, invoker } = run;
  const ofInvoker = invoker === undefined ? 0 : invoker.url.length + invoker.stepText.length + nameBytes(invoker.step);
  weigh(run, RUN_MEMORY_BYTES + id.length + ofInvoker, holds);
}

export function weighAsked(run: Run, holds: RunHolds): void {
  weigh(run, ASKED_MEMORY_BYTES, holds);
}

/** @param sign -1 when the waiter is removed */
export function weighWaiting({ run, bytes }: Waiting, sign: 1 | -1, holds: RunHolds): void {
  weigh(run, sign * (WAITER_MEMORY_BYTES + bytes), holds);
}

export function weighEvent(run: Run, { eventId, content }: StoredEvent, sign: 1 | -1, holds: RunHolds): void {
  weigh(run, sign * (EVENT_MEMORY_BYTES + eventId.length + content.byteLength), holds);
}

function weigh(run: Run, bytes: number, holds: RunHolds): void {
  run.memoryBytes += bytes;
  holds.weigh(bytes);
}

function nameBytes(step: StepMark | undefined): number {
  return (step?.stepName.length ?? 0) + (step?.stepType.length ?? 0);
}

/** Releases the list of entries and the envelope at the end of a run. */
export function releaseRun(run: Run, holds: RunHolds): void {
  for (const { body } of run.entries) holds.dropBody(body);
  weigh(run, -run.memoryBytes, holds);
  holds.dropEnvelope(run.shared);
}

/** The waiter with shared, held envelopes. */
export function heldWaiter(waiter: EventWaiter, holds: RunHolds): EventWaiter {
  const { onNotify, onTimeout } = waiter;
  return { ...waiter, onNotify: heldDelivery(onNotify, holds), onTimeout: heldDelivery(onTimeout, holds) };
}

export function heldInvoker(invoker: Invoker | undefined, holds: RunHolds): Invoker | undefined {
  return invoker && { ...invoker, delivery: heldDelivery(invoker.delivery, holds) };
}

function heldDelivery(delivery: ResultDelivery, holds: RunHolds): ResultDelivery {
  return { ...delivery, envelope: holds.holdEnvelope(delivery.envelope).envelope };
}
