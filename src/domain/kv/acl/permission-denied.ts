/** The error for a command that the user's permissions forbid, worded for RESP and REST. */
import type { ByteString } from '../../../kernel/index.js';
import { ErrorReply } from '../reply.js';

/**
 * The reason why a selector refuses a command. The later its position in the command, the closer the command came to
 * being allowed.
 */
export interface Objection {
  readonly reason: 'command' | 'key' | 'channel';
  /** The command's name, the key, or the channel. */
  readonly object: ByteString;
  readonly position: number;
}

/** The error reply with the facts that ACL LOG records. */
export class PermissionDenied extends ErrorReply {
  constructor(
    readonly user: ByteString,
    readonly reason: Objection['reason'],
    /** The command's name as in rules, the key, or the channel. */
    readonly object: ByteString,
    name: string,
  ) {
    super(respText(user, reason, name), restText(reason, name));
  }

  /** The answer of ACL DRYRUN. */
  get explanation(): ByteString {
    const action =
      this.reason === 'command' ? `run the '${this.object}' command` : `access the '${this.object}' ${this.reason}`;
    return `User ${this.user} has no permissions to ${action}`;
  }
}

function respText(user: ByteString, reason: Objection['reason'], name: string): ByteString {
  if (reason === 'command') return `NOPERM User ${user} has no permissions to run the '${name}' command`;
  return `NOPERM No permissions to access a ${reason}`;
}

/** Redis 6's wording, which names the container of a subcommand. */
function restText(reason: Objection['reason'], name: string): ByteString {
  const may = 'NOPERM this user has no permissions to';
  if (reason !== 'command') return `${may} access one of the ${reason}s used as arguments`;
  return `${may} run the '${name.split('|')[0]}' command or its subcommand`;
}
