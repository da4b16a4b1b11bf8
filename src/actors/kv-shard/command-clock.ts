/**
 * How long commands take, for INFO, SLOWLOG and LATENCY. Reading the clock costs a twentieth of a small command,
 * so commands that are fast by nature are timed one in sixteen, and counted sixteen times; all are timed
 * when somebody wants to know of short times.
 */
import { type CommandSpec, ErrorReply, type KvEngine, type Reply } from '../../domain/kv/index.js';
import type { ByteString } from '../../kernel/index.js';
import type { Clock } from '../../ports/index.js';
import type { KvWork } from './kv-work.js';

const SAMPLE = 16;
/** Below this threshold of SLOWLOG a fast command may be slow. */
const SHORT_MICROS = 1000;

export class CommandClock {
  #count = 0;

  constructor(private readonly clock: Clock) {}

  /** When a command begins: a monotonic instant, or 0 when it is not timed. */
  begin({ settings }: KvEngine, spec: CommandSpec): number {
    this.#count += 1;
    const { slowerThanMicros, latencyThresholdMs } = settings;
    const isWanted = (slowerThanMicros >= 0 && slowerThanMicros < SHORT_MICROS) || latencyThresholdMs > 0;
    if (!isWanted && spec.isQuick === true && this.#count % SAMPLE !== 0) return 0;
    return this.clock.monotonicMs();
  }

  /** @param startedAtMs as `begin` gave it */
  end(
    engine: KvEngine,
    spec: CommandSpec,
    words: readonly ByteString[],
    work: KvWork,
    startedAtMs: number,
    reply: Reply,
  ): void {
    const { statistics, settings } = engine;
    const error = reply instanceof ErrorReply ? reply.text : undefined;
    if (startedAtMs === 0) {
      statistics.count(spec, 0, error);
      return;
    }
    const micros = Math.round((this.clock.monotonicMs() - startedAtMs) * 1000);
    const { slowerThanMicros: slowerThan, latencyThresholdMs: latencyMs } = settings;
    const isSampled = spec.isQuick === true && (slowerThan < 0 || slowerThan >= SHORT_MICROS) && latencyMs === 0;
    statistics.count(spec, isSampled ? micros * SAMPLE : micros, error);
    if (slowerThan >= 0 && micros >= slowerThan && !spec.flags.includes('skip-slowlog')) {
      const address = work.request.client?.address ?? '0.0.0.0:0';
      const command = { words, micros, address, name: work.request.client?.name ?? '' };
      statistics.addSlow(command, this.clock.nowMs(), settings.number('slowlog-max-len'));
    }
    if (latencyMs > 0 && micros >= latencyMs * 1000) {
      const event = spec.flags.includes('fast') ? 'fast-command' : 'command';
      statistics.addLatency(event, Math.round(micros / 1000), this.clock.nowMs());
    }
  }
}
