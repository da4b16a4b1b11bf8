/** One command for an account's queue, while an actor executes it. */
import { COMMAND_BYTES, type QueueCommand, type QueueReply, type QueueSteps, rowOf } from '../../domain/queue/index.js';
import { type AccountId, assert, type CommandId, type MillraceError, type PartitionName } from '../../kernel/index.js';
import { queuePartition, type Span } from '../../protocol/index.js';
import { type Work, WorkTrace } from '../runtime/index.js';

export class QueueWork implements Work {
  readonly commands = 1;
  readonly bytes: number;
  readonly partition: PartitionName;
  deadlineMs = Number.POSITIVE_INFINITY;
  enteredAtMs = 0;
  waitsForTurn = 0;
  hasWritten = false;
  /** A promise when bodies have to be read. */
  reply: QueueReply | Promise<QueueReply> | undefined;
  /** The remaining steps of a command, once it has begun. */
  steps: QueueSteps | undefined;
  /** True while a decision has steps left; the account does no other work until then. */
  isHalfway = false;
  /** Undefined: it is not traced. */
  trace: WorkTrace | undefined;

  constructor(
    readonly account: AccountId,
    readonly command: QueueCommand,
    private readonly onReply: (reply: QueueReply) => void,
    private readonly onFailure: (error: MillraceError) => void,
    readonly commandId?: CommandId | undefined,
  ) {
    this.partition = queuePartition(account);
    this.bytes = rowOf(command).bytes?.(command) ?? COMMAND_BYTES;
  }

  /** Traces the command as part of a span. */
  traceWithin(span: Span): this {
    const own = span.child(this.command.type, 'internal', {
      'messaging.system': 'millrace',
      'messaging.operation.name': this.command.type,
    });
    if (own !== undefined) this.trace = new WorkTrace(own);
    return this;
  }

  get tenant(): string {
    return this.account;
  }

  get hasBegun(): boolean {
    return this.steps !== undefined || this.reply !== undefined;
  }

  release(position: number): void {
    this.trace?.released(position);
    if (this.command.type === 'GetPosition') {
      this.onReply({ type: 'Position', position });
      return;
    }
    const { reply } = this;
    assert(reply !== undefined, "a queue's command was released unanswered", { type: this.command.type });
    if (reply instanceof Promise) reply.then(this.onReply, this.onFailure);
    else this.onReply(reply);
  }

  reject(error: MillraceError): void {
    this.trace?.failed(error.code);
    this.onFailure(error);
  }
}
