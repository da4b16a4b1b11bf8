/** One command for the control actor, on its way through it. */
import type { ControlCommand, ControlReply } from '../../domain/control/index.js';
import { assert, type CommandId, type MillraceError } from '../../kernel/index.js';
import type { Work } from '../runtime/index.js';

/** What a command without lists costs a mailbox; and what each row of a list does. */
const COMMAND_BYTES = 1024;
const ROW_BYTES = 128;
/** A name in a list. */
const ITEM_BYTES = 64;

export class ControlWork implements Work {
  readonly commands = 1;
  deadlineMs = Number.POSITIVE_INFINITY;
  enteredAtMs = 0;
  waitsForTurn = 0;
  hasWritten = false;
  reply: ControlReply | undefined;
  /** Set where the answer promises that something is over everywhere: resolves when it is. */
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

  /** Databases share the actor fairly, and so do accounts; what an operator asks is a tenant of its own. */
  get tenant(): string {
    const { command } = this;
    if (command.type === 'LeaseQuota' || command.type === 'ReturnQuota') return command.database;
    if ('account' in command && typeof command.account === 'string') return command.account;
    return 'control';
  }

  get bytes(): number {
    return bytesOf(this.command);
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

function bytesOf(command: ControlCommand): number {
  switch (command.type) {
    case 'SetUser':
      return COMMAND_BYTES + command.rules.length;
    case 'Audited':
      return COMMAND_BYTES + bytesOf(command.command);
    case 'ChangeDatabase': {
      const { readRegions = [], allowedIps = [] } = command.change.settings ?? {};
      return COMMAND_BYTES + ITEM_BYTES * (readRegions.length + allowedIps.length);
    }
    case 'EndBackup':
      return COMMAND_BYTES + ITEM_BYTES * command.manifests.length;
    case 'FoldMeter':
      return command.records.reduce((sum, { rows }) => sum + ROW_BYTES * (1 + rows.length), COMMAND_BYTES);
    default:
      return COMMAND_BYTES;
  }
}
