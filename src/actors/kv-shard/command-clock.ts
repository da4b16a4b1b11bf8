/**
 * Measures the time of commands for INFO, SLOWLOG and LATENCY. Reading the clock costs a twentieth of a small command,
 * so one in sixteen of the fast commands is measured and counted sixteen times. All are measured when SLOWLOG or
 * LATENCY asks for short times.
 */
import { type CommandSpec, ErrorReply, type KvEngine, type Reply, SLOW_NOTE } from '../../domain/kv/index.js';
import type { ByteString } from '../../kernel/index.js';
import type { Clock } from '../../ports/index.js';
import type { CommandExecution } from './command-execution.js';

const SAMPLE = 16;
/** Below this SLOWLOG threshold even a fast command may be logged. */
const SHORT_MICROS = 1000;

export class CommandClock {
  #count = 0;

  constructor(private readonly clock: Clock) {}

  /** @returns a monotonic instant, or 0 when this command is not measured */
  begin({ settings }: KvEngine, spec: CommandSpec): number {
    this.#count += 1;
    const { slowerThanMicros, latencyThresholdMs } = settings;
    const isWanted = logsShort(slowerThanMicros) || latencyThresholdMs > 0;
    if (!isWanted && spec.isQuick === true && this.#count % SAMPLE !== 0) return 0;
    return this.clock.monotonicMs();
  }

  /** `startedAtMs` is the result of `begin`. */
  end(
    { engine, work, startedAtMs }: CommandExecution,
    spec: CommandSpec,
    words: readonly ByteString[],
    reply: Reply,
  ): void {
    const { statistics, settings } = engine;
    work.slowerThanMicros = logsShort(settings.slowerThanMicros) ? settings.slowerThanMicros : undefined;
    // It notes a slow command that ran elsewhere; it is not a command of this partition.
    if (spec.name === SLOW_NOTE) return;
    const error = reply instanceof ErrorReply ? reply.text : undefined;
    if (startedAtMs === 0) {
      statistics.count(spec, 0, error);
      return;
    }
    const micros = Math.round((this.clock.monotonicMs() - startedAtMs) * 1000);
    const { slowerThanMicros: slowerThan, latencyThresholdMs: latencyMs } = settings;
    const isSampled = spec.isQuick === true && !logsShort(slowerThan) && latencyMs === 0;
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

function logsShort(slowerThanMicros: number): boolean {
  return slowerThanMicros >= 0 && slowerThanMicros < SHORT_MICROS;
}
