/** Answers the queue endpoint's questions about triggers: are they valid, where do they begin, how large is their lag. */
import type { Trigger, TriggerStart } from '../../domain/control/index.js';
import { ErrorReply } from '../../domain/kv/index.js';
import type { AccountTerms } from '../../domain/queue/index.js';
import { clockAfter, endPosition, positionBefore } from '../../journal/index.js';
import {
  type AccountId,
  type ByteString,
  type DatabaseId,
  isMillraceError,
  MillraceError,
  type ShardName,
} from '../../kernel/index.js';
import type {
  FeedReader,
  LayoutWithFormer,
  QueueGateway,
  TriggerBeginning,
  TriggeredChange,
  TriggerLag,
  TriggerMoment,
  Triggers,
} from '../../ports/index.js';
import type { PartitionLayout } from '../../protocol/index.js';
import type { ChangedKey } from './change-record.js';
import { KeySelection } from './key-selection.js';
import { layoutParts, type RelayPlace, relayPlaces } from './layout-parts.js';
import type { CopyPorts } from './partition-copies.js';
import { type FeedStart, TriggerFeed } from './trigger-feed.js';
import { laneQueues, type MessagePorts, messageOf } from './trigger-messages.js';
import { partitionsByShard, placeOf, positionIn, sequenceAfter } from './trigger-position.js';
import { notKept } from './trigger-relay.js';

export interface TriggerDeskPorts extends CopyPorts, MessagePorts {
  readonly queue: Pick<QueueGateway, 'ask'>;
  /** As this process knows it. */
  layoutOf(database: DatabaseId): LayoutWithFormer | undefined;
}

export class TriggerDesk implements Triggers, TriggeredChange {
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

  async startsAt(database: DatabaseId, layout: LayoutWithFormer, moment: TriggerMoment): Promise<TriggerBeginning> {
    if (moment.kind === 'now') return beginningIn(layout, await this.endsOf(database, layout));
    const { former } = layout;
    const before = (one: PartitionLayout) => this.#positionsBefore(database, one, moment.atMs);
    if (former !== undefined) {
      const starts = await before(former);
      if (starts.some(({ shard, position }) => position < positionIn(former.ends, shard))) {
        if (starts.some(({ shard, position }) => position < positionIn(former.starts, shard))) throw isEarlierLayout();
        return beginningIn(former, starts);
      }
    }
    const found = await before(layout);
    const starts = found.map(({ shard, position }) => {
      return { shard, position: Math.max(position, positionIn(former?.ends ?? [], shard)) };
    });
    return beginningIn(layout, starts);
  }

  async lagOf(trigger: Trigger, layout: LayoutWithFormer): Promise<TriggerLag> {
    const places = relayPlaces(trigger, layout, this.kvShards);
    const lags = await Promise.all(places.map((place) => this.#lagIn(place, trigger.account)));
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

  /** The feed goes on in the next layout when this process knows that the partitions have changed. */
  openFeed(trigger: Trigger, layout: LayoutWithFormer, cursor: string | undefined): FeedReader {
    const partsNow = () => {
      const present = this.ports.layoutOf(trigger.database);
      const isNewer = (present?.firstPartition ?? 0) > (layout.firstPartition ?? 0);
      return (begun: FeedStart) => layoutParts({ ...trigger, ...begun }, (isNewer && present) || layout, this.kvShards);
    };
    return new TriggerFeed(this.ports, trigger, partsNow, cursor);
  }

  endsOf(database: DatabaseId, ...layouts: readonly PartitionLayout[]): Promise<readonly TriggerStart[]> {
    const { journal } = this.ports;
    const shards = new Set(layouts.flatMap((one) => [...partitionsByShard(database, one, this.kvShards).keys()]));
    return Promise.all([...shards].map(async (shard) => ({ shard, position: await endPosition(journal, shard) })));
  }

  async hasReadFormer(trigger: Trigger, layout: LayoutWithFormer): Promise<boolean> {
    for (const { source, start, end } of relayPlaces(trigger, layout, this.kvShards)) {
      if (end === undefined) continue;
      if ((await this.#takenOf(trigger.account, source)) < sequenceAfter(Math.max(start, end))) return false;
    }
    return true;
  }

  #positionsBefore(database: DatabaseId, layout: PartitionLayout, atMs: number): Promise<readonly TriggerStart[]> {
    const { journal } = this.ports;
    const shards = [...partitionsByShard(database, layout, this.kvShards).keys()];
    return Promise.all(shards.map(async (shard) => ({ shard, position: await positionBefore(journal, shard, atMs) })));
  }

  async #takenOf(account: AccountId, source: string): Promise<number> {
    const reply = await this.ports.queue.ask(account, { type: 'TakeOutbox', source, records: [] });
    return reply.type === 'OutboxTaken' ? reply.sequence : 0;
  }

  async #lagIn({ shard, source, start, end }: RelayPlace, account: AccountId): Promise<TriggerLag> {
    const { journal, clock } = this.ports;
    const taken = await this.#takenOf(account, source);
    const { position } = placeOf(Math.max(taken, sequenceAfter(start)));
    const { first, last: newest } = await journal.tail(shard);
    const last = end ?? newest;
    const entries = Math.max(0, last - position);
    const clockMs = entries === 0 ? undefined : await clockAfter(journal, shard, position);
    // A former layout that was read to its end need not be kept.
    const isLost = position + 1 < first && (end === undefined || position < end);
    const lagMs = clockMs === undefined ? 0 : Math.max(0, clock.nowMs() - clockMs);
    return { entries, lagMs, lost: isLost ? notKept(shard, position + 1).message : undefined };
  }
}

function beginningIn({ firstPartition = 0 }: PartitionLayout, starts: readonly TriggerStart[]): TriggerBeginning {
  return { starts, ...(firstPartition > 0 && { firstPartition }) };
}

function isEarlierLayout(): MillraceError {
  return new MillraceError('INVALID', 'from: the partitions of the database have been changed twice since then');
}

/** A change as any trigger may have it, to judge the destination and the options. */
function sampleOf(atMs: number): ChangedKey {
  const command = ['SET', 'key', 'value'] as ByteString[];
  const key = 'key' as ByteString;
  const effect = { key, event: 'set' as const, command };
  return { shard: 'KV_0' as ShardName, position: 1, index: 0, atMs, effect, key, before: undefined, after: undefined };
}
