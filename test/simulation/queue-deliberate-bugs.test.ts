/** Promises of the queue. Each test breaks one on purpose at a public method or in a row of a table. */

import { AccountQueue, type StartedAttempt } from '../../src/actors/queue/account-queue.js';
import { Performer, QueuePlane } from '../../src/actors/queue/index.js';
import type { QueuePlanePorts } from '../../src/actors/queue/queue-plane.js';
import { Dispatcher } from '../../src/domain/queue/delivery/dispatcher.js';
import { type AccountTerms, QUEUE_COMMANDS } from '../../src/domain/queue/index.js';
import type { QueueTurn } from '../../src/domain/queue/messages/turn.js';
import { AcceptedIds } from '../../src/domain/queue/model/messages/accepted-ids.js';
import { ACTIVE } from '../../src/domain/queue/model/messages/message.js';
import { Run } from '../../src/domain/queue/model/runs/run.js';
import { OrderedQueues } from '../../src/domain/queue/model/state/ordered-queues.js';
import { QueueState } from '../../src/domain/queue/model/state/queue-state.js';
import { insideOf, patched, type TakeOff } from '../support/patched.js';
import { runQueueSeed } from './queue-run-seeds.js';
import { type DeliberateBug, turnsRed } from './turns-red.js';

/** Each is found within a few seeds; a bound far above that leaves room for changes of the workload. */
const MAX_SEEDS = 60;

const DELIBERATE_BUGS: Record<string, DeliberateBug> = {
  /** A call is made while its start is on its way to the journal. */
  'call-before-entry': callsBeforeEntry,

  /** An attempt that is made again after a crash is not counted. */
  'restart-not-counted': () => [
    patched(QueueState.prototype, 'evolve', (evolve, event) => {
      // The same object is recorded next.
      if (event.type === 'AttemptStarted' && event.restarts > 0) Object.assign(event, { restarts: event.restarts - 1 });
      evolve(event);
    }),
  ],

  /** The last event of a turn goes into the next entry: an outcome parts from the DLQ entry that follows from it. */
  'turn-in-two-entries': lastEventsComeLater,

  /** A message that was accepted is accepted again. */
  'forget-accepted-ids': () => [patched(AcceptedIds.prototype, 'has', () => false)],

  /** A successor does not look for messages that are not due yet. */
  'timers-in-memory': () => [
    patched(Dispatcher.prototype, 'place', function (place, message) {
      if (message.status === ACTIVE || message.dueAtMs <= this.nowMs) place(message);
    }),
  ],

  /** An owner that has ended goes on with its calls. */
  'calls-outlive-their-owner': () => [patched(Performer.prototype, 'end', () => {})],

  /** A place in a queue becomes free while callbacks of its message are under way. */
  'place-freed-early': () => [patched(OrderedQueues.prototype, 'addCallback', () => {})],

  /** A step's record is appended although the run has it. */
  'step-appended-twice': () => [patched(Run.prototype, 'entryOf', () => undefined)],

  /** A step goes on waiting after it was notified: its deadline ends it once more. */
  'wait-outlives-its-notify': () => [
    patched(QUEUE_COMMANDS.Notify, 'decide', (decide, command, turn) => {
      const evolve: QueueTurn['evolve'] = (event) => event.type === 'WaiterRemoved' || turn.evolve(event);
      return decide(command, Object.create(turn, { evolve: { value: evolve } }));
    }),
  ],
};

function callsBeforeEntry(): TakeOff[] {
  let started: [AccountQueue, StartedAttempt][] = [];
  return [
    patched(AccountQueue.prototype, 'addStarted', function (_, attempt) {
      started.push([this, attempt]);
    }),
    patched(QueuePlane.prototype, 'tick', function (tick, turn) {
      tick(turn);
      const { performer } = insideOf<{ ports: QueuePlanePorts }>(this).ports;
      for (const [queue, attempt] of started) performer.perform(queue, queue.terms as AccountTerms, attempt);
      started = [];
    }),
  ];
}

function lastEventsComeLater(): TakeOff[] {
  const last = new WeakMap<AccountQueue, Uint8Array | 'goes first'>();
  return [
    patched(AccountQueue.prototype, 'add', function (add, effects) {
      const before = last.get(this);
      last.set(this, before === undefined ? 'goes first' : effects);
      if (before === undefined) add(effects);
      else if (before !== 'goes first') add(before);
    }),
    patched(AccountQueue.prototype, 'seal', function (seal) {
      const sealed = seal();
      const left = last.get(this);
      last.delete(this);
      if (left instanceof Uint8Array) this.add(left);
      return sealed;
    }),
  ];
}

describe('queue simulation: deliberate bugs', () => {
  turnsRed(DELIBERATE_BUGS, MAX_SEEDS, runQueueSeed);
});
