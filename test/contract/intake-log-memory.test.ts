import type { ShardName } from '../../src/kernel/index.js';
import { MemoryIntakeLog } from '../support/memory/index.js';
import { realTime } from '../support/real-time.js';
import { intakeLogContract } from './intake-log.contract.js';

intakeLogContract('memory', async () => {
  const log = new MemoryIntakeLog({ clock: realTime, timers: realTime, aliveEveryMs: 10 });
  let made = 0;
  return {
    logs: [log, log],
    freshShard: async () => `QUEUE_${made++}` as ShardName,
    close: async () => undefined,
  };
});
