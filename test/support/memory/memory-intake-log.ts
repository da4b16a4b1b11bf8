/** An in-memory intake of the queue's shards. All users of one instance share one server. */
import type { ShardName } from '../../../src/kernel/index.js';
import type {
  Clock,
  IntakeLog,
  JournalFollower,
  StoredMessage,
  Subscription,
  Timers,
} from '../../../src/ports/index.js';

export interface MemoryIntakeLogOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  /** The interval at which a follower without new records is told that the log answers. */
  readonly aliveEveryMs?: number;
}

interface Intake {
  last: number;
  records: StoredMessage[];
  readonly changed: Set<() => void>;
}

const DEFAULT_ALIVE_EVERY_MS = 250;

export class MemoryIntakeLog implements IntakeLog {
  readonly #intakes = new Map<ShardName, Intake>();

  constructor(private readonly options: MemoryIntakeLogOptions) {}

  async append(shard: ShardName, bytes: Uint8Array): Promise<void> {
    const intake = this.#intakeOf(shard);
    intake.last += 1;
    const storedAtMs = this.options.clock.nowMs();
    intake.records.push({ position: intake.last, bytes: new Uint8Array(bytes), storedAtMs });
    for (const wake of [...intake.changed]) wake();
  }

  follow(shard: ShardName, from: number, follower: JournalFollower): Subscription {
    const { timers, aliveEveryMs = DEFAULT_ALIVE_EVERY_MS } = this.options;
    const intake = this.#intakeOf(shard);
    let next = from;
    let isStopped = false;
    let isDue = false;
    // Runs in a new call stack, never inside `append` or `follow`.
    const pump = () => {
      if (isDue || isStopped) return;
      isDue = true;
      timers.soon(() => {
        isDue = false;
        for (const record of intake.records.filter(({ position }) => position >= next)) {
          if (isStopped) return;
          next = record.position + 1;
          follower.onMessage({ ...record, bytes: new Uint8Array(record.bytes) });
        }
      });
    };
    const alive = () => {
      if (!isDue) follower.onAlive();
      timer = timers.after(aliveEveryMs, alive);
    };
    let timer = timers.after(aliveEveryMs, alive);
    intake.changed.add(pump);
    pump();
    return {
      stop() {
        isStopped = true;
        intake.changed.delete(pump);
        timer.cancel();
      },
    };
  }

  async trim(shard: ShardName, position: number): Promise<void> {
    const intake = this.#intakeOf(shard);
    intake.records = intake.records.filter((record) => record.position > position);
  }

  /** The number of stored records, for tests of trimming. */
  countOf(shard: ShardName): number {
    return this.#intakeOf(shard).records.length;
  }

  #intakeOf(shard: ShardName): Intake {
    const known = this.#intakes.get(shard);
    if (known !== undefined) return known;
    const intake: Intake = { last: 0, records: [], changed: new Set() };
    this.#intakes.set(shard, intake);
    return intake;
  }
}
