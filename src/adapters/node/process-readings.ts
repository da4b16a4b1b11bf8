/** Node's facts about the process. */
import { totalmem } from 'node:os';
import type { ProcessReadings } from '../../ports/index.js';

export class NodeReadings implements ProcessReadings {
  readonly pid = process.pid;
  readonly platform = `${process.platform} ${process.arch}`;
  readonly executable = process.execPath;

  get machineBytes(): number {
    return totalmem();
  }

  memory(): { readonly heapUsed: number; readonly rss: number } {
    return process.memoryUsage();
  }

  processorTime(): { readonly user: number; readonly system: number } {
    return process.cpuUsage();
  }
}
