/**
 * From admitted commands to the partitions that hold their keys, and back to replies in the commands' order.
 *
 * Invariants
 *  PRO1 a database of one partition is asked as it is: one request, one answer, nothing rearranged
 *  PRO2 keys of one command lie in one hash slot, those of a transaction too; otherwise CROSSSLOT
 *  PRO3 commands for one partition keep their order
 *  PRO4 a partition that fails spoils its own commands only; when none answers, the failure is the request's
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
import type { KvMode, KvRequest, ScriptDenial } from '../../messages/index.js';
import type { KvGateway, KvGrant } from '../../ports/index.js';
import { slotOf } from './partition-plan.js';
import { type Portions, PortionsOfOne, PortionsOfSeveral } from './portions.js';

/** Commands that may run, with their rows. */
export interface AdmittedCommands {
  readonly specs: readonly CommandSpec[];
  readonly commands: readonly (readonly ByteString[])[];
  readonly bytes: number;
}

export interface RoutedReplies {
  /** One for each command, in order; fewer where a bound of the answer came first, in a database of one partition. */
  readonly replies: readonly Reply[];
  /** Undefined when no partition was asked. */
  readonly syncToken: string | undefined;
  /** A transaction that did not run; see KvResponse. */
  readonly isAborted?: boolean | undefined;
  /** See KvResponse; said by databases of one partition. */
  readonly isFull?: boolean | undefined;
  /** See KvResponse; said by databases of one partition. */
  readonly scriptReads?: readonly ByteString[] | undefined;
  /** See KvResponse. */
  readonly denials?: readonly ScriptDenial[] | undefined;
  readonly hasSaid?: boolean | undefined;
}

/** What a request says beside its commands. */
export type RequestDetails = Pick<
  KvRequest,
  'client' | 'waiter' | 'watches' | 'trackFor' | 'maxAnswerBytes' | 'isGone' | 'place' | 'trace'
>;

const NO_DETAILS: RequestDetails = {};

export class PartitionRouter {
  constructor(private readonly gateway: KvGateway) {}

  /** @throws MillraceError as the gateway does */
  run(
    grant: KvGrant,
    mode: KvMode,
    admitted: AdmittedCommands,
    details: RequestDetails = NO_DETAILS,
  ): Promise<RoutedReplies> {
    if (grant.partitions.length > 1 && mode !== 'transaction') return this.#across(grant, mode, admitted, details);
    return this.gateway.execute(requestOf(grant, this.partitionOf(grant, admitted), mode, admitted, details)); // PRO1, PRO2
  }

  /** Where a transaction, or a command with keys of one slot, is run. */
  partitionOf(grant: KvGrant, admitted: AdmittedCommands): PartitionName {
    const slot = grant.partitions.length > 1 ? slotOfAll(admitted) : undefined;
    const index = typeof slot === 'number' ? partitionOfSlot(slot, grant.partitions.length) : 0;
    return grant.partitions[index] as PartitionName;
  }

  /** The problem that discards a transaction in a database of several partitions (PRO2). */
  transactionProblem(grant: KvGrant, admitted: AdmittedCommands): ErrorReply | undefined {
    if (grant.partitions.length === 1) return undefined;
    return slotOfAll(admitted) === 'several' ? ERRORS.crossSlot : undefined;
  }

  /** A pipeline whose portions are asked for one after the other, each once the one before has been read. */
  portions(grant: KvGrant, admitted: AdmittedCommands): Portions {
    return grant.partitions.length > 1
      ? new PortionsOfSeveral(this.gateway, grant, 'pipeline', admitted)
      : new PortionsOfOne(this.gateway, admitted);
  }

  async #across(
    grant: KvGrant,
    mode: KvMode,
    admitted: AdmittedCommands,
    details: RequestDetails,
  ): Promise<RoutedReplies> {
    const portions = new PortionsOfSeveral(this.gateway, grant, mode, admitted);
    const routed = await portions.next(grant, details);
    if (portions.isOver) return routed;
    // What was not run for the sake of the answer's size is said to be so.
    return { ...routed, replies: [...routed.replies, ...portions.giveUp(answerTooLarge(details.maxAnswerBytes ?? 0))] };
  }
}

/** Put together by name: to spread the details takes longer than all else that is done here. */
function requestOf(
  { database, partitions }: KvGrant,
  partition: PartitionName,
  mode: KvMode,
  { commands, bytes }: AdmittedCommands,
  { client, waiter, watches, trackFor, maxAnswerBytes, isGone, place, trace }: RequestDetails,
): KvRequest {
  return {
    database,
    partition,
    mode,
    commands,
    bytes,
    client,
    waiter,
    watches,
    trackFor,
    maxAnswerBytes,
    isGone,
    place,
    partitions: countOfSeveral(partitions),
    trace,
  };
}

/** `KvRequest.partitions` */
export function countOfSeveral({ length }: KvGrant['partitions']): number | undefined {
  return length > 1 ? length : undefined;
}

/** The slot of all commands of a transaction; what concerns every key concerns every slot. */
function slotOfAll({ specs, commands }: AdmittedCommands): number | 'several' | undefined {
  const keys: ByteString[] = [];
  for (let i = 0; i < commands.length; i += 1) {
    const spec = specs[i] as CommandSpec;
    if (spec.acrossPartitions !== undefined) return 'several';
    keys.push(...keysOf(spec, commands[i] as readonly ByteString[]));
  }
  return slotOf(keys);
}
