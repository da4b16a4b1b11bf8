/** One request for a partition of a database, while an actor executes it. */
import { type Caller, findCommand, type Permissions, type Reply, type SlicedCommand } from '../../domain/kv/index.js';
import type { CommandId, MillraceError } from '../../kernel/index.js';
import {
  type KvRequest,
  type KvResponse,
  parseKvPartition,
  type ScriptDenial,
  type Span,
} from '../../protocol/index.js';
import { type Work, WorkTrace } from '../runtime/index.js';

const REST_PLAIN: Caller = { mayPause: true };
const REST_TRANSACTION: Caller = { isNested: true, mayPause: true };

const NOTHING_STORED = { latestToken: '0-0' };

/** Compiles the ACL rules of a user. */
export type CompilePermissions = (user: string, rules: string) => Permissions | undefined;

export class KvWork implements Work {
  deadlineMs = Number.POSITIVE_INFINITY;
  enteredAtMs = 0;
  waitsForTurn = 0;
  hasWritten = false;
  /** The number of commands executed so far. */
  progress = 0;
  replies: Reply[] = [];
  /** The bytes of all replies so far; counted only when the request bounds them. */
  answerBytes = 0;
  /** The command at `progress`, when it runs in slices and has begun. */
  slices: SlicedCommand | undefined;
  /** Milliseconds that its earlier slices took. */
  spentMs = 0;
  /** True while the request is half done. Other requests must not see a partial state, so it has to end first. */
  isHalfway = false;
  /** Set by SCRIPT KILL and FUNCTION KILL. */
  isKilled = false;
  /** The ordinal of its last write among the effects of its entry. */
  ordinal = 0;
  /** True when nothing was executed: a watched key has changed, or there is no room. */
  isAborted = false;
  /** Keys that its scripts have read; only when the client tracks its reads. */
  scriptReads: string[] | undefined;
  /** The refusals that its scripts met. */
  denials: ScriptDenial[] | undefined;
  /** True when a message or notification of the request has receivers. */
  hasSaid = false;
  /** The database has no room, as far as its last command could tell. */
  isFull = false;
  slowerThanMicros: number | undefined;
  /** The partition; the answer to a request that only read names its latest token. */
  askedOf: { readonly latestToken: string } = NOTHING_STORED;
  /** See KvResponse. */
  indexLag: number | undefined;
  /** The command, by its place, that has waited for its index. */
  indexAwaited = -1;
  /** Its index was not ready in time. */
  hasWaitedInVain = false;
  /** Set while the request waits for a key. */
  onGiveUp: (() => void) | undefined;
  /** Undefined when the request is not traced. */
  trace: WorkTrace | undefined;
  #caller: Caller | undefined;
  #isGivenUp = false;

  constructor(
    readonly request: KvRequest,
    private readonly onReply: (response: KvResponse) => void,
    private readonly onFailure: (error: MillraceError) => void,
    readonly commandId?: CommandId | undefined,
  ) {
    if (request.trace !== undefined) this.trace = traceOf(request, request.trace);
  }

  get tenant(): string {
    return this.request.database;
  }

  get bytes(): number {
    return this.request.bytes;
  }

  get commands(): number {
    return this.request.commands.length;
  }

  get hasBegun(): boolean {
    return this.progress > 0 || this.isHalfway || this.replies.length > 0;
  }

  get isRefusable(): boolean {
    return !this.hasBegun && !isRead(this.request);
  }

  get isRepeatable(): boolean {
    return this.request.waiter === undefined && isRead(this.request);
  }

  /** True when the answer has passed the bound of the request. */
  get isAnswerFull(): boolean {
    const { maxAnswerBytes } = this.request;
    return maxAnswerBytes !== undefined && this.answerBytes > maxAnswerBytes;
  }

  callerFor(compile: CompilePermissions): Caller {
    if (this.#caller !== undefined) return this.#caller;
    const { client, mode, waiter, partition, partitions, firstPartition } = this.request;
    const isNested = mode === 'transaction';
    const index = () => parseKvPartition(partition).index - (firstPartition ?? 0);
    const slots = partitions === undefined ? undefined : { index: index(), partitions, firstPartition };
    if (client === undefined) {
      const plain = isNested ? REST_TRANSACTION : REST_PLAIN;
      this.#caller = slots === undefined ? plain : { ...plain, slots };
    } else {
      const { face: endpoint, protocol, user, rules } = client;
      const permissions = rules === undefined ? undefined : compile(user, rules);
      const mayBlock = waiter !== undefined && !isNested;
      this.#caller = { endpoint, protocol, mayBlock, mayPause: true, isNested, permissions, slots };
    }
    return this.#caller;
  }

  release(position: number): void {
    this.trace?.released(position);
    const syncToken = this.hasWritten ? `${position}-${this.ordinal}` : this.askedOf.latestToken;
    const { replies, isAborted, isFull, scriptReads, denials, hasSaid, slowerThanMicros, indexLag } = this;
    const isPlain =
      !isAborted &&
      !isFull &&
      scriptReads === undefined &&
      denials === undefined &&
      slowerThanMicros === undefined &&
      indexLag === undefined;
    if (isPlain) this.onReply(hasSaid ? { replies, syncToken, hasSaid } : { replies, syncToken });
    else {
      this.onReply({
        replies,
        syncToken,
        isAborted,
        isFull,
        scriptReads,
        denials,
        hasSaid,
        slowerThanMicros,
        indexLag,
      });
    }
  }

  reject(error: MillraceError): void {
    this.trace?.failed(error.code);
    this.onFailure(error);
  }

  /** True when the answer has no receiver: a half-done command is stopped, and reads are not made. */
  get isUnwanted(): boolean {
    return this.#isGivenUp || this.isKilled || this.request.isGone?.() === true;
  }

  giveUp(): void {
    this.#isGivenUp = true;
    this.onGiveUp?.();
  }
}

/** True when the request may be executed any number of times. Scripts count as writes. */
export function isRead(request: KvRequest): boolean {
  // These modes are harmless when repeated.
  if (['listen', 'unblock', 'reads-only'].includes(request.mode)) return true;
  return request.commands.every((words) => findCommand(words)?.flags.includes('readonly') === true);
}

/** The span has the command's name; a request of several commands has the name of its mode. */
function traceOf({ mode, commands, database }: KvRequest, within: Span): WorkTrace | undefined {
  const [first] = commands;
  const name = mode === 'single' && first !== undefined ? (findCommand(first)?.name ?? mode) : mode;
  const batch = commands.length === 1 ? undefined : commands.length;
  const span = within.child(name, 'internal', {
    'db.system.name': 'millrace',
    'db.operation.name': name,
    'db.operation.batch.size': batch,
    'db.namespace': database,
  });
  return span === undefined ? undefined : new WorkTrace(span);
}
