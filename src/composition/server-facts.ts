/** What INFO and TIME tell about this process. Names are Redis' own where the thing is the same. */
import type { ServerFacts } from '../domain/kv/index.js';
import type { Clock } from '../ports/index.js';
import { VERSION } from './version.js';

/** The protocol level clients decide features by. */
export const REDIS_VERSION = '8.2.0';

export function serverFacts(clock: Clock, runId: string): ServerFacts {
  const startedAtMs = clock.nowMs();
  return {
    nowMicros: () => Math.round(clock.nowMs() * 1000),
    info: () => {
      const uptimeSeconds = Math.floor((clock.nowMs() - startedAtMs) / 1000);
      const { heapUsed, rss } = process.memoryUsage();
      return new Map([
        [
          'server',
          new Map([
            ['redis_version', REDIS_VERSION],
            ['redis_mode', 'standalone'],
            ['os', `${process.platform} ${process.arch}`],
            ['arch_bits', '64'],
            ['process_id', String(process.pid)],
            ['run_id', runId],
            ['uptime_in_seconds', String(uptimeSeconds)],
            ['uptime_in_days', String(Math.floor(uptimeSeconds / 86_400))],
            ['millrace_version', VERSION],
          ]),
        ],
        [
          'memory',
          new Map([
            ['used_memory', String(heapUsed)],
            ['used_memory_rss', String(rss)],
          ]),
        ],
      ]);
    },
  };
}
