/**
 * An in-memory journal for unit tests and specs. All users of one instance share one server. It keeps JN1–JN7 and is
 * never slow, stale or in doubt; the simulation's journal has those behaviours.
 */
import { MillraceError, type ShardName } from '../../../src/kernel/index.js';
import type {
  AppendOutcome,
  Clock,
  Journal,
  JournalFollower,
  JournalTail,
  StoredMessage,
  Subscription,
  Timers,
} from '../../../src/ports/index.js';

export interface MemoryJournalOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  /** The interval at which a follower without new entries is told that the journal answers. */
  readonly aliveEveryMs?: number;
  /** The time that `read` waits for a position that is not stored yet. */
  readonly readStallMs?: number;
}

interface Stream {
  readonly createdAt: string;
  /** The position of `messages[0]`. */
  first: number;
  readonly messages: StoredMessage[];
  readonly changed: Set<() => void>;
}

const DEFAULT_ALIVE_EVERY_MS = 250;
const DEFAULT_READ_STALL_MS = 1000;

export class MemoryJournal implements Journal {
  private readonly streams = new Map<ShardName, Stream>();
  private readonly aliveEveryMs: number;
  private readonly readStallMs: number;

  constructor(private readonly options: MemoryJournalOptions) {
    this.aliveEveryMs = options.aliveEveryMs ?? DEFAULT_ALIVE_EVERY_MS;
    this.readStallMs = options.readStallMs ?? DEFAULT_READ_STALL_MS;
  }

  /**
   * Creates a shard's stream, as `cluster init` does on a real server. A shard without a stream cannot be written to.
   */
  createStream(shard: ShardName): void {
    if (this.streams.has(shard)) throw new MillraceError('CONFLICT', `journal ${shard} is there already`, { shard });
    const createdAt = new Date(this.options.clock.nowMs()).toISOString();
    this.streams.set(shard, { createdAt, first: 1, messages: [], changed: new Set() });
  }

  async append(shard: ShardName, bytes: Uint8Array, expectedLast: number): Promise<AppendOutcome> {
    const stream = this.streams.get(shard);
    if (stream === undefined) return { kind: 'rejected', reason: `no journal ${shard}`, retryable: true };
    const last = lastOf(stream);
    if (last !== expectedLast) return { kind: 'conflict', last };
    const position = last + 1;
    stream.messages.push({ position, bytes: copyOf(bytes), storedAtMs: this.options.clock.nowMs() });
    for (const wake of [...stream.changed]) wake();
    return { kind: 'stored', position };
  }

  async readAt(shard: ShardName, position: number): Promise<Uint8Array | undefined> {
    const stream = this.streamOf(shard);
    const message = stream.messages[position - stream.first];
    return message === undefined ? undefined : copyOf(message.bytes);
  }

  async *read(shard: ShardName, from: number, to: number): AsyncIterable<StoredMessage> {
    const stream = this.streamOf(shard);
    for (let position = from; position <= to; position += 1) {
      if (position > lastOf(stream)) await this.positionOrStall(shard, stream, position);
      if (position < stream.first) {
        throw new MillraceError('JOURNAL_DAMAGED', `journal ${shard} starts at ${stream.first}, not at ${position}`, {
          shard,
          position,
          first: stream.first,
        });
      }
      yield copyOfMessage(stream.messages[position - stream.first] as StoredMessage);
    }
  }

  follow(shard: ShardName, from: number, follower: JournalFollower): Subscription {
    return new Following(this.streamOf(shard), from, follower, this.options.timers, this.aliveEveryMs);
  }

  async tail(shard: ShardName): Promise<JournalTail> {
    const stream = this.streamOf(shard);
    const bytes = stream.messages.reduce((sum, message) => sum + message.bytes.length, 0);
    return { first: stream.first, last: lastOf(stream), bytes, holes: 0, createdAt: stream.createdAt };
  }

  async truncateFront(shard: ShardName, keepFrom: number): Promise<void> {
    const stream = this.streamOf(shard);
    if (keepFrom < stream.first || keepFrom > lastOf(stream)) {
      throw new MillraceError('INVALID', `position ${keepFrom} of ${shard} is not stored, so nothing is truncated`, {
        shard,
        keepFrom,
        first: stream.first,
        last: lastOf(stream),
      });
    }
    stream.messages.splice(0, keepFrom - stream.first);
    stream.first = keepFrom;
  }

  private streamOf(shard: ShardName): Stream {
    const stream = this.streams.get(shard);
    if (stream === undefined) throw new MillraceError('JOURNAL_DAMAGED', `there is no journal ${shard}`, { shard });
    return stream;
  }

  /** Waits for a limited time for a position, because a reader may know of it before the server shows it. */
  private positionOrStall(shard: ShardName, stream: Stream, position: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const check = () => {
        if (lastOf(stream) < position) return;
        end();
        resolve();
      };
      const timer = this.options.timers.after(this.readStallMs, () => {
        end();
        reject(
          new MillraceError('JOURNAL_UNAVAILABLE', `journal ${shard} does not show position ${position}`, {
            shard,
            position,
            last: lastOf(stream),
          }),
        );
      });
      const end = () => {
        timer.cancel();
        stream.changed.delete(check);
      };
      stream.changed.add(check);
    });
  }
}

/** A follower. It is called in a new call stack, never inside `append` or `follow`. */
class Following implements Subscription {
  private stopped = false;
  private pumping = false;
  private aliveTimer: { cancel(): void };

  constructor(
    private readonly stream: Stream,
    private next: number,
    private readonly follower: JournalFollower,
    private readonly timers: Timers,
    private readonly aliveEveryMs: number,
  ) {
    stream.changed.add(this.pump);
    this.aliveTimer = timers.after(aliveEveryMs, this.alive);
    this.pump();
  }

  stop(): void {
    this.stopped = true;
    this.stream.changed.delete(this.pump);
    this.aliveTimer.cancel();
  }

  private readonly pump = (): void => {
    if (this.pumping || this.stopped) return;
    this.pumping = true;
    this.timers.soon(() => {
      this.pumping = false;
      while (!this.stopped && this.next <= lastOf(this.stream)) {
        this.next = Math.max(this.next, this.stream.first);
        const message = this.stream.messages[this.next - this.stream.first] as StoredMessage;
        this.next += 1;
        this.follower.onMessage(copyOfMessage(message));
      }
    });
  };

  private readonly alive = (): void => {
    if (this.stopped) return;
    this.aliveTimer = this.timers.after(this.aliveEveryMs, this.alive);
    if (!this.pumping) this.follower.onAlive();
  };
}

function lastOf(stream: Stream): number {
  return stream.first + stream.messages.length - 1;
}

/** Copies the bytes. `slice()` of a Buffer would share its memory. */
function copyOf(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}

function copyOfMessage(message: StoredMessage): StoredMessage {
  return { ...message, bytes: copyOf(message.bytes) };
}
