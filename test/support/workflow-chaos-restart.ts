/** Kills a server at once and starts it again on what it left, on a machine that does much else. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from './eventually.js';
import { type Environment, signalPid } from './millrace-process.js';
import type { QueueProcess } from './queue-process.js';

/** Read models catch up before they answer. */
const CAUGHT_UP_TIMEOUT_MS = 60_000;
/** Small, so that snapshots are made, and are half made, while servers are killed; and a busy machine is no fault. */
export const KILLED_ENVIRONMENT: Environment = {
  MILLRACE_SNAPSHOT_ENTRIES: '150',
  MILLRACE_CONTROL_STALE_MS: '60000',
};
/** Of a server that does not come back. */
const TOLD_CHARACTERS = 3000;
const SNAPSHOTTED = /"event":"shard.snapshotted","shard":"QUEUE_/;
const SNAPSHOT_TIMEOUT_MS = 30_000;

/** Once the server that runs now has made a snapshot of a queue. @throws when it makes none */
export async function snapshotMade(queue: QueueProcess): Promise<void> {
  const found = (): string[] => queue.millrace.stderr().match(SNAPSHOTTED) ?? [];
  await eventually(() => expect(found(), 'snapshots').to.not.deep.equal([]), { timeoutMs: SNAPSHOT_TIMEOUT_MS });
}

/**
 * The journal's server stops first, in the middle of what it is sent, and dies of it: what was answered meanwhile, and
 * was not stored before, is lost.
 */
export async function restartWithJournal(queue: QueueProcess, stoppedMs: number): Promise<void> {
  const server = await queue.millrace.natsPid();
  signalPid(server, 'SIGSTOP');
  // Nothing that anybody could see ends it: it is for answers that leave too early.
  await pause(stoppedMs);
  signalPid(server, 'SIGKILL');
  await restartKilled(queue);
}

/** @throws with the last that the new server said, when it does not come back */
export async function restartKilled(queue: QueueProcess): Promise<void> {
  await queue.restart('SIGKILL').catch((cause: Error) =>
    eventually(
      async () => {
        const { status } = await queue.get('/v2/events');
        const told = queue.millrace.stderr().slice(-TOLD_CHARACTERS);
        expect(status, `${cause.message}\n${told}`).to.equal(200);
      },
      { timeoutMs: CAUGHT_UP_TIMEOUT_MS, everyMs: 200 },
    ),
  );
}
