/**
 * The commands of one pipeline on their way to partitions and back, a portion of the answer at a time.
 *
 * Invariants
 *  POR1 a portion is the replies of the next commands, one at least, and about as much as is asked for. Of what stands
 *       behind it a database of one partition has run nothing, and one of several no more than fits into a portion
 *  POR2 a partition that fails spoils its own commands only; when none answers at first, the failure is the request's
 */
import { ErrorReply, type Reply } from '../../domain/kv/index.js';
import { MillraceError, type PartitionName } from '../../kernel/index.js';
import type { KvMode, KvResponse } from '../../messages/index.js';
import type { KvGateway, KvGrant } from '../../ports/index.js';
import { refusalOf } from '../error-map.js';
import { COMMANDS_OF_LATER_PORTIONS } from './command-limits.js';
import { bytesOfCommands, PartitionPlan, type Share } from './partition-plan.js';
import type { AdmittedCommands, RequestDetails, RoutedReplies } from './partition-routing.js';

export interface Portions {
  /** Every command has its reply. */
  readonly isOver: boolean;
  /**
   * @param grant the current one of who asks
   * @throws MillraceError as the gateway does: the commands that are left may have been run or not, as it says
   */
  next(grant: KvGrant, details: RequestDetails): Promise<RoutedReplies>;
  /** @returns the replies of all commands that are left: those that were not run are refused */
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
    // An even part each; who has the large ones is not known before.
    const own = most === undefined ? details : { ...details, maxAnswerBytes: Math.ceil(most / shares.length) };
    const settled = await Promise.allSettled(shares.map((share, index) => this.#ask(share, index, grant, own)));
    const syncTokens: (string | undefined)[] = [];
    let failure: unknown;
    settled.forEach((outcome, index) => {
      const share = shares[index] as Share;
      if (outcome.status === 'rejected') {
        failure = outcome.reason;
        share.giveUp(new ErrorReply(refusalOf(failure).text)); // POR2
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
    share: Share,
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

/** Whoever answers nothing would be asked for ever. */
function atLeastOne(response: KvResponse): KvResponse {
  if (response.replies.length === 0) throw new MillraceError('DEFECT', 'a partition has answered no command');
  return response;
}

/**
 * The opaque token of the last write that an answer of several partitions has seen: each partition's with its index, so
 * that two partitions at the same position give different ones. Reads here are linearizable, so whatever a client sends
 * back is accepted and needs no waiting for; the token only has to move with every write. Undefined when none was asked.
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
