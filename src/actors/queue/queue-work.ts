/** One command for an account's queue, on its way through an actor. */
import { COMMAND_BYTES, type QueueCommand, type QueueReply, type QueueSteps, rowOf } from '../../domain/queue/index.js';
import { type AccountId, assert, type CommandId, type MillraceError, type PartitionName } from '../../kernel/index.js';
import { queuePartition } from '../../messages/index.js';
import type { Work } from '../runtime/index.js';

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

  get tenant(): string {
    return this.account;
  }

  get hasBegun(): boolean {
    return this.steps !== undefined || this.reply !== undefined;
  }

  release(position: number): void {
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
    this.onFailure(error);
  }
}
