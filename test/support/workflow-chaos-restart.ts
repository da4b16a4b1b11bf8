/** Kills a server and restarts it on its data, on a machine that is busy with other programs. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from './eventually.js';
import { type Environment, signalPid } from './millrace-process.js';
import type { QueueProcess } from './queue-process.js';

/** The wait for read models, which catch up before they answer. */
const CAUGHT_UP_TIMEOUT_MS = 60_000;
/**
 * Few entries per snapshot, so that kills happen during and after snapshots; a long limit for outdated permissions,
 * so that a busy machine does not count as a fault.
 */
export const KILLED_ENVIRONMENT: Environment = {
  MILLRACE_SNAPSHOT_ENTRIES: '150',
  MILLRACE_CONTROL_STALE_MS: '60000',
};
/** The number of output characters that are shown if a server does not restart. */
const TOLD_CHARACTERS = 3000;
const SNAPSHOTTED = /"event":"shard.snapshotted","shard":"QUEUE_/;
const SNAPSHOT_TIMEOUT_MS = 30_000;

/** Waits until the running server has made a snapshot of a queue. @throws if it makes none */
export async function snapshotMade(queue: QueueProcess): Promise<void> {
  const found = (): string[] => queue.millrace.stderr().match(SNAPSHOTTED) ?? [];
  await eventually(() => expect(found(), 'snapshots').to.not.deep.equal([]), { timeoutMs: SNAPSHOT_TIMEOUT_MS });
}

/**
 * Freezes the nats-server while it receives data and then kills it. Data that was acknowledged without being stored
 * is lost.
 */
export async function restartWithJournal(queue: QueueProcess, stoppedMs: number): Promise<void> {
  const server = await queue.millrace.natsPid();
  signalPid(server, 'SIGSTOP');
  // The pause has no condition to wait for: it gives the server time to send answers too early.
  await pause(stoppedMs);
  signalPid(server, 'SIGKILL');
  await restartKilled(queue);
}

/** @throws with the last output of the new server, if it does not start */
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
