/** One command for an account's queue, on its way through an actor. */
import type { PublishItem, QueueCommand, QueueReply, QueueSteps } from '../../domain/queue/index.js';
import { type AccountId, assert, type CommandId, type MillraceError, type PartitionName } from '../../kernel/index.js';
import { queuePartition } from '../../messages/index.js';
import type { Work } from '../runtime/index.js';

/** What a command costs a mailbox beside its bodies; and what each message of a publish does. */
const COMMAND_BYTES = 256;
const ITEM_BYTES = 512;

export class QueueWork implements Work {
  readonly commands = 1;
  readonly bytes: number;
  readonly partition: PartitionName;
  deadlineMs = Number.POSITIVE_INFINITY;
  enteredAtMs = 0;
  waitsForTurn = 0;
  hasWritten = false;
  /** With bodies that are not in memory it comes later. */
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
    this.bytes = bytesOf(command);
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

function bytesOf(command: QueueCommand): number {
  switch (command.type) {
    case 'Publish':
      return bytesOfItems(command.items);
    case 'TakeIntake':
      return command.records.reduce((bytes, { items }) => bytes + bytesOfItems(items), 0);
    case 'SetSchedule':
      return COMMAND_BYTES + command.schedule.body.length;
    case 'RecordAttempt': {
      const { outcome, sentBody } = command;
      const received = outcome.kind === 'response' ? outcome.body.length : 0;
      // What was sent is held by the cache of bodies, too, but not for sure.
      return COMMAND_BYTES + received + (sentBody?.length ?? 0);
    }
    case 'Wait':
      return COMMAND_BYTES + command.stepText.length + (command.timeoutBody?.length ?? 0);
    case 'Notify':
      return COMMAND_BYTES + command.content.length;
    case 'EndRun':
      return COMMAND_BYTES + (command.response?.length ?? 0);
    default:
      return COMMAND_BYTES;
  }
}

export function bytesOfItems(items: readonly PublishItem[]): number {
  let bytes = COMMAND_BYTES;
  for (const { body, workflow } of items) {
    const stepText = workflow?.kind === 'trigger' ? workflow.invoker?.stepText : undefined;
    bytes += ITEM_BYTES + body.length + (stepText?.length ?? 0);
  }
  return bytes;
}
