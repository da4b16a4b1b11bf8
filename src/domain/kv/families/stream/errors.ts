/** Errors shared by stream commands. */
import type { ByteString } from '../../../../kernel/index.js';
import { ErrorReply } from '../../reply.js';

/** The error of a command that reads or claims for a group. */
export function noSuchGroup(key: ByteString, group: ByteString, place = ''): ErrorReply {
  return new ErrorReply(`NOGROUP No such key '${key}' or consumer group '${group}'${place}`);
}

/** The error of XGROUP or XINFO if the key exists. */
export function noGroupInKey(key: ByteString, group: ByteString): ErrorReply {
  return new ErrorReply(`NOGROUP No such consumer group '${group}' for key name '${key}'`);
}

/** The error for a word that is not an integer, naming the argument and the command. */
export function invalidArgument(name: string, command: string): ErrorReply {
  return new ErrorReply(`ERR Invalid ${name} argument for ${command}`);
}
