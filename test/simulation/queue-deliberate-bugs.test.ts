/**
 * Tests that the simulation detects bugs of the queue. Each test breaks one promise deliberately, at a public method
 * or in a row of a table.
 */

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
import { type DeliberateBug, failsWithBugs } from './fails-with-bugs.js';
import { runQueueSeed } from './queue-run-seeds.js';

/** Each bug is found within a few seeds. The much higher limit allows for changes of the workload. */
const MAX_SEEDS = 60;

const DELIBERATE_BUGS: Record<string, DeliberateBug> = {
  /** A call starts before its journal entry is stored. */
  'call-before-entry': callsBeforeEntry,

  /** A repeated attempt after a crash is not counted. */
  'restart-not-counted': () => [
    patched(QueueState.prototype, 'evolve', (evolve, event) => {
      // The changed object is then recorded.
      if (event.type === 'AttemptStarted' && event.restarts > 0) Object.assign(event, { restarts: event.restarts - 1 });
      evolve(event);
    }),
  ],

  /** The last event of a turn is stored in the next entry, so that an outcome and its DLQ entry are separated. */
  'turn-in-two-entries': delayedLastEvents,

  /** A message that was already accepted is accepted a second time. */
  'forget-accepted-ids': () => [patched(AcceptedIds.prototype, 'has', () => false)],

  /** A successor ignores messages that are not due yet. */
  'timers-in-memory': () => [
    patched(Dispatcher.prototype, 'place', function (place, message) {
      if (message.status === ACTIVE || message.dueAtMs <= this.nowMs) place(message);
    }),
  ],

  /** An ended owner continues its calls. */
  'calls-outlive-their-owner': () => [patched(Performer.prototype, 'end', () => {})],

  /** A slot of a queue is freed before the callbacks of its message have ended. */
  'place-freed-early': () => [patched(OrderedQueues.prototype, 'addCallback', () => {})],

  /** A step is appended although the run contains it. */
  'step-appended-twice': () => [patched(Run.prototype, 'entryOf', () => undefined)],

  /** A notified step still waits, so its deadline ends it a second time. */
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

function delayedLastEvents(): TakeOff[] {
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
  failsWithBugs(DELIBERATE_BUGS, MAX_SEEDS, runQueueSeed);
});
