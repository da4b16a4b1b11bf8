/** One command for an account's queue, on its way through an actor. */
import { COMMAND_BYTES, type QueueCommand, type QueueReply, type QueueSteps, rowOf } from '../../domain/queue/index.js';
import { type AccountId, assert, type CommandId, type MillraceError, type PartitionName } from '../../kernel/index.js';
import { queuePartition, type Span } from '../../messages/index.js';
import { type Work, WorkTrace } from '../runtime/index.js';

export class QueueWork implements Work {
  readonly commands = 1;
  readonly bytes: number;
  readonly partition: PartitionName;
  deadlineMs = Number.POSITIVE_INFINITY;
  enteredAtMs = 0;
  waitsForTurn = 0;
  hasWritten = false;
  /** It comes later when bodies are not in memory. */
  reply: QueueReply | Promise<QueueReply> | undefined;
  /** What is left of a command that runs in steps, once it has begun. */
  steps: QueueSteps | undefined;
  /** Its steps are one decision, and some are left: nothing else of its account happens meanwhile. */
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

  /** It is a part of something that is traced. */
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
