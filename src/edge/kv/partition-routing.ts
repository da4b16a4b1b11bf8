/**
 * From admitted commands to the partitions that hold their keys, and back to replies in the commands' order.
 *
 * Invariants
 *  P1 a database of one partition is asked as it is: one request, one answer, nothing rearranged
 *  P2 keys of one command lie in one hash slot, those of a transaction too; otherwise CROSSSLOT
 *  P3 commands for one partition keep their order
 *  P4 a partition that fails spoils its own commands only; when none answers, the failure is the request's
 */
import {
  answerTooLarge,
  type CommandSpec,
  ERRORS,
  ErrorReply,
  hashSlot,
  keysOf,
  partitionOfSlot,
  type Reply,
} from '../../domain/kv/index.js';
import type { ByteString, PartitionName } from '../../kernel/index.js';
import type { KvMode, KvRequest, ScriptDenial } from '../../messages/index.js';
import type { KvGateway, KvGrant } from '../../ports/index.js';
import { refusalOf } from '../error-map.js';
import { bytesOfWords } from './admission.js';
import { continueScan, fanOutOf, type Merge, routeScan } from './fan-out.js';
import { joinSyncTokens } from './sync-token.js';

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
  'client' | 'waiter' | 'watches' | 'trackFor' | 'maxAnswerBytes' | 'isGone'
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
    if (grant.partitions.length > 1) {
      return mode === 'transaction'
        ? this.#inOneSlot(grant, admitted, details)
        : this.#across(grant, mode, admitted, details);
    }
    const { commands, bytes } = admitted;
    const partition = grant.partitions[0] as PartitionName;
    return this.gateway.execute({ database: grant.database, partition, mode, commands, bytes, ...details }); // P1
  }

  /** Where a transaction, or a command with keys of one slot, is run. */
  partitionOf(grant: KvGrant, admitted: AdmittedCommands): PartitionName {
    const slot = grant.partitions.length > 1 ? slotOfAll(admitted) : undefined;
    const index = typeof slot === 'number' ? partitionOfSlot(slot, grant.partitions.length) : 0;
    return grant.partitions[index] as PartitionName;
  }

  /** The problem that discards a transaction in a database of several partitions (P2). */
  transactionProblem(grant: KvGrant, admitted: AdmittedCommands): ErrorReply | undefined {
    if (grant.partitions.length === 1) return undefined;
    return slotOfAll(admitted) === 'several' ? ERRORS.crossSlot : undefined;
  }

  #inOneSlot(grant: KvGrant, admitted: AdmittedCommands, details: RequestDetails): Promise<RoutedReplies> {
    const partition = this.partitionOf(grant, admitted);
    const { commands, bytes } = admitted;
    return this.gateway.execute({
      database: grant.database,
      partition,
      mode: 'transaction',
      commands,
      bytes,
      ...details,
    });
  }

  async #across(
    grant: KvGrant,
    mode: KvMode,
    { specs, commands }: AdmittedCommands,
    details: RequestDetails,
  ): Promise<RoutedReplies> {
    const plan = new Plan(grant.partitions.length);
    for (let i = 0; i < commands.length; i += 1) plan.add(specs[i] as CommandSpec, commands[i] as ByteString[]);
    const { maxAnswerBytes: most } = details;
    // An even part each; who has the large ones is not known before.
    const own =
      most === undefined ? details : { ...details, maxAnswerBytes: Math.ceil(most / grant.partitions.length) };
    const asked = plan.shares.map(async (share, index) => {
      if (share.commands.length === 0) return undefined;
      const { commands, bytes } = share;
      const partition = grant.partitions[index] as PartitionName;
      return this.gateway.execute({ database: grant.database, partition, mode, commands, bytes, ...own });
    });
    const settled = await Promise.allSettled(asked);
    const answers: (readonly Reply[])[] = [];
    const syncTokens: (string | undefined)[] = [];
    let failure: unknown;
    settled.forEach((outcome, index) => {
      if (outcome.status === 'rejected') {
        failure = outcome.reason;
        const { text } = refusalOf(failure);
        answers[index] = (plan.shares[index] as Share).commands.map(() => new ErrorReply(text)); // P4
      } else {
        answers[index] = filledUp(outcome.value?.replies ?? [], plan.shares[index] as Share, most);
        syncTokens[index] = outcome.value?.syncToken;
      }
    });
    const syncToken = joinSyncTokens(syncTokens);
    if (failure !== undefined && syncToken === undefined) throw failure;
    const denials = settled.flatMap((outcome) => (outcome.status === 'fulfilled' && outcome.value?.denials) || []);
    const hasSaid = settled.some((outcome) => outcome.status === 'fulfilled' && outcome.value?.hasSaid === true);
    return { replies: plan.assemble(answers), syncToken, hasSaid, ...(denials.length === 0 ? {} : { denials }) };
  }
}

/** What was not run for the sake of the answer's size is said to be so. */
function filledUp(replies: readonly Reply[], { commands }: Share, maxBytes: number | undefined): readonly Reply[] {
  if (maxBytes === undefined || replies.length === commands.length) return replies;
  return commands.map((_, at) => (at < replies.length ? (replies[at] as Reply) : answerTooLarge(maxBytes)));
}

/** What one partition is asked. */
interface Share {
  readonly commands: (readonly ByteString[])[];
  bytes: number;
}

/** Makes one command's reply from the partitions' answers. */
type Take = (answers: readonly (readonly Reply[])[]) => Reply;

class Plan {
  readonly shares: readonly Share[];
  readonly #takes: Take[] = [];

  constructor(private readonly partitions: number) {
    this.shares = Array.from({ length: partitions }, () => ({ commands: [], bytes: 0 }));
  }

  add(spec: CommandSpec, words: readonly ByteString[]): void {
    const fanOut = spec.flags.includes('keyspace') ? fanOutOf(spec) : undefined;
    if (fanOut === 'scan') this.#addScan(words);
    else if (fanOut !== undefined) this.#addToAll(words, fanOut);
    else this.#addByKey(spec, words);
  }

  assemble(answers: readonly (readonly Reply[])[]): Reply[] {
    return this.#takes.map((take) => take(answers));
  }

  #addByKey(spec: CommandSpec, words: readonly ByteString[]): void {
    const slot = slotOf(keysOf(spec, words));
    if (slot === 'several') {
      this.#takes.push(() => ERRORS.crossSlot);
      return;
    }
    const index = slot === undefined ? 0 : partitionOfSlot(slot, this.partitions);
    this.#takes.push(this.#ask(index, words));
  }

  #addScan(words: readonly ByteString[]): void {
    const { partition, words: own } = routeScan(words, this.partitions);
    const take = this.#ask(partition, own);
    this.#takes.push((answers) => continueScan(take(answers), partition, this.partitions));
  }

  #addToAll(words: readonly ByteString[], merge: Merge): void {
    const takes = this.shares.map((_, index) => this.#ask(index, words));
    this.#takes.push((answers) => merge(takes.map((take) => take(answers))));
  }

  #ask(index: number, words: readonly ByteString[]): Take {
    const share = this.shares[index] as Share;
    const position = share.commands.push(words) - 1;
    share.bytes += bytesOfWords(words);
    return (answers) => (answers[index] as readonly Reply[])[position] as Reply;
  }
}

/** The slot of a list of keys; undefined without keys. */
function slotOf(keys: readonly ByteString[]): number | 'several' | undefined {
  let slot: number | undefined;
  for (const key of keys) {
    const own = hashSlot(key);
    if (slot !== undefined && own !== slot) return 'several';
    slot = own;
  }
  return slot;
}

/** The same for a transaction; what concerns every key concerns every slot. */
function slotOfAll({ specs, commands }: AdmittedCommands): number | 'several' | undefined {
  const keys: ByteString[] = [];
  for (let i = 0; i < commands.length; i += 1) {
    const spec = specs[i] as CommandSpec;
    if (spec.flags.includes('keyspace')) return 'several';
    keys.push(...keysOf(spec, commands[i] as readonly ByteString[]));
  }
  return slotOf(keys);
}
