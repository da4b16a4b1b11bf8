/**
 * Sends requests to the owner of a partition: directly into the mailbox in this process, over the bus to another
 * process. A request that was certainly not executed is sent again until its deadline.
 */
import { decodeKvRequest, decodeKvResponse, encodeKvRequest, encodeKvResponse } from '../../codec/remote/index.js';
import { findCommand } from '../../domain/kv/index.js';
import { isMillraceError, MillraceError, type PartitionName, type ShardName } from '../../kernel/index.js';
import {
  type Bus,
  type Clock,
  type Counter,
  type KvGateway,
  type Metrics,
  type Timers,
  UNWATCHED,
} from '../../ports/index.js';
import type { KvRequest, KvResponse } from '../../protocol/index.js';
import {
  type AnswerMemoryLimits,
  type MakeWork,
  type ShardActor,
  type ShardCaller,
  type ShardHost,
  ShardMap,
  ShardServer,
  type SilenceWatch,
} from '../runtime/index.js';
import { isRead, KvWork } from './kv-work.js';

export interface KvGatewayLimits {
  /** How long a request waits for an owner that is loading, moving or being replaced. */
  readonly holdMs: number;
  readonly retryEveryMs: number;
}

export interface KvGatewayPorts {
  readonly clock: Clock;
  readonly timers: Timers;
  /** Default: requests are not counted. */
  readonly metrics?: Metrics | undefined;
  /** Undefined in a single process that may own shards: there is no other process to ask. */
  readonly caller: ShardCaller | undefined;
  /** Undefined in a process without the kv role. */
  readonly host: ShardHost<KvWork> | undefined;
}

/** The answer to a request that was not run because an earlier request in the same order failed. */
const NOT_RUN: KvResponse = { replies: [], syncToken: '0-0' };

export class KvShardGateway implements KvGateway {
  readonly #shards: ShardMap<PartitionName>;
  readonly #forwarded: Counter;

  constructor(
    private readonly ports: KvGatewayPorts,
    private readonly limits: KvGatewayLimits,
    shardCount: number,
  ) {
    this.#shards = new ShardMap('kv', shardCount, (partition) => partition);
    this.#forwarded = (ports.metrics ?? UNWATCHED).counter('millrace_forwarded_requests_total', 'kv');
  }

  shardOf(partition: PartitionName): ShardName {
    return this.#shards.shardOf(partition);
  }

  execute(request: KvRequest): Promise<KvResponse> {
    const actor = this.ports.host?.actorOf(this.#shards.shardOf(request.partition));
    if (actor !== undefined && actor.state === 'serving') {
      // The common case needs no second promise; only failures take the longer path.
      return new Promise((resolve, reject) => {
        const again = (error: MillraceError) => {
          const isRefused = isNotExecuted(error) || isMillraceError(error, 'PARTITION_CLOSED');
          if (isRefused && request.place?.hasFailed() === false) resolve(NOT_RUN);
          else this.#again(request, error, this.#deadline()).then(resolve, reject);
        };
        actor.submit(new KvWork(request, resolve, again));
        request.place?.handedOn();
      });
    }
    if (request.place?.hasFailed() === false) return Promise.resolve(NOT_RUN);
    return this.#route(request, this.#deadline());
  }

  isLoading(partition: PartitionName): boolean {
    const state = this.ports.host?.actorOf(this.#shards.shardOf(partition))?.state;
    return state === 'claiming' || state === 'replaying';
  }

  #deadline(): number {
    return this.ports.clock.monotonicMs() + this.limits.holdMs;
  }

  async #again(request: KvRequest, error: unknown, endMs: number): Promise<KvResponse> {
    if (!isNotExecuted(error)) throw error;
    if (this.ports.clock.monotonicMs() + this.limits.retryEveryMs > endMs) throw error;
    await this.ports.timers.pause(this.limits.retryEveryMs);
    return this.#route(request, endMs);
  }

  async #route(request: KvRequest, endMs: number): Promise<KvResponse> {
    const shard = this.#shards.shardOf(request.partition);
    const { host, caller } = this.ports;
    const actor = host?.actorOf(shard);
    try {
      if (actor !== undefined && actor.state !== 'draining') return await submit(actor, request);
      const stopped = host?.whyStopped(shard);
      if (stopped !== undefined) throw stopped;
      if (caller === undefined) throw new MillraceError('SHARD_UNAVAILABLE', `${shard} is not open yet`, { shard });
      const isReading = isRead(request);
      const command = {
        shard,
        body: encodeKvRequest(request),
        isRead: isReading,
        isPatient: request.waiter !== undefined || mayWaitForIndex(request),
        isTold: !isReading && isTold(request),
        isGone: request.isGone,
      };
      this.#forwarded.add(1);
      return decodeKvResponse(await caller.call(command, endMs));
    } catch (error) {
      return this.#again(request, error, endMs);
    }
  }
}

function isNotExecuted(error: unknown): boolean {
  return isMillraceError(error, 'SHARD_UNAVAILABLE') || isMillraceError(error, 'NOT_APPLIED');
}

function submit(actor: ShardActor<KvWork>, request: KvRequest): Promise<KvResponse> {
  return new Promise((resolve, reject) => actor.submit(new KvWork(request, resolve, reject)));
}

/** True when the request publishes. Messages that a script publishes along with its writes are known by its entry. */
function isTold({ commands }: KvRequest): boolean {
  return commands.some((words) => findCommand(words)?.channels !== undefined);
}

/** True when the owner may let the request wait for an index. */
function mayWaitForIndex({ commands }: KvRequest): boolean {
  return commands.some((words) => findCommand(words)?.waitsForIndex !== undefined);
}

/** Serves requests of other processes for a shard that this process owns. */
export function serveKvShard(
  bus: Bus,
  actor: ShardActor<KvWork>,
  limits: AnswerMemoryLimits,
  silence?: SilenceWatch,
): ShardServer<KvWork> {
  const workFor: MakeWork<KvWork> = (body, commandId, onAnswer, onFailure) =>
    new KvWork(decodeKvRequest(body), (reply) => onAnswer(encodeKvResponse(reply)), onFailure, commandId);
  return new ShardServer(bus, actor, limits, workFor, silence);
}
