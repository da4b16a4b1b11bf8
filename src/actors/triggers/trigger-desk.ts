/** Answers the queue endpoint's questions about triggers: are they valid, where do they begin, how large is their lag. */
import type { Trigger, TriggerStart } from '../../domain/control/index.js';
import { ErrorReply } from '../../domain/kv/index.js';
import type { AccountTerms } from '../../domain/queue/index.js';
import { type ByteString, type DatabaseId, isMillraceError, type ShardName } from '../../kernel/index.js';
import type { FeedReader, QueueGateway, TriggerLag, TriggerMoment, Triggers } from '../../ports/index.js';
import type { PartitionLayout } from '../../protocol/index.js';
import type { ChangedKey } from './change-record.js';
import { KeySelection } from './key-selection.js';
import type { CopyPorts } from './partition-copies.js';
import { clockAfter, endPosition, positionBefore } from './position-at.js';
import { TriggerFeed } from './trigger-feed.js';
import { laneQueues, type MessagePorts, messageOf } from './trigger-messages.js';
import { partitionsByShard, placeOf, sequenceAfter, sourceOf } from './trigger-position.js';
import { notKept } from './trigger-relay.js';

export interface TriggerDeskPorts extends CopyPorts, MessagePorts {
  readonly queue: Pick<QueueGateway, 'ask'>;
}

export class TriggerDesk implements Triggers {
  constructor(
    private readonly ports: TriggerDeskPorts,
    private readonly kvShards: number,
  ) {}

  queuesOf(trigger: Trigger): readonly string[] {
    return laneQueues(trigger);
  }

  problemOf(trigger: Trigger, terms: AccountTerms): string | undefined {
    try {
      new KeySelection(trigger);
      messageOf(this.ports, trigger, terms, sampleOf(this.ports.clock.nowMs()));
      return undefined;
    } catch (error) {
      if (error instanceof ErrorReply) return `patterns: ${error.text.replace(/^ERR /, '')}`;
      if (isMillraceError(error, 'INVALID')) return error.message;
      throw error;
    }
  }

  startsAt(database: DatabaseId, layout: PartitionLayout, moment: TriggerMoment): Promise<readonly TriggerStart[]> {
    const { journal } = this.ports;
    const shards = [...partitionsByShard(database, layout, this.kvShards).keys()];
    const positionIn = (shard: ShardName) =>
      moment.kind === 'now' ? endPosition(journal, shard) : positionBefore(journal, shard, moment.atMs);
    return Promise.all(shards.map(async (shard) => ({ shard, position: await positionIn(shard) })));
  }

  async lagOf({ id, account, starts }: Trigger): Promise<TriggerLag> {
    const lags = await Promise.all(starts.map((start) => this.#lagIn(start, { id, account })));
    return {
      entries: lags.reduce((sum, { entries }) => sum + entries, 0),
      lagMs: Math.max(0, ...lags.map(({ lagMs }) => lagMs)),
      lost: lags.find(({ lost }) => lost !== undefined)?.lost,
    };
  }

  async removeQueues(trigger: Trigger): Promise<void> {
    for (const name of laneQueues(trigger)) {
      await this.ports.queue.ask(trigger.account, { type: 'DeleteQueue', name, ifEmpty: true });
    }
  }

  openFeed(trigger: Trigger, layout: PartitionLayout, cursor: string | undefined): FeedReader {
    return new TriggerFeed(this.ports, trigger, partitionsByShard(trigger.database, layout, this.kvShards), cursor);
  }

  async #lagIn(
    { shard, position: start }: TriggerStart,
    { id, account }: Pick<Trigger, 'id' | 'account'>,
  ): Promise<TriggerLag> {
    const { queue, journal, clock } = this.ports;
    const reply = await queue.ask(account, { type: 'TakeOutbox', source: sourceOf(id, shard), records: [] });
    const taken = reply.type === 'OutboxTaken' ? reply.sequence : 0;
    const { position } = placeOf(Math.max(taken, sequenceAfter(start)));
    const { first, last } = await journal.tail(shard);
    const entries = Math.max(0, last - position);
    const clockMs = entries === 0 ? undefined : await clockAfter(journal, shard, position);
    const lagMs = clockMs === undefined ? 0 : Math.max(0, clock.nowMs() - clockMs);
    return { entries, lagMs, lost: position + 1 < first ? notKept(shard, position + 1).message : undefined };
  }
}

/** A change as any trigger may have it, to judge the destination and the options. */
function sampleOf(atMs: number): ChangedKey {
  const command = ['SET', 'key', 'value'] as ByteString[];
  const key = 'key' as ByteString;
  const effect = { key, event: 'set' as const, command };
  return { shard: 'KV_0' as ShardName, position: 1, index: 0, atMs, effect, key, before: undefined, after: undefined };
}
