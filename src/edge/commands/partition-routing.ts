/**
 * Sends admitted commands to the partitions of their keys, and returns the replies in the commands' order.
 *
 *  PRO1 a database of one partition gets all commands in one request, unchanged
 *  PRO2 the keys of one command, or of one transaction, are in one hash slot; otherwise CROSSSLOT
 *  PRO3 commands for one partition keep their order
 *  PRO4 a failed partition fails only its own commands; if every partition fails, the request fails
 */
import {
  answerTooLarge,
  type CommandSpec,
  ERRORS,
  type ErrorReply,
  keysOf,
  partitionOfSlot,
  type Reply,
} from '../../domain/kv/index.js';
import type { ByteString, PartitionName } from '../../kernel/index.js';
import type { KvGateway, KvGrant } from '../../ports/index.js';
import type { KvMode, KvRequest } from '../../protocol/index.js';
import { bytesOfCommands } from './admission.js';
import { closedFailure, LayoutChanges, type LayoutParts } from './layout-changes.js';
import {
  type AdmittedCommands,
  countOfLayout,
  type Portions,
  PortionsOfOne,
  type RequestDetails,
  type RoutedReplies,
} from './portions.js';
import { PortionsOfLayouts } from './portions-of-layouts.js';
import { MOVED, PortionsOfSeveral, slotOf } from './portions-of-several.js';

const NO_DETAILS: RequestDetails = {};

export class PartitionRouter {
  readonly #layouts: LayoutChanges;

  /** @param answersFor for databases in cluster mode: the partitions whose keys commands about all keys see */
  constructor(
    private readonly gateway: KvGateway,
    parts: LayoutParts,
    private readonly answersFor?: (partition: PartitionName) => boolean,
  ) {
    this.#layouts = new LayoutChanges(parts);
  }

  /** @throws MillraceError as the gateway does */
  run(
    grant: KvGrant,
    mode: KvMode,
    admitted: AdmittedCommands,
    details: RequestDetails = NO_DETAILS,
  ): Promise<RoutedReplies> {
    if (mode !== 'transaction' && (grant.partitions.length > 1 || this.#isNode(grant))) {
      return this.#ofOne(grant, mode, admitted, details) ?? this.#across(grant, mode, admitted, details);
    }
    //  PRO1 (one partition: one request), PRO2 (otherwise one hash slot)
    return this.gateway.execute(requestOf(grant, this.partitionOf(grant, admitted), mode, admitted, details));
  }

  /** The grant with the present partitions of the database. */
  present(grant: KvGrant): KvGrant {
    return this.#layouts.present(grant);
  }

  /** Runs a request again that closed partitions have refused. @throws the failure, if it has another cause */
  again<T>(failure: unknown, grant: KvGrant, run: (present: KvGrant) => Promise<T>): Promise<T> {
    return this.#layouts.again(failure, grant, run);
  }

  /** As `run`, for a request that closed partitions may have refused. @param details for the grant that it runs with */
  runAgain(
    failure: unknown,
    grant: KvGrant,
    mode: KvMode,
    admitted: AdmittedCommands,
    details: (present: KvGrant) => RequestDetails,
  ): Promise<RoutedReplies> {
    return this.again(failure, grant, async (present) => {
      const problem = mode === 'transaction' ? this.transactionProblem(present, admitted) : undefined;
      if (problem !== undefined) return { replies: [problem], syncToken: undefined, isAborted: true };
      return this.run(present, mode, admitted, details(present));
    });
  }

  /** The partition that runs a transaction or a command whose keys are in one slot. */
  partitionOf(grant: KvGrant, admitted: AdmittedCommands): PartitionName {
    const slot = grant.partitions.length > 1 ? slotOfAll(admitted) : undefined;
    const index = typeof slot === 'number' ? partitionOfSlot(slot, grant.partitions.length) : 0;
    return grant.partitions[index] as PartitionName;
  }

  /**
   * The error that discards a transaction in a database of several partitions (PRO2: all keys are in one hash slot).
   */
  transactionProblem(grant: KvGrant, admitted: AdmittedCommands): ErrorReply | undefined {
    if (grant.partitions.length === 1 && grant.isCluster !== true) return undefined;
    return slotOfAll(admitted) === 'several' ? ERRORS.crossSlot : undefined;
  }

  /** A pipeline whose replies are requested in portions, each after the client has read the one before. */
  portions(grant: KvGrant, admitted: AdmittedCommands): Portions {
    return new PortionsOfLayouts(this, grant, admitted, (present, rest) =>
      present.partitions.length > 1
        ? new PortionsOfSeveral(this.gateway, present, 'pipeline', rest)
        : new PortionsOfOne(this.gateway, { index: 0, mode: 'pipeline', ...rest }),
    );
  }

  #isNode({ isCluster }: KvGrant): boolean {
    return isCluster === true && this.answersFor !== undefined;
  }

  /** The usual request, a single command on keys of one slot, without the parts for several partitions. */
  #ofOne(
    grant: KvGrant,
    mode: KvMode,
    admitted: AdmittedCommands,
    details: RequestDetails,
  ): Promise<RoutedReplies> | undefined {
    if (admitted.commands.length !== 1) return undefined;
    const slot = slotOfAll(admitted);
    if (typeof slot !== 'number') return undefined;
    const index = partitionOfSlot(slot, grant.partitions.length);
    const partition = grant.partitions[index] as PartitionName;
    return this.gateway.execute(requestOf(grant, partition, mode, admitted, details)).then((response) => ({
      replies: response.replies,
      syncToken: `${index}:${response.syncToken}`,
      hasSaid: response.hasSaid,
      indexLag: response.indexLag,
      denials: response.denials,
    }));
  }

  async #across(
    grant: KvGrant,
    mode: KvMode,
    admitted: AdmittedCommands,
    details: RequestDetails,
  ): Promise<RoutedReplies> {
    const asked = this.#isNode(grant) ? this.answersFor : undefined;
    const portions = new PortionsOfSeveral(this.gateway, grant, mode, admitted, asked);
    const routed = await this.withMoved(await portions.next(grant, details), grant, admitted, details);
    if (portions.isOver) return routed;
    // Commands that were not run because of the answer's size get an error.
    return { ...routed, replies: [...routed.replies, ...portions.giveUp(answerTooLarge(details.maxAnswerBytes ?? 0))] };
  }

  /** Runs the commands that closed partitions have refused. @param admitted of the replies, and later ones */
  async withMoved(
    routed: RoutedReplies,
    grant: KvGrant,
    { specs, commands }: AdmittedCommands,
    details: RequestDetails,
  ): Promise<RoutedReplies> {
    if (!routed.replies.includes(MOVED)) return routed;
    const replies = [...routed.replies];
    const places = [...replies.keys()].filter((at) => replies[at] === MOVED);
    const moved = places.map((at) => commands[at] as readonly ByteString[]);
    const rest = {
      specs: places.map((at) => specs[at] as CommandSpec),
      commands: moved,
      bytes: bytesOfCommands(moved),
    };
    const own = () => ({ ...details, place: undefined });
    const again = await this.runAgain(closedFailure(), grant, 'pipeline', rest, own);
    for (const [at, place] of places.entries()) replies[place] = again.replies[at] as Reply;
    return { ...routed, replies };
  }
}

/** Copied field by field: a spread costs more than the rest of this function. */
function requestOf(
  grant: KvGrant,
  partition: PartitionName,
  mode: KvMode,
  { commands, bytes }: AdmittedCommands,
  { client, waiter, watches, trackFor, maxAnswerBytes, by, isGone, place, trace }: RequestDetails,
): KvRequest {
  return {
    database: grant.database,
    partition,
    mode,
    commands,
    bytes,
    client,
    waiter,
    watches,
    trackFor,
    maxAnswerBytes,
    by,
    isGone,
    place,
    partitions: countOfLayout(grant),
    firstPartition: grant.firstPartition,
    trace,
  };
}

/** The slot of all commands of a transaction; 'several' for a command about the whole keyspace. */
function slotOfAll({ specs, commands }: AdmittedCommands): number | 'several' | undefined {
  const keys: ByteString[] = [];
  for (let i = 0; i < commands.length; i += 1) {
    const spec = specs[i] as CommandSpec;
    if (spec.acrossPartitions !== undefined) return 'several';
    keys.push(...keysOf(spec, commands[i] as readonly ByteString[]));
  }
  return slotOf(keys);
}
