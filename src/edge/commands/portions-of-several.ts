/**
 * The replies of commands for several partitions: the commands are distributed, and the partitions' replies are merged
 * into one reply per command.
 *
 *  POR2 a failed partition fails only its own commands; if every partition fails in the first portion, the request
 *       fails
 *  PP1 commands for one partition keep their order, and each is sent once
 *  PP2 a partition gets no further request while some of its replies wait for those of other partitions: waiting
 *      replies are bounded
 */
import {
  acrossIndex,
  answerTooLarge,
  type CommandSpec,
  ERRORS,
  ErrorReply,
  hashSlot,
  type IndexQuestion,
  type IndexSteps,
  keysOf,
  partitionOfSlot,
  type Reply,
} from '../../domain/kv/index.js';
import type { ByteString, PartitionName } from '../../kernel/index.js';
import type { KvGateway, KvGrant } from '../../ports/index.js';
import type { KvMode, KvResponse, PartitionLayout } from '../../protocol/index.js';
import { nativeRefusalOf, refusalOf } from '../error-map.js';
import { bytesOfCommands } from './admission.js';
import { continueScan, type Merge, mergeOf, routeScan } from './fan-out.js';
import { isClosed } from './layout-changes.js';
import {
  type AdmittedCommands,
  countOfLayout,
  type Portions,
  PortionsOfOne,
  type RequestDetails,
  type RoutedReplies,
} from './portions.js';

/** The commands for one partition, and its replies so far. */
interface PartitionShare {
  readonly portions: PortionsOfOne;
  /** One for each answered command; null after it was merged into a command's reply. */
  readonly replies: Reply[];
  merged: number;
}

/** How one command's reply is made from the partitions' replies. */
interface Recipe {
  /** Places in the commands of a partition. */
  readonly parts: readonly { readonly partition: number; readonly position: number }[];
  readonly make: Merge;
  /** The command takes further steps: the parts are the replies to its first question. */
  readonly steps?: IndexSteps;
}

/** Asks partitions, for the further steps of a command. @returns the replies of each */
type Ask = (question: IndexQuestion) => Promise<readonly (readonly Reply[])[]>;

/** A command after its first step. */
class BegunSteps {
  constructor(
    private readonly steps: IndexSteps,
    private readonly replies: readonly (readonly Reply[])[],
  ) {}

  async end(ask: Ask): Promise<Reply> {
    let step = this.steps.next(this.replies);
    while (step.done !== true) step = this.steps.next(await ask(step.value));
    return step.value;
  }
}

const ONLY: Merge = ([reply]) => reply as Reply;
/** Stands for the reply of a command that a closed partition has refused. */
export const MOVED = new ErrorReply('ERR database is changing its partitions, nothing was executed');
const NO_MORE_KEYS: Reply = ['0', []];
/** In cluster mode, at a process without slots of the database. */
const NO_SLOTS = new ErrorReply('ERR this node has no slots of the database: ask the nodes of CLUSTER SLOTS');

export class PortionsOfSeveral implements Portions {
  readonly #shares: readonly PartitionShare[];
  readonly #recipes: readonly Recipe[];
  #made = 0;
  #isFirst = true;

  /** @param isAsked the partitions that commands about all keys ask; default: all */
  constructor(
    private readonly gateway: KvGateway,
    { partitions, firstPartition }: KvGrant,
    mode: KvMode,
    { specs, commands }: AdmittedCommands,
    isAsked?: (partition: PartitionName) => boolean,
  ) {
    const byPartition: (readonly ByteString[])[][] = partitions.map(() => []);
    const asked = () => [...partitions.keys()].filter((index) => isAsked?.(partitions[index] as PartitionName) ?? true);
    const among = { asked, layout: { partitions: partitions.length, firstPartition } };
    this.#recipes = commands.map((words, at) => recipeOf(byPartition, specs[at] as CommandSpec, words, among));
    this.#shares = byPartition.map((own, index) => {
      const given = { index, mode, commands: own, bytes: bytesOfCommands(own) };
      return { portions: new PortionsOfOne(gateway, given), replies: [], merged: 0 };
    });
  }

  get isOver(): boolean {
    return this.#made === this.#recipes.length;
  }

  async next(grant: KvGrant, details: RequestDetails): Promise<RoutedReplies> {
    const shares = this.#shares;
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    const { maxAnswerBytes: most } = details;
    // An equal share for each: it is not known in advance which partitions have the large replies.
    const own = most === undefined ? details : { ...details, maxAnswerBytes: Math.ceil(most / shares.length) };
    const settled = await Promise.allSettled(shares.map((share) => ask(share, grant, own)));
    const syncTokens: (string | undefined)[] = [];
    const isNative = details.client?.face === 'resp';
    let failure: unknown;
    settled.forEach((outcome, index) => {
      const { portions, replies } = shares[index] as PartitionShare;
      if (outcome.status === 'rejected') {
        const { reason } = outcome;
        // A request is sent again only if each of its partitions was closed.
        if (failure === undefined || !isClosed(reason)) failure = reason;
        const { text } = isNative ? nativeRefusalOf(reason, false) : refusalOf(reason);
        // POR2 (a failed partition fails only its own commands)
        const refusal = isClosed(reason) ? MOVED : new ErrorReply(text);
        for (const refused of portions.giveUp(refusal)) replies.push(refused);
      } else if (outcome.value !== undefined) {
        for (const reply of outcome.value.replies) replies.push(reply);
        syncTokens[index] = outcome.value.syncToken;
      }
    });
    const syncToken = joinSyncTokens(syncTokens);
    if (isFirst && failure !== undefined && syncToken === undefined) throw failure;
    const denials = settled.flatMap((outcome) => (outcome.status === 'fulfilled' && outcome.value?.denials) || []);
    const hasSaid = settled.some((outcome) => outcome.status === 'fulfilled' && outcome.value?.hasSaid === true);
    // That of the last step, which has the answers.
    let lags = settled.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value?.indexLag : undefined));
    const askParts: Ask = (question) => {
      lags = [];
      return this.#ask(question, grant, own, lags);
    };
    const replies: Reply[] = [];
    for (const made of this.#makeReplies()) replies.push(made instanceof BegunSteps ? await made.end(askParts) : made);
    const known = lags.filter((lag) => lag !== undefined);
    const indexLag = known.length === 0 ? undefined : known.reduce((sum, lag) => sum + lag, 0);
    return { replies, syncToken, hasSaid, indexLag, ...(denials.length === 0 ? {} : { denials }) };
  }

  giveUp(refusal: ErrorReply): readonly Reply[] {
    for (const { portions, replies } of this.#shares) for (const reply of portions.giveUp(refusal)) replies.push(reply);
    return this.#makeReplies().map((made) => (made instanceof BegunSteps ? refusal : made));
  }

  /**
   * The replies of all partitions asked to the commands of a further step; a failed partition's are refusals.
   * @param lags is told those of the indexes
   */
  #ask(
    question: IndexQuestion,
    grant: KvGrant,
    details: RequestDetails,
    lags: (number | undefined)[],
  ): Promise<readonly (readonly Reply[])[]> {
    const { database, partitions } = grant;
    const { client, isGone, trace, maxAnswerBytes } = details;
    const asked = partitionsOf(question, partitions.length).map(async (index): Promise<readonly Reply[]> => {
      const commands = question.commandsFor(index);
      if (commands.length === 0) return [];
      const partition = partitions[index] as PartitionName;
      const bytes = bytesOfCommands(commands);
      const given = { database, partition, mode: 'pipeline', commands, bytes, client, isGone, trace } as const;
      try {
        const request = {
          ...given,
          maxAnswerBytes,
          partitions: countOfLayout(grant),
          firstPartition: grant.firstPartition,
        };
        const { replies, indexLag } = await this.gateway.execute(request);
        lags.push(indexLag);
        const missing = commands.length - replies.length;
        return [...replies, ...new Array<Reply>(missing).fill(answerTooLarge(maxAnswerBytes ?? 0))];
      } catch (failure) {
        const { text } = client?.face === 'resp' ? nativeRefusalOf(failure, false) : refusalOf(failure);
        return new Array<Reply>(commands.length).fill(new ErrorReply(text));
      }
    });
    return Promise.all(asked);
  }

  /** The replies of the next commands, up to the first one with a missing partition reply. */
  #makeReplies(): (Reply | BegunSteps)[] {
    const made: (Reply | BegunSteps)[] = [];
    for (; this.#made < this.#recipes.length; this.#made += 1) {
      const { parts, make, steps } = this.#recipes[this.#made] as Recipe;
      const shares = parts.map(({ partition }) => this.#shares[partition] as PartitionShare);
      if (!parts.every(({ position }, at) => position < (shares[at] as PartitionShare).replies.length)) break;
      const replies = parts.map(({ position }, at) => take(shares[at] as PartitionShare, position));
      made.push(steps === undefined ? make(replies) : new BegunSteps(steps, repliesByPartition(parts, replies)));
    }
    return made;
  }
}

/** @returns undefined if no commands are left to send, or replies wait (PP2: waiting replies are bounded) */
async function ask(
  { portions, replies, merged }: PartitionShare,
  grant: KvGrant,
  details: RequestDetails,
): Promise<KvResponse | undefined> {
  return portions.isOver || merged < replies.length ? undefined : portions.next(grant, details);
}

function take(share: PartitionShare, position: number): Reply {
  const reply = share.replies[position] as Reply;
  share.replies[position] = null;
  share.merged += 1;
  return reply;
}

/** Adds the command to the commands of its partitions. @param among the partitions of commands about all keys */
function recipeOf(
  byPartition: (readonly ByteString[])[][],
  spec: CommandSpec,
  words: readonly ByteString[],
  { asked, layout }: { readonly asked: () => readonly number[]; readonly layout: PartitionLayout },
): Recipe {
  const count = layout.partitions;
  const partOf = (partition: number, own: readonly ByteString[]) => {
    const commands = byPartition[partition] as (readonly ByteString[])[];
    return { partition, position: commands.push(own) - 1 };
  };
  const { acrossPartitions: how } = spec;
  if (how === 'walk') {
    const among = asked();
    const { partition: named, words: own } = routeScan(words, layout);
    // A partition whose scan has begun is finished here, even if it has moved since.
    const partition = own[1] === '0' ? among.find((index) => index >= named) : named;
    if (partition === undefined) return { parts: [], make: () => NO_MORE_KEYS };
    return {
      parts: [partOf(partition, own)],
      make: ([reply]) => continueScan(reply as Reply, partition, layout, among),
    };
  }
  if (how === 'index') {
    const steps = acrossIndex(words);
    const { value, done } = steps.next([]);
    if (done === true) return { parts: [], make: () => value };
    const parts = partitionsOf(value, count).flatMap((index) =>
      value.commandsFor(index).map((own) => partOf(index, own)),
    );
    return { parts, make: ONLY, steps };
  }
  if (how !== undefined) {
    const among = asked();
    const hasNoReply = among.length === 0 && (how === 'first' || how === 'succeeded');
    return { parts: among.map((index) => partOf(index, words)), make: hasNoReply ? () => NO_SLOTS : mergeOf(how) };
  }
  const slot = slotOf(keysOf(spec, words));
  if (slot === 'several') return { parts: [], make: () => ERRORS.crossSlot };
  return { parts: [partOf(slot === undefined ? 0 : partitionOfSlot(slot, count), words)], make: ONLY };
}

function partitionsOf({ key }: IndexQuestion, count: number): readonly number[] {
  return key === undefined ? [...Array(count).keys()] : [partitionOfSlot(hashSlot(key), count)];
}

/** The replies in the order of partitions, those of one partition together. */
function repliesByPartition(parts: Recipe['parts'], replies: readonly Reply[]): readonly (readonly Reply[])[] {
  const grouped = new Map<number, Reply[]>();
  for (const [at, { partition }] of parts.entries()) {
    const own = grouped.get(partition);
    if (own === undefined) grouped.set(partition, [replies[at] as Reply]);
    else own.push(replies[at] as Reply);
  }
  return [...grouped.values()];
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

/** The slot of a list of keys; undefined without keys. */
export function slotOf(keys: readonly ByteString[]): number | 'several' | undefined {
  let slot: number | undefined;
  for (const key of keys) {
    const own = hashSlot(key);
    if (slot !== undefined && own !== slot) return 'several';
    slot = own;
  }
  return slot;
}
