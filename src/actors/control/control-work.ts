/** One command for the control actor, while it is executed. */
import { bytesOfControl, type ControlCommand, type ControlReply, rowOfControl } from '../../domain/control/index.js';
import { type AccountId, assert, type CommandId, type MillraceError } from '../../kernel/index.js';
import type { Work } from '../runtime/index.js';

/** A read about no existing account; only the fact that it is answered counts. */
export const QUESTION = { type: 'GetAccount', account: 'ac-nobody' as AccountId } as const;

export class ControlWork implements Work {
  readonly commands = 1;
  deadlineMs = Number.POSITIVE_INFINITY;
  enteredAtMs = 0;
  waitsForTurn = 0;
  hasWritten = false;
  reply: ControlReply | undefined;
  /** Set where the answer promises that every process has applied the change: resolves when that is so. */
  untilInForce: ((position: number) => Promise<void>) | undefined;

  constructor(
    readonly command: ControlCommand,
    private readonly onReply: (reply: ControlReply) => void,
    private readonly onFailure: (error: MillraceError) => void,
    readonly commandId?: CommandId | undefined,
  ) {}

  get hasBegun(): boolean {
    return this.reply !== undefined;
  }

  /** Databases share the actor fairly, and so do accounts; an operator's requests are a separate tenant. */
  get tenant(): string {
    const { command } = this;
    const tenant = rowOfControl(command).tenant?.(command);
    if (tenant !== undefined) return tenant;
    if ('account' in command && typeof command.account === 'string') return command.account;
    return 'control';
  }

  get bytes(): number {
    return bytesOfControl(this.command);
  }

  release(position: number): void {
    const { reply } = this;
    assert(reply !== undefined, 'a control command was released unanswered', { type: this.command.type });
    if (this.untilInForce === undefined) this.onReply(reply);
    else void this.untilInForce(position).then(() => this.onReply(reply));
  }

  reject(error: MillraceError): void {
    this.onFailure(error);
  }
}
