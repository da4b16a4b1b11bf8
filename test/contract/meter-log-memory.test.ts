import { NodeTimers, SystemClock } from '../../src/adapters/node/index.js';
import { METER_SHARD } from '../../src/protocol/index.js';
import { MemoryJournal, MemoryMeterLog } from '../support/memory/index.js';
import { meterLogContract } from './meter-log.contract.js';

meterLogContract('memory', async () => {
  const journal = new MemoryJournal({ clock: new SystemClock(), timers: new NodeTimers() });
  journal.createStream(METER_SHARD);
  return { logs: [new MemoryMeterLog(journal), new MemoryMeterLog(journal)], close: async () => undefined };
});
