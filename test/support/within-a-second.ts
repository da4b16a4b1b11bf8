/**
 * A second of a machine that does nothing else. While something is waited for, its processes are asked whether they live,
 * again and again: what even that waits for, beyond what it takes at rest, is the machine's and does not count.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from './eventually.js';
import type { MillraceProcess } from './millrace-process.js';

const LOOK_EVERY_MS = 10;
/** One look and the pause before it, at rest. */
const AT_REST_MS = 20;

/** @param check throws until what is waited for is so */
export async function withinASecond(
  processes: readonly Pick<MillraceProcess, 'metricsUrl'>[],
  check: () => unknown,
): Promise<void> {
  const waiting = () => eventually(async () => void (await check()), { everyMs: LOOK_EVERY_MS });
  const tookMs = await unhinderedMs(processes, waiting);
  expect(tookMs, 'milliseconds, without those that the machine took').to.be.below(1000);
}

/** How long the action takes, without what the machine took meanwhile. */
export async function unhinderedMs(
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
