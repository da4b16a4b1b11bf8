/**
 * The replies of one pipeline, requested from the partitions in portions.
 *
 *  POR1 a portion has the replies of the next commands: at least one, and about as many bytes as requested. In a
 *       database of one partition no later command has run; in one of several, later replies take at most one portion
 *  POR2 a failed partition fails only its own commands; if every partition fails in the first portion, the request
 *       fails
 */
import { type CommandSpec, ErrorReply, type Reply } from '../../domain/kv/index.js';
import { type ByteString, MillraceError, type PartitionName } from '../../kernel/index.js';
import type { KvGateway, KvGrant } from '../../ports/index.js';
import type { KvMode, KvRequest, KvResponse, ScriptDenial } from '../../protocol/index.js';
import { nativeRefusalOf, refusalOf } from '../error-map.js';
import { COMMANDS_OF_LATER_PORTIONS } from './command-limits.js';
import { bytesOfCommands, type PartitionCommands, PartitionPlan } from './partition-plan.js';

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
}

/** Fields of a request other than its commands. */
export type RequestDetails = Pick<
  KvRequest,
  'client' | 'waiter' | 'watches' | 'trackFor' | 'maxAnswerBytes' | 'isGone' | 'place' | 'trace'
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

export class PortionsOfOne implements Portions {
  #answered = 0;

  constructor(
    private readonly gateway: KvGateway,
    private readonly admitted: AdmittedCommands,
  ) {}

  get isOver(): boolean {
    return this.#answered >= this.admitted.commands.length;
  }

  async next({ database, partitions }: KvGrant, details: RequestDetails): Promise<RoutedReplies> {
    const { admitted } = this;
    const from = this.#answered;
    const isFirst = from === 0;
    const commands = isFirst ? admitted.commands : admitted.commands.slice(from, from + COMMANDS_OF_LATER_PORTIONS);
    const bytes = isFirst ? admitted.bytes : bytesOfCommands(commands);
    const partition = partitions[0] as PartitionName;
    const routed = await this.gateway.execute({ database, partition, mode: 'pipeline', commands, bytes, ...details });
    this.#answered += atLeastOne(routed).replies.length;
    return routed;
  }

  giveUp(refusal: ErrorReply): readonly Reply[] {
    const { length } = this.admitted.commands;
    const left = length - this.#answered;
    this.#answered = length;
    return new Array(left).fill(refusal);
  }
}

export class PortionsOfSeveral implements Portions {
  readonly #plan: PartitionPlan;
  #isFirst = true;

  constructor(
    private readonly gateway: KvGateway,
    { partitions }: KvGrant,
    private readonly mode: KvMode,
    { specs, commands }: AdmittedCommands,
  ) {
    this.#plan = new PartitionPlan(partitions.length);
    commands.forEach((words, at) => {
      this.#plan.add(specs[at] as AdmittedCommands['specs'][number], words);
    });
  }

  get isOver(): boolean {
    return this.#plan.isOver;
  }

  async next(grant: KvGrant, details: RequestDetails): Promise<RoutedReplies> {
    const { shares } = this.#plan;
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    const { maxAnswerBytes: most } = details;
    // An equal share for each: it is not known in advance which partitions have the large replies.
    const own = most === undefined ? details : { ...details, maxAnswerBytes: Math.ceil(most / shares.length) };
    const settled = await Promise.allSettled(shares.map((share, index) => this.#ask(share, index, grant, own)));
    const syncTokens: (string | undefined)[] = [];
    const isNative = details.client?.face === 'resp';
    let failure: unknown;
    settled.forEach((outcome, index) => {
      const share = shares[index] as PartitionCommands;
      if (outcome.status === 'rejected') {
        failure = outcome.reason;
        const { text } = isNative ? nativeRefusalOf(failure, false) : refusalOf(failure);
        share.giveUp(new ErrorReply(text)); // POR2 (a failed partition fails only its own commands)
      } else if (outcome.value !== undefined) {
        share.answer(outcome.value.replies);
        syncTokens[index] = outcome.value.syncToken;
      }
    });
    const syncToken = joinSyncTokens(syncTokens);
    if (isFirst && failure !== undefined && syncToken === undefined) throw failure;
    const denials = settled.flatMap((outcome) => (outcome.status === 'fulfilled' && outcome.value?.denials) || []);
    const hasSaid = settled.some((outcome) => outcome.status === 'fulfilled' && outcome.value?.hasSaid === true);
    return { replies: this.#plan.makeReplies(), syncToken, hasSaid, ...(denials.length === 0 ? {} : { denials }) };
  }

  giveUp(refusal: ErrorReply): readonly Reply[] {
    for (const share of this.#plan.shares) share.giveUp(refusal);
    return this.#plan.makeReplies();
  }

  async #ask(
    share: PartitionCommands,
    index: number,
    { database, partitions }: KvGrant,
    details: RequestDetails,
  ): Promise<KvResponse | undefined> {
    if (!share.isDue) return undefined;
    const commands = share.next(COMMANDS_OF_LATER_PORTIONS);
    const bytes = bytesOfCommands(commands);
    const partition = partitions[index] as PartitionName;
    const request = { database, partition, mode: this.mode, commands, bytes, partitions: partitions.length };
    return atLeastOne(await this.gateway.execute({ ...request, ...details }));
  }
}

/** A partition without an answer would be asked for ever. */
function atLeastOne(response: KvResponse): KvResponse {
  if (response.replies.length === 0) throw new MillraceError('DEFECT', 'a partition has answered no command');
  return response;
}

/**
 * The sync token of an answer from several partitions: each partition's token with its index, so that two partitions
 * at the same position give different tokens. Reads are linearizable, so a token that a client sends back needs no
 * wait; the token only has to change with every write. Undefined if no partition was asked.
 * @param tokens in order of partition, undefined for one that was not asked
 */
export function joinSyncTokens(tokens: readonly (string | undefined)[]): string | undefined {
  let joined: string | undefined;
  for (let index = 0; index < tokens.length; index += 1) {
    const token = tokens[index];
    if (token !== undefined) joined = `${joined === undefined ? '' : `${joined},`}${index}:${token}`;
  }
  return joined;
}
