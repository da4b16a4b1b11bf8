/** The journal port of one simulated process. It keeps JN1–JN7 and shows every failure that they permit. */
import { MillraceError, type ShardName } from '../../src/kernel/index.js';
import type {
  AppendOutcome,
  Journal,
  JournalFollower,
  JournalTail,
  StoredMessage,
  Subscription,
} from '../../src/ports/index.js';
import type { Scheduler } from './scheduler.js';
import type { SimLink } from './sim-link.js';
import { lastOf, type SimServer, type SimStream } from './sim-server.js';

export interface SimJournalTimes {
  /** A short limit, so that unknown outcomes are resolved within a run; the real limit is 5 s. */
  readonly appendTimeoutMs: number;
  readonly readTimeoutMs: number;
  readonly aliveEveryMs: number;
}

/** The number of messages in one answer to a reader; small, so that faults interrupt reads. */
const BATCH = 16;
/** The interval at which a reader repeats a read of a position that is not shown. */
const ASK_AGAIN_MS = 100;

export class SimJournal implements Journal {
  constructor(
    private readonly link: SimLink,
    private readonly server: SimServer,
    private readonly scheduler: Scheduler,
    private readonly times: SimJournalTimes,
  ) {}

  async append(shard: ShardName, bytes: Uint8Array, expectedLast: number): Promise<AppendOutcome> {
    const copy = new Uint8Array(bytes);
    const label = `append ${shard} after ${expectedLast}`;
    const answer = await this.link.request<AppendOutcome>(shard, label, this.times.appendTimeoutMs, (reply) =>
      this.server.withLeader(
        shard,
        () => {
          if (this.server.random.chance(this.server.faults().appendBusy)) {
            reply({ kind: 'rejected', reason: 'another conditional append is in flight (10164)', retryable: true });
            return;
          }
          const outcome = this.server.append(shard, copy, expectedLast);
          this.scheduler.trace.note('server', `${this.link.process.name} ${label}: ${outcome.kind}`);
          reply(outcome);
        },
        () => reply({ kind: 'rejected', reason: 'no responders', retryable: true }),
      ),
    );
    switch (answer.kind) {
      case 'answered':
        return answer.value;
      case 'not-sent':
        return { kind: 'rejected', reason: 'the connection is down', retryable: true };
      case 'timed-out':
      case 'disconnected':
        return { kind: 'unknown', cause: new MillraceError('JOURNAL_UNAVAILABLE', `${label}: ${answer.kind}`) };
    }
  }

  async readAt(shard: ShardName, position: number): Promise<Uint8Array | undefined> {
    return this.ask(shard, `read ${shard} at ${position}`, (stream) => {
      if (position > this.server.shownLast(stream)) return undefined;
      const stored = stream.messages[position - stream.first];
      return stored === undefined ? undefined : new Uint8Array(stored.message.bytes);
    });
  }

  async *read(shard: ShardName, from: number, to: number): AsyncIterable<StoredMessage> {
    let next = from;
    let stalledSinceMs = this.link.process.clock.monotonicMs();
    while (next <= to) {
      const batch = await this.ask(shard, `read ${shard} from ${next}`, (stream) => {
        if (next < stream.first) return 'gap';
        const end = Math.min(to, this.server.shownLast(stream), next + BATCH - 1);
        return stream.messages.slice(next - stream.first, end - stream.first + 1).map(({ message }) => copyOf(message));
      });
      if (batch === 'gap')
        throw new MillraceError('JOURNAL_DAMAGED', `${shard} does not have ${next}`, { shard, next });
      const nowMs = this.link.process.clock.monotonicMs();
      if (batch.length > 0) stalledSinceMs = nowMs;
      else if (nowMs - stalledSinceMs > this.times.readTimeoutMs) throw unavailable(`${shard} does not show ${next}`);
      else await this.link.process.timers.pause(ASK_AGAIN_MS);
      for (const message of batch) yield message;
      next += batch.length;
    }
  }

  follow(shard: ShardName, from: number, follower: JournalFollower): Subscription {
    const stream = this.streamOf(shard);
    let next = from;
    let isStopped = false;
    let isScheduled = false;
    const look = () => {
      if (isStopped || this.link.process.isCrashed) return end();
      if (!this.link.isWhole || !this.server.hasLeader(shard)) return;
      const shown = this.server.shownLast(stream);
      next = Math.max(next, stream.first);
      if (next > shown) {
        this.link.deliver(`follow ${shard}`, 'journal alive', () => isStopped || follower.onAlive());
        return;
      }
      const batch = stream.messages.slice(next - stream.first, shown - stream.first + 1).map(({ message }) => message);
      this.link.deliver(`follow ${shard}`, `${shard} followed to ${shown}`, () => {
        for (const message of batch) {
          // A reader repeats a read after a lost answer; a message that is delivered twice is passed on once.
          if (isStopped || message.position !== next) continue;
          next += 1;
          follower.onMessage(copyOf(message));
        }
      });
    };
    const wake = () => {
      if (isScheduled) return;
      isScheduled = true;
      this.scheduler.at(this.scheduler.nowMs, undefined, 'message', `follow ${shard}`, () => {
        isScheduled = false;
        look();
      });
    };
    const tick = () => {
      if (isStopped || this.link.process.isCrashed) return end();
      look();
      this.scheduler.at(this.scheduler.nowMs + this.times.aliveEveryMs, undefined, 'message', `follow ${shard}`, tick);
    };
    const end = () => {
      isStopped = true;
      stream.followers.delete(wake);
    };
    stream.followers.add(wake);
    this.scheduler.at(this.scheduler.nowMs, undefined, 'message', `follow ${shard}`, tick);
    return { stop: end };
  }

  async tail(shard: ShardName): Promise<JournalTail> {
    return this.ask(shard, `tail ${shard}`, (stream) => {
      const last = this.server.shownLast(stream);
      const shown = stream.messages.slice(0, last - stream.first + 1);
      const bytes = shown.reduce((sum, { message }) => sum + message.bytes.length, 0);
      return { first: stream.first, last, bytes, holes: 0, createdAt: stream.createdAt };
    });
  }

  async truncateFront(shard: ShardName, keepFrom: number): Promise<void> {
    const done = await this.ask(shard, `truncate ${shard} before ${keepFrom}`, (stream) => {
      if (keepFrom < stream.first || keepFrom > lastOf(stream)) return false;
      stream.messages.splice(0, keepFrom - stream.first);
      stream.first = keepFrom;
      return true;
    });
    if (!done)
      throw new MillraceError('INVALID', `position ${keepFrom} of ${shard} is not stored`, { shard, keepFrom });
  }

  private async ask<T>(shard: ShardName, label: string, look: (stream: SimStream) => T): Promise<T> {
    const stream = this.streamOf(shard);
    const answer = await this.link.request<T | undefined>(`read ${shard}`, label, this.times.readTimeoutMs, (reply) =>
      this.server.withLeader(
        shard,
        () => reply(look(stream)),
        () => {},
      ),
    );
    if (answer.kind !== 'answered') throw unavailable(`${label}: ${answer.kind}`);
    return answer.value as T;
  }

  private streamOf(shard: ShardName): SimStream {
    const stream = this.server.streams.get(shard);
    if (stream === undefined) throw new MillraceError('JOURNAL_DAMAGED', `there is no journal ${shard}`, { shard });
    return stream;
  }
}

export function unavailable(message: string): MillraceError {
  return new MillraceError('JOURNAL_UNAVAILABLE', message);
}

function copyOf(message: StoredMessage): StoredMessage {
  return { ...message, bytes: new Uint8Array(message.bytes) };
}
