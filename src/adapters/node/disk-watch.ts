/**
 * Watches the free space of the file system that holds the data directory. The nats-server stops taking
 * anything when its disk is full, deletes included; so what grows is refused while a reserve is still free.
 *
 *  DWA1 full begins below the reserve and ends a tenth above it: no flapping at the edge
 *  DWA2 a question that fails changes nothing and is logged once
 */
import { statfs } from 'node:fs/promises';
import { describeError } from '../../kernel/index.js';
import { type Log, ROOMY, type StorageGauge, type Timer, type Timers } from '../../ports/index.js';
import type { Lifetime } from './lifetime.js';

/** It watches the disk that `directory` is on; without a reserve there is always room. */
export function watchedDisk({ reserveBytes, ...rest }: DiskWatchOptions, life: Pick<Lifetime, 'atEnd'>): StorageGauge {
  if (reserveBytes === 0) return ROOMY;
  const watch = new DiskWatch({ reserveBytes, ...rest });
  void watch.start();
  life.atEnd(() => watch.stop());
  return watch;
}

export interface DiskWatchOptions {
  readonly directory: string;
  readonly reserveBytes: number;
  readonly timers: Timers;
  readonly log: Log;
  /** How many bytes are free; for tests. */
  readonly freeBytes?: (directory: string) => Promise<number>;
}

/** A disk that fills at a gigabyte a second loses a reserve of 128 MiB no faster than it is noticed. */
const LOOK_EVERY_MS = 100;
const FASTEST_BYTES_PER_MS = 1_000_000;
/** While there is plenty of space nobody needs to look that often. */
const LOOK_SELDOM_MS = 10_000;

export class DiskWatch implements StorageGauge {
  #isFull = false;
  #hasFailed = false;
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(private readonly options: DiskWatchOptions) {}

  isFull(): boolean {
    return this.#isFull;
  }

  async start(): Promise<void> {
    const freeBytes = await this.#look();
    if (this.#isStopped) return;
    this.#timer = this.options.timers.roughlyAfter(this.#roomForMs(freeBytes), () => void this.start());
  }

  /** For twice as long the reserve stays whole, however fast the disk fills: a look comes roughly when it is asked for. */
  #roomForMs(freeBytes = 0): number {
    const roomForMs = (freeBytes - this.options.reserveBytes) / FASTEST_BYTES_PER_MS / 2;
    return Math.min(LOOK_SELDOM_MS, Math.max(LOOK_EVERY_MS, roomForMs));
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  async #look(): Promise<number | undefined> {
    const { directory, reserveBytes, log, freeBytes = freeBytesOf } = this.options;
    try {
      const free = await freeBytes(directory);
      const limit = this.#isFull ? reserveBytes * 1.1 : reserveBytes;
      const isFull = free < limit;
      if (isFull !== this.#isFull) {
        const fields = { freeBytes: free, reserveBytes };
        if (isFull) log.error('storage.full', fields);
        else log.info('storage.has-room', fields);
      }
      this.#isFull = isFull;
      this.#hasFailed = false;
      return free;
    } catch (error) {
      if (!this.#hasFailed) log.warn('storage.unknown', { cause: describeError(error) });
      this.#hasFailed = true;
      return undefined;
    }
  }
}

async function freeBytesOf(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}
