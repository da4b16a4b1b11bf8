/**
 * The journals that a trigger reads: those of the layout in which it begins, and after a change of the number of
 * partitions those of the next layout.
 *
 *  TLP1 the next layout is read when the account has all records of the former one, so that the records of a key are in
 *       order
 */
import type { Trigger, TriggerStart } from '../../domain/control/index.js';
import type { PartitionName, ShardName } from '../../kernel/index.js';
import type { LayoutWithFormer } from '../../ports/index.js';
import type { PartitionLayout } from '../../protocol/index.js';
import { partitionsByShard, positionIn, type ShardPartitions, sequenceAfter, sourceOf } from './trigger-position.js';

type Begun = Pick<Trigger, 'database' | 'starts' | 'firstPartition'>;

export interface LayoutPart {
  readonly firstPartition: number;
  readonly partitions: ShardPartitions;
  readonly starts: readonly TriggerStart[];
  /** The last position of each shard; undefined: it is the present layout. */
  readonly ends: readonly TriggerStart[] | undefined;
}

/** The layouts in the order of reading; the last one is the present one. */
export function layoutParts(begun: Begun, layout: LayoutWithFormer, kvShards: number): readonly LayoutPart[] {
  const { database, starts, firstPartition = 0 } = begun;
  const { former } = layout;
  const part = (one: PartitionLayout, from: readonly TriggerStart[], ends?: readonly TriggerStart[]) => {
    const partitions = partitionsByShard(database, one, kvShards);
    return { firstPartition: one.firstPartition ?? 0, partitions, starts: from, ends };
  };
  const isInFormer = former !== undefined && former.firstPartition === firstPartition;
  return isInFormer ? [part(former, starts, former.ends), part(layout, former.ends)] : [part(layout, starts)];
}

/** One journal that a relay reads for a trigger. */
export interface RelayPlace {
  readonly shard: ShardName;
  readonly partitions: ReadonlySet<PartitionName>;
  readonly source: string;
  /** It is read after this position, */
  readonly start: number;
  /** and up to this one; undefined: on and on. */
  readonly end: number | undefined;
  /** The trigger begins here, with a snapshot if it asks for one. */
  readonly isFirst: boolean;
  /** Sources, and the sequences that the account must have of them before (TLP1). */
  readonly after: readonly (readonly [source: string, sequence: number])[];
}

export function relayPlaces(
  trigger: Begun & Pick<Trigger, 'id'>,
  layout: LayoutWithFormer,
  kvShards: number,
): readonly RelayPlace[] {
  let after: RelayPlace['after'] = [];
  return layoutParts(trigger, layout, kvShards).flatMap(({ firstPartition, partitions, starts, ends }, at) => {
    const earlier = after;
    const places = [...partitions].map(([shard, own]) => ({
      shard,
      partitions: own,
      source: sourceOf(trigger.id, shard, firstPartition),
      start: positionIn(starts, shard),
      end: ends && positionIn(ends, shard),
      isFirst: at === 0,
      after: earlier,
    }));
    after = places.map(({ source, start, end = 0 }) => [source, sequenceAfter(Math.max(start, end))] as const);
    return places;
  });
}
