/**
 * Watches the free space of the data directory's file system. The nats-server stops storing anything, deletes included,
 * when its disk is full, so growing commands are refused while a reserve is still free.
 *
 *  DWA1 full begins below the reserve and ends a tenth above it, so that the state does not alternate at the limit
 *  DWA2 a failed reading changes nothing and is logged once
 */
import { statfs } from 'node:fs/promises';
import { describeError } from '../../kernel/index.js';
import { type Log, ROOMY, type StorageGauge, type Timer, type Timers } from '../../ports/index.js';
import type { Lifetime } from './lifetime.js';

/** Watches the disk of `directory`; without a reserve there is always room. */
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
  /** The number of free bytes; for tests. */
  readonly freeBytes?: (directory: string) => Promise<number>;
}

/** A disk that fills at a gigabyte per second takes longer to use a reserve of 128 MiB than this interval. */
const LOOK_EVERY_MS = 100;
const FASTEST_BYTES_PER_MS = 1_000_000;
/** The longest interval, for a disk with much free space. */
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

  /** The time for which the reserve certainly stays, at the fastest filling; halved, because timers are inexact. */
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
