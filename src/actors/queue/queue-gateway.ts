/**
 * The way to the owner of an account's queue: straight into the mailbox when the owner is this process,
 * over the bus when it is another; and for publishes, when nobody answers, the shard's intake.
 *
 *  QG1 what surely was not executed is asked again until the deadline; so is what may have been, where its
 *      own ids make a second time harmless
 *  QG2 a publish that was told carries the ids it was asked with: whichever road is quicker, and if both
 *      lead there, it is accepted once
 *  QG3 an owner that answers is believed: what it refuses, also for want of room, is not told. A publish that is
 *      being told by then is on its way whatever the owner says, and is answered as such
 *  QG4 "nothing happened" is said only when nothing can have happened on either road
 *  QG5 an account whose owner has lately refused it for being full is not told for: what is told has to be accepted, and
 *      a flood that makes its owner slow would get in that way
 */
import { decodeQueueReply, encodeIntakeRecord, encodeQueueCommand } from '../../codec/queue/index.js';
import { bytesOfItems, type PublishItem, type QueueCommand, type QueueReply, rowOf } from '../../domain/queue/index.js';
import { type AccountId, isMillraceError, MillraceError } from '../../kernel/index.js';
import { queuePartition, type Span } from '../../messages/index.js';
import type { Clock, IntakeLog, Metrics, QueueGateway, Timers } from '../../ports/index.js';
import { type ShardActor, ShardBook, type ShardCaller, type ShardHost } from '../runtime/index.js';
import { inDoubt, isDoubt, isWithoutOwner, isWorthAsking } from './outcome-doubts.js';
import { QueueWork } from './queue-work.js';

/** A message of the server is at most a mebibyte by default; settings and ids come on top of the bodies. */
export const MAX_INTAKE_BYTES = 768 * 1024;

export interface QueueGatewayLimits {
  /** How long a request waits for an owner that is loading, moving or being replaced. */
  readonly holdMs: number;
  readonly retryEveryMs: number;
  /** A publish that has no answer by then is told; `holdMs` is the end of this, too. */
  readonly tellAfterMs: number;
  /** The largest record of the intake, which is one message of the server. */
  readonly maxIntakeBytes: number;
}

export interface QueueGatewayPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly metrics: Metrics;
  readonly intake: IntakeLog;
  /** Undefined in a process that may own shards and is alone: there is nobody else to ask. */
  readonly caller: ShardCaller | undefined;
  /** Undefined in a process that owns no queues. */
  readonly host: Pick<ShardHost<QueueWork>, 'actorOf'> | undefined;
}

/** One command on its way. */
interface Asked {
  readonly account: AccountId;
  readonly command: QueueCommand;
  /** Undefined: it is not traced. */
  readonly trace: Span | undefined;
  /** On the monotonic clock. */
  readonly endMs: number;
}

/** Clients are told to come again in as long. */
const FULL_MS = 10_000;

export class QueueShardGateway implements QueueGateway {
  readonly #shards: ShardBook<AccountId>;
  /** Accounts that were refused lately, as many as there are at most. */
  readonly #fullUntilMs = new Map<AccountId, number>();

  constructor(
    private readonly ports: QueueGatewayPorts,
    private readonly limits: QueueGatewayLimits,
    shardCount: number,
  ) {
    this.#shards = new ShardBook('queue', shardCount, queuePartition);
  }

  ask(account: AccountId, command: QueueCommand, trace?: Span): Promise<QueueReply> {
    const endMs = this.ports.clock.monotonicMs() + this.limits.holdMs;
    const actor = this.ports.host?.actorOf(this.#shards.shardOf(account));
    if (actor?.state !== 'serving') return this.#route({ account, command, trace, endMs });
    // The common case, without a second promise; failures take the longer way.
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

  /** QG5. */
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

  /** @param wasInDoubt an earlier try may have been executed */
  async #again(asked: Asked, error: unknown, wasInDoubt = false): Promise<QueueReply> {
    const { command, endMs } = asked;
    const isTooLate = this.ports.clock.monotonicMs() + this.limits.retryEveryMs > endMs;
    if (isTooLate || !isWorthAsking(error, command)) throw wasInDoubt ? inDoubt(error) : error;
    await this.ports.timers.pause(this.limits.retryEveryMs);
    const isInDoubt = wasInDoubt || (isMillraceError(error, 'OUTCOME_UNKNOWN') && !rowOf(command).isRead);
    return this.#route(asked, isInDoubt);
  }

  async #route(asked: Asked, isInDoubt = false): Promise<QueueReply> {
    const { account, command, endMs } = asked;
    const shard = this.#shards.shardOf(account);
    const { host, caller } = this.ports;
    const actor = host?.actorOf(shard);
    try {
      if (actor !== undefined && actor.state !== 'draining') return await submit(actor, asked);
      if (caller === undefined) throw new MillraceError('SHARD_UNAVAILABLE', `${shard} is not open yet`, { shard });
      const body = encodeQueueCommand({ account, command });
      return decodeQueueReply(await caller.call(shard, body, rowOf(command).isRead === true, false, endMs));
    } catch (error) {
      return this.#again(asked, error, isInDoubt);
    }
  }

  /** The answer, or the promise, whichever is there first; a timer that nearly always is cancelled. */
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
        // Without luck it is as if it had not been tried: the answer may still come.
        tell().then(resolve, () => undefined);
      });
      asked.then(
        (reply) => {
          timer.cancel();
          this.#note(account, reply);
          // QG3. Its record is stored, or will be: an owner takes from there what it refuses here.
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

  /** The same bytes until they are stored, or it is too late. @throws OUTCOME_UNKNOWN when they may be stored */
  async #tell(
    account: AccountId,
    items: readonly PublishItem[],
    endMs: number,
    isAnswered: () => boolean,
  ): Promise<QueueReply> {
    const { clock, intake, metrics } = this.ports;
    const shard = this.#shards.shardOf(account);
    if (bytesOfItems(items) > this.limits.maxIntakeBytes) {
      throw new MillraceError('SHARD_UNAVAILABLE', `${shard} has no owner, and this is too large to be kept for it`);
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

function submit(actor: ShardActor<QueueWork>, { account, command, trace }: Asked): Promise<QueueReply> {
  return new Promise((resolve, reject) => {
    const work = new QueueWork(account, command, resolve, reject);
    actor.submit(trace === undefined ? work : work.traceWithin(trace));
  });
}

/**
 * A group has to be unfolded, and a duplicate found, by whoever knows them; so has a run, which may be over. What is
 * enqueued keeps the order of the answers: the next one may reach a new owner before it has read the intake.
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
