/**
 * The time since the machine started, from /proc; unknown on systems without it.
 *
 * A container may show a separate uptime that begins with it although the boot id stays the same. The kernel's start
 * time of this process is always right, so the uptime is compared with it once.
 */

import { readFileSync } from 'node:fs';
import module from 'node:module';
import { performance } from 'node:perf_hooks';
import type { BootTime } from '../../ports/index.js';

/** The unit of /proc/self/stat: a hundredth of a second on every Linux that Node supports. */
const TICK_MS = 10;
/** Much longer than the time between the process's start and the zero of its clock. */
const TOLERANCE_MS = 1000;

export class ProcBootTime implements BootTime {
  readonly bootId: string | undefined;
  /** The correction of the shown uptime. */
  readonly #addedMs: number = 0;

  constructor() {
    const uptimeMs = this.#uptimeMs();
    this.bootId = read('/proc/sys/kernel/random/boot_id')?.trim();
    const startedMs = processStartMs();
    if (uptimeMs === undefined || startedMs === undefined) return;
    const countedMs = startedMs + performance.now();
    if (Math.abs(countedMs - uptimeMs) > TOLERANCE_MS) this.#addedMs = countedMs - uptimeMs;
  }

  sinceBootMs(): number | undefined {
    const uptimeMs = this.#uptimeMs();
    return uptimeMs === undefined ? undefined : uptimeMs + this.#addedMs;
  }

  #uptimeMs(): number | undefined {
    const seconds = Number.parseFloat(read('/proc/uptime') ?? '');
    return Number.isFinite(seconds) ? seconds * 1000 : undefined;
  }
}

/** Milliseconds from the machine's start to this process's. */
function processStartMs(): number | undefined {
  // The program's name is in brackets and may contain any character; the start is the twentieth field after it.
  const fields = read('/proc/self/stat')
    ?.replace(/^.*\) /s, '')
    .split(' ');
  const ticks = Number(fields?.[19]);
  return Number.isFinite(ticks) ? ticks * TICK_MS : undefined;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/**
 * Writes compiled code to the cache that `cli/main.ts` enables, so it is there even if the process is killed. Node.js before
 * 22.10 has no such call and writes at its end, Node.js 20 never.
 */
export function flushCompileCache(): void {
  (module as typeof module & { flushCompileCache?(): void }).flushCompileCache?.();
}
