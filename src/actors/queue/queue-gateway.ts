/**
 * Sends commands to the owner of an account's queue: directly into the mailbox in this process, over the bus to
 * another; and stores publishes in the shard's intake when no owner answers.
 *
 *  QG1 a command that was certainly not executed is sent again until the deadline; so is one with an unknown outcome
 *      when its ids make a repetition harmless
 *  QG2 a publish in the intake has the same ids as the one sent to the owner, so it is accepted once even if both
 *      arrive
 *  QG3 an owner's refusal counts, also one because the account is full: the publish is not stored in the intake. If it
 *      was being stored there already, it is answered as accepted
 *  QG4 "not executed" is answered only when it is certain for both ways
 *  QG5 a publish for an account that was recently refused as full is not stored in the intake: intake messages have to
 *      be accepted, and a flood that slows its owner must not get in this way
 */
import { decodeQueueReply, encodeIntakeRecord, encodeQueueCommand } from '../../codec/queue/index.js';
import { bytesOfItems, type PublishItem, type QueueCommand, type QueueReply, rowOf } from '../../domain/queue/index.js';
import { type AccountId, isMillraceError, MillraceError, type ShardName } from '../../kernel/index.js';
import type { Clock, Counter, IntakeLog, Metrics, QueueGateway, Timers } from '../../ports/index.js';
import { queuePartition, type Span } from '../../protocol/index.js';
import { type ShardActor, type ShardCaller, type ShardHost, ShardMap } from '../runtime/index.js';
import { inDoubt, isDoubt, isWithoutOwner, isWorthAsking } from './outcome-doubts.js';
import { QueueWork } from './queue-work.js';

/** A message of nats-server has at most 1 MiB by default; settings and ids are added to the bodies. */
export const MAX_INTAKE_BYTES = 768 * 1024;

export interface QueueGatewayLimits {
  /** How long a request waits for an owner that is loading, moving or being replaced. */
  readonly holdMs: number;
  readonly retryEveryMs: number;
  /** A publish without an answer after this time is stored in the intake; `holdMs` ends that too. */
  readonly tellAfterMs: number;
  /** The largest record of the intake, which is one NATS message. */
  readonly maxIntakeBytes: number;
}

export interface QueueGatewayPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly metrics: Metrics;
  readonly intake: IntakeLog;
  /** Undefined in a single process that may own shards: there is no other process to ask. */
  readonly caller: ShardCaller | undefined;
  /** Undefined in a process that owns no queues. */
  readonly host: Pick<ShardHost<QueueWork>, 'actorOf' | 'whyStopped'> | undefined;
}

/** One command in progress. */
interface CommandInProgress {
  readonly account: AccountId;
  readonly command: QueueCommand;
  /** Undefined: it is not traced. */
  readonly trace: Span | undefined;
  /** On the monotonic clock. */
  readonly endMs: number;
}

/** The retry time that clients of a full account are told. */
const FULL_MS = 10_000;

export class QueueShardGateway implements QueueGateway {
  readonly #shards: ShardMap<AccountId>;
  readonly #forwarded: Counter;
  /** Recently refused accounts; bounded by the number of accounts. */
  readonly #fullUntilMs = new Map<AccountId, number>();

  constructor(
    private readonly ports: QueueGatewayPorts,
    private readonly limits: QueueGatewayLimits,
    shardCount: number,
  ) {
    this.#shards = new ShardMap('queue', shardCount, queuePartition);
    this.#forwarded = ports.metrics.counter('millrace_forwarded_requests_total', 'queue');
  }

  shardOf(account: AccountId): ShardName {
    return this.#shards.shardOf(account);
  }

  ask(account: AccountId, command: QueueCommand, trace?: Span): Promise<QueueReply> {
    const endMs = this.ports.clock.monotonicMs() + this.limits.holdMs;
    const actor = this.ports.host?.actorOf(this.#shards.shardOf(account));
    if (actor?.state !== 'serving') return this.#route({ account, command, trace, endMs });
    // The common case needs no second promise; only failures take the longer path.
    return new Promise((resolve, reject) => {
      const again = (error: MillraceError) =>
        this.#again({ account, command, trace, endMs }, error).then(resolve, reject);
      const work = new QueueWork(account, command, resolve, again);
      actor.submit(trace === undefined ? work : work.traceWithin(trace));
    });
  }

  publish(account: AccountId, items: readonly PublishItem[], trace?: Span): Promise<QueueReply> {
    const asked = this.ask(account, { type: 'Publish', items, isTold: false }, trace);
    if (!items.every(needsOnlyAPromise)) return asked;
    return this.#isFull(account) ? this.#noted(account, asked) : this.#orTold(account, items, asked);
  }

  /** True when the account was recently refused as full (QG5). */
  #isFull(account: AccountId): boolean {
    const untilMs = this.#fullUntilMs.get(account);
    if (untilMs === undefined) return false;
    if (untilMs > this.ports.clock.monotonicMs()) return true;
    this.#fullUntilMs.delete(account);
    return false;
  }

  async #noted(account: AccountId, asked: Promise<QueueReply>): Promise<QueueReply> {
    const reply = await asked;
    this.#note(account, reply);
    return reply;
  }

  #note(account: AccountId, reply: QueueReply): void {
    if (reply.type !== 'Rejected' || reply.reason !== 'FULL') return;
    this.#fullUntilMs.set(account, this.ports.clock.monotonicMs() + FULL_MS);
  }

  /** @param wasInDoubt  an earlier try may have been executed */
  async #again(asked: CommandInProgress, error: unknown, wasInDoubt = false): Promise<QueueReply> {
    const { command, endMs } = asked;
    const isTooLate = this.ports.clock.monotonicMs() + this.limits.retryEveryMs > endMs;
    if (isTooLate || !isWorthAsking(error, command)) throw wasInDoubt ? inDoubt(error) : error;
    await this.ports.timers.pause(this.limits.retryEveryMs);
    const isInDoubt = wasInDoubt || (isMillraceError(error, 'OUTCOME_UNKNOWN') && !rowOf(command).isRead);
    return this.#route(asked, isInDoubt);
  }

  async #route(asked: CommandInProgress, isInDoubt = false): Promise<QueueReply> {
    const { account, command, endMs } = asked;
    const shard = this.#shards.shardOf(account);
    const { host, caller } = this.ports;
    const actor = host?.actorOf(shard);
    try {
      if (actor !== undefined && actor.state !== 'draining') return await submit(actor, asked);
      const stopped = host?.whyStopped(shard);
      if (stopped !== undefined) throw stopped;
      if (caller === undefined) throw new MillraceError('SHARD_UNAVAILABLE', `${shard} is not open yet`, { shard });
      const body = encodeQueueCommand({ account, command });
      const isRead = rowOf(command).isRead === true;
      this.#forwarded.add(1);
      return decodeQueueReply(await caller.call({ shard, body, isRead }, endMs));
    } catch (error) {
      return this.#again(asked, error, isInDoubt);
    }
  }

  /** The owner's answer or the intake's confirmation, the earlier of both. The timer is nearly always cancelled. */
  #orTold(account: AccountId, items: readonly PublishItem[], asked: Promise<QueueReply>): Promise<QueueReply> {
    const { clock, timers } = this.ports;
    const { tellAfterMs, holdMs } = this.limits;
    const endMs = clock.monotonicMs() + holdMs;
    return new Promise((resolve, reject) => {
      let isAnswered = false;
      let told: Promise<QueueReply> | undefined;
      const tell = () => {
        told = this.#tell(account, items, endMs, () => isAnswered);
        return told;
      };
      const timer = timers.after(tellAfterMs, () => {
        // A failed intake write is ignored, because the owner may still answer.
        tell().then(resolve, () => undefined);
      });
      asked.then(
        (reply) => {
          timer.cancel();
          this.#note(account, reply);
          // The record is or will be stored, and the owner accepts it from the intake even when it refuses it here
          // (QG3).
          if (reply.type === 'Rejected' && told !== undefined) {
            told.then(resolve, (doubt: unknown) => (isDoubt(doubt) ? reject(doubt) : resolve(reply)));
            return;
          }
          isAnswered = true;
          resolve(reply);
        },
        (error: unknown) => {
          timer.cancel();
          if (told === undefined && !isWithoutOwner(error)) reject(error);
          else (told ?? tell()).then(resolve, (doubt: unknown) => reject(isDoubt(doubt) ? doubt : error));
        },
      );
    });
  }

  /** Sends the same bytes until they are stored or the time is over. @throws OUTCOME_UNKNOWN when they may be stored */
  async #tell(
    account: AccountId,
    items: readonly PublishItem[],
    endMs: number,
    isAnswered: () => boolean,
  ): Promise<QueueReply> {
    const { clock, intake, metrics } = this.ports;
    const shard = this.#shards.shardOf(account);
    if (bytesOfItems(items) > this.limits.maxIntakeBytes) {
      throw new MillraceError(
        'SHARD_UNAVAILABLE',
        `${shard} has no owner, and the messages are too large for the intake`,
      );
    }
    const bytes = encodeIntakeRecord({ account, items });
    let mayBeStored = false;
    for (;;) {
      try {
        await intake.append(shard, bytes);
        metrics.counter('millrace_intake_told_total').add(items.length);
        return promiseOf(items);
      } catch (error) {
        mayBeStored ||= !(error instanceof MillraceError && error.details.isStored === false);
        const isTooLate = clock.monotonicMs() + this.limits.retryEveryMs > endMs;
        if (isAnswered() || isTooLate) throw mayBeStored ? inDoubt(error, { isBeingStored: true }) : error;
      }
      await this.ports.timers.pause(this.limits.retryEveryMs);
    }
  }
}

function submit(actor: ShardActor<QueueWork>, { account, command, trace }: CommandInProgress): Promise<QueueReply> {
  return new Promise((resolve, reject) => {
    const work = new QueueWork(account, command, resolve, reject);
    actor.submit(trace === undefined ? work : work.traceWithin(trace));
  });
}

/**
 * Only the owner can expand a group, find a duplicate, or know whether a run is over. Enqueued messages need the order
 * of their answers, and the next one may reach a new owner before it has read the intake.
 */
function needsOnlyAPromise({ destination, deduplication, queueName, workflow }: PublishItem): boolean {
  if (destination.kind !== 'url' || workflow !== undefined) return false;
  return deduplication === undefined && queueName === undefined;
}

function promiseOf(items: readonly PublishItem[]): QueueReply {
  const results = items.map(({ id, destination }) => ({
    messageId: id,
    url: destination.kind === 'url' ? destination.url : '',
    isDuplicate: false,
  }));
  return { type: 'Published', results, daily: undefined };
}
