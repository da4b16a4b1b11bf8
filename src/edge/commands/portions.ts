/**
 * The replies of commands for one partition, requested in portions.
 *
 *  POR1 a portion has the replies of the next commands: at least one, and about as many bytes as requested. In a
 *       database of one partition no later command has run; in one of several, later replies take at most one portion
 */
import type { CommandSpec, ErrorReply, Reply } from '../../domain/kv/index.js';
import { type ByteString, MillraceError, type PartitionName } from '../../kernel/index.js';
import type { KvGateway, KvGrant } from '../../ports/index.js';
import type { KvMode, KvRequest, KvResponse, ScriptDenial } from '../../protocol/index.js';
import { bytesOfCommands } from './admission.js';
import { COMMANDS_OF_LATER_PORTIONS } from './command-limits.js';

/** Permitted commands, with their rows. */
export interface AdmittedCommands {
  readonly specs: readonly CommandSpec[];
  readonly commands: readonly (readonly ByteString[])[];
  readonly bytes: number;
}

export interface RoutedReplies {
  /** One per command, in order; fewer when the answer reached its limit, in a database of one partition. */
  readonly replies: readonly Reply[];
  /** Undefined if no partition was asked. */
  readonly syncToken: string | undefined;
  /** A transaction that did not run; see KvResponse. */
  readonly isAborted?: boolean | undefined;
  /** See KvResponse; only for databases of one partition. */
  readonly isFull?: boolean | undefined;
  /** See KvResponse; only for databases of one partition. */
  readonly scriptReads?: readonly ByteString[] | undefined;
  /** See KvResponse. */
  readonly denials?: readonly ScriptDenial[] | undefined;
  readonly hasSaid?: boolean | undefined;
  /** See KvResponse; only for databases of one partition. */
  readonly slowerThanMicros?: number | undefined;
  /** See KvResponse. */
  readonly indexLag?: number | undefined;
}

/** Fields of a request other than its commands. */
export type RequestDetails = Pick<
  KvRequest,
  'client' | 'waiter' | 'watches' | 'trackFor' | 'maxAnswerBytes' | 'by' | 'isGone' | 'place' | 'trace'
>;

export interface Portions {
  /** Every command has its reply. */
  readonly isOver: boolean;
  /**
   * @param grant the client's current grant
   * @throws MillraceError as the gateway does; its code says whether the remaining commands may have run
   */
  next(grant: KvGrant, details: RequestDetails): Promise<RoutedReplies>;
  /** @returns the replies of all remaining commands; those that did not run get the refusal */
  giveUp(refusal: ErrorReply): readonly Reply[];
}

/** Commands that are sent to one partition together. */
export interface CommandsOfPartition {
  /** The partition's place in the grant. */
  readonly index: number;
  readonly mode: KvMode;
  readonly commands: readonly (readonly ByteString[])[];
  readonly bytes: number;
}

export class PortionsOfOne implements Portions {
  #answered = 0;

  constructor(
    private readonly gateway: KvGateway,
    private readonly given: CommandsOfPartition,
  ) {}

  get isOver(): boolean {
    return this.#answered >= this.given.commands.length;
  }

  async next(grant: KvGrant, details: RequestDetails): Promise<KvResponse> {
    const { index, mode, ...given } = this.given;
    const { firstPartition } = grant;
    const { database, partitions } = grant;
    const from = this.#answered;
    const isFirst = from === 0;
    const commands = isFirst ? given.commands : given.commands.slice(from, from + COMMANDS_OF_LATER_PORTIONS);
    const bytes = isFirst ? given.bytes : bytesOfCommands(commands);
    const partition = partitions[index] as PartitionName;
    const request = { database, partition, mode, commands, bytes, partitions: countOfLayout(grant), firstPartition };
    const response = await this.gateway.execute({ ...request, ...details });
    this.#answered += atLeastOne(response).replies.length;
    return response;
  }

  giveUp(refusal: ErrorReply): readonly Reply[] {
    const { length } = this.given.commands;
    const left = length - this.#answered;
    this.#answered = length;
    return new Array(left).fill(refusal);
  }
}

/** `KvRequest.partitions`: needed by scripts, and by cursors of SCAN in a layout that was changed. */
export function countOfLayout({ partitions: { length }, firstPartition = 0 }: KvGrant): number | undefined {
  return length > 1 || firstPartition > 0 ? length : undefined;
}

/** A partition without an answer would be asked for ever. */
function atLeastOne(response: KvResponse): KvResponse {
  if (response.replies.length === 0) throw new MillraceError('DEFECT', 'a partition has answered no command');
  return response;
}
