/** What runs have in common with the rest of the account: bodies and envelopes, there for as long as they are held. */
import type { SharedEnvelope } from '../queue/envelopes.js';
import type { CarriedBody } from '../queue/events.js';
import type { Envelope } from '../queue/records.js';
import type { Invoker, ResultDelivery, RunEntry, Waiter } from './records.js';
import type { Run } from './run.js';

export interface RunHolds {
  holdBody(number: number): void;
  /** And stores its content, if it comes with it. */
  takeBody(body: CarriedBody): void;
  dropBody(number: number): void;
  holdEnvelope(envelope: Envelope): SharedEnvelope;
  dropEnvelope(shared: SharedEnvelope): void;
  /** @param envelope of a `SharedEnvelope` that is held */
  dropEnvelopeOf(envelope: Envelope): void;
}

export function appendHeld(run: Run, entry: RunEntry, holds: RunHolds): void {
  run.entries.push(entry);
  run.bytes += entry.body.bytes;
  holds.holdBody(entry.body.number);
}

/** What a run holds to its last: its list, and its envelope. */
export function releaseRun(run: Run, holds: RunHolds): void {
  for (const { body } of run.entries) holds.dropBody(body.number);
  holds.dropEnvelope(run.shared);
}

/** With envelopes that all alike have in common, held. */
export function heldWaiter(waiter: Waiter, holds: RunHolds): Waiter {
  const { onNotify, onTimeout } = waiter;
  return { ...waiter, onNotify: heldDelivery(onNotify, holds), onTimeout: heldDelivery(onTimeout, holds) };
}

export function heldInvoker(invoker: Invoker | undefined, holds: RunHolds): Invoker | undefined {
  return invoker && { ...invoker, delivery: heldDelivery(invoker.delivery, holds) };
}

function heldDelivery(delivery: ResultDelivery, holds: RunHolds): ResultDelivery {
  return { ...delivery, envelope: holds.holdEnvelope(delivery.envelope).envelope };
}
