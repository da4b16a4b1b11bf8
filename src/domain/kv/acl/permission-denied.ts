/** What a client hears whose user may not do what it asks, in the words of each face. */
import type { ByteString } from '../../../kernel/index.js';
import { ErrorReply } from '../reply.js';
import type { Objection } from './selector.js';

/** A refusal that says what it was about, for ACL LOG. */
export class PermissionDenied extends ErrorReply {
  constructor(
    readonly user: ByteString,
    readonly reason: Objection['reason'],
    /** The command's name as rules have it, the key, the channel. */
    readonly object: ByteString,
    name: string,
  ) {
    super(respText(user, reason, name), restText(reason, name));
  }

  /** What ACL DRYRUN says. */
  get explanation(): ByteString {
    const what =
      this.reason === 'command' ? `run the '${this.object}' command` : `access the '${this.object}' ${this.reason}`;
    return `User ${this.user} has no permissions to ${what}`;
  }
}

function respText(user: ByteString, reason: Objection['reason'], name: string): ByteString {
  if (reason === 'command') return `NOPERM User ${user} has no permissions to run the '${name}' command`;
  return `NOPERM No permissions to access a ${reason}`;
}

/** Redis 6 words it so: of a subcommand its container's name. */
function restText(reason: Objection['reason'], name: string): ByteString {
  const may = 'NOPERM this user has no permissions to';
  if (reason !== 'command') return `${may} access one of the ${reason}s used as arguments`;
  return `${may} run the '${name.split('|')[0]}' command or its subcommand`;
}
