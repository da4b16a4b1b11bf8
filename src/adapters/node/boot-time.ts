/**
 * The time since the machine started, from /proc; nothing is known where there is none.
 *
 * A container may be shown an uptime of its own, which begins anew with it while the boot's id stays. When this process
 * started is always told by the kernel's own count, so that is what the uptime is compared with, once.
 */
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import type { BootTime } from '../../ports/index.js';

/** The unit of /proc/self/stat: a hundredth of a second on every Linux that Node runs on. */
const TICK_MS = 10;
/** Between the start of the process and its clock's zero lies much less. */
const TOLERANCE_MS = 1000;

export class ProcBootTime implements BootTime {
  readonly bootId: string | undefined;
  /** What has to be added to the uptime that is shown. */
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
  // The name of the program stands in brackets and may hold anything; the start is the twentieth field behind it.
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
