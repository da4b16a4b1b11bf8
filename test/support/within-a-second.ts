/**
 * A time limit of a second that allows for a busy machine. During a wait the liveness of the processes is polled. The
 * time of such a poll beyond its normal time is caused by the machine and does not count.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from './eventually.js';
import type { MillraceProcess } from './millrace-process.js';

const LOOK_EVERY_MS = 10;
/** The normal time of one poll and its pause. */
const AT_REST_MS = 20;

/** @param check throws until the condition holds */
export async function withinASecond(
  processes: readonly Pick<MillraceProcess, 'metricsUrl'>[],
  check: () => unknown,
): Promise<void> {
  const waiting = () => eventually(async () => void (await check()), { everyMs: LOOK_EVERY_MS });
  const tookMs = await runningMs(processes, waiting);
  expect(tookMs, 'milliseconds, without delays caused by the machine').to.be.below(1000);
}

/** The duration of the action, without the delays caused by the machine. */
export async function runningMs(
  processes: readonly Pick<MillraceProcess, 'metricsUrl'>[],
  action: () => Promise<unknown>,
): Promise<number> {
  const startedAtMs = performance.now();
  let isOver = false;
  let hinderedMs = 0;
  const look = async () => {
    while (!isOver) {
      const lookedAtMs = performance.now();
      await pause(LOOK_EVERY_MS);
      await Promise.all(processes.map(async ({ metricsUrl }) => (await fetch(`${metricsUrl}/livez`)).text()));
      hinderedMs += Math.max(0, performance.now() - lookedAtMs - AT_REST_MS);
    }
  };
  const looking = look();
  await action().finally(() => {
    isOver = true;
  });
  const tookMs = performance.now() - startedAtMs;
  await looking;
  return tookMs - hinderedMs;
}
