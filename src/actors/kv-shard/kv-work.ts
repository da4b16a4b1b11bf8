/** One request for a partition of a database, on its way through an actor. */
import { type Caller, findCommand, type Permissions, type Reply, type SlicedCommand } from '../../domain/kv/index.js';
import type { CommandId, MillraceError } from '../../kernel/index.js';
import {
  type KvRequest,
  type KvResponse,
  parseKvPartition,
  type ScriptDenial,
  type Span,
} from '../../messages/index.js';
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
  /** Commands already executed. */
  progress = 0;
  replies: Reply[] = [];
  /** The bytes of all replies so far; they are counted when the request bounds them. */
  answerBytes = 0;
  /** The command that `progress` points at, where it runs in slices and has begun. */
  slices: SlicedCommand | undefined;
  /** Milliseconds that its earlier slices took. */
  spentMs = 0;
  /** True while it is half done: other requests find the partition as it was, or as it will be, so it has to end. */
  isHalfway = false;
  /** Somebody wants what is half done of it to end. */
  isKilled = false;
  /** Ordinal of its last write among the effects of that entry. */
  ordinal = 0;
  /** A watched key has changed, or there is no room: nothing was executed. */
  isAborted = false;
  /** Keys that its scripts have read; only when the client tracks what it reads. */
  scriptReads: string[] | undefined;
  /** What its scripts were refused. */
  denials: ScriptDenial[] | undefined;
  /** Somebody is told of what it has published or done. */
  hasSaid = false;
  /** The database has no room, as far as its last command could tell. */
  isFull = false;
  /** The partition, whose latest token is told when a request that only read is answered. */
  askedOf: { readonly latestToken: string } = NOTHING_STORED;
  /** Set while it waits for a key. */
  onGiveUp: (() => void) | undefined;
  /** Undefined: it is not traced. */
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

  /** The request bounds its answer, and there is enough of it. */
  get isAnswerFull(): boolean {
    const { maxAnswerBytes } = this.request;
    return maxAnswerBytes !== undefined && this.answerBytes > maxAnswerBytes;
  }

  callerFor(compile: CompilePermissions): Caller {
    if (this.#caller !== undefined) return this.#caller;
    const { client, mode, waiter, partition, partitions } = this.request;
    const isNested = mode === 'transaction';
    const slots = partitions === undefined ? undefined : { index: parseKvPartition(partition).index, partitions };
    if (client === undefined) {
      const plain = isNested ? REST_TRANSACTION : REST_PLAIN;
      this.#caller = slots === undefined ? plain : { ...plain, slots };
    } else {
      const { face, protocol, user, rules } = client;
      const permissions = rules === undefined ? undefined : compile(user, rules);
      const mayBlock = waiter !== undefined && !isNested;
      this.#caller = { face, protocol, mayBlock, mayPause: true, isNested, permissions, slots };
    }
    return this.#caller;
  }

  release(position: number): void {
    this.trace?.released(position);
    const syncToken = this.hasWritten ? `${position}-${this.ordinal}` : this.askedOf.latestToken;
    const { replies, isAborted, isFull, scriptReads, denials, hasSaid } = this;
    const isPlain = !isAborted && !isFull && scriptReads === undefined && denials === undefined;
    if (isPlain) this.onReply(hasSaid ? { replies, syncToken, hasSaid } : { replies, syncToken });
    else this.onReply({ replies, syncToken, isAborted, isFull, scriptReads, denials, hasSaid });
  }

  reject(error: MillraceError): void {
    this.trace?.failed(error.code);
    this.onFailure(error);
  }

  /** Nobody waits for the answer: what is half done ends, what only reads need not be made. */
  get isUnwanted(): boolean {
    return this.#isGivenUp || this.isKilled || this.request.isGone?.() === true;
  }

  giveUp(): void {
    this.#isGivenUp = true;
    this.onGiveUp?.();
  }
}

/** Named for the command, by its row of the table; for what is more than one by what they are together. */
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
