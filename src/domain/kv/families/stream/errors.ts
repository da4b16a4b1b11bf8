/** Errors that several stream commands give. */
import type { ByteString } from '../../../../kernel/index.js';
import { ErrorReply } from '../../reply.js';

/** The group is named by a command that reads or claims. */
export function noSuchGroup(key: ByteString, group: ByteString, where = ''): ErrorReply {
  return new ErrorReply(`NOGROUP No such key '${key}' or consumer group '${group}'${where}`);
}

/** The group is named by XGROUP or XINFO, and the key is there. */
export function noGroupInKey(key: ByteString, group: ByteString): ErrorReply {
  return new ErrorReply(`NOGROUP No such consumer group '${group}' for key name '${key}'`);
}

/** An integer that is not one, as the command words it. */
export function invalidArgument(name: string, command: string): ErrorReply {
  return new ErrorReply(`ERR Invalid ${name} argument for ${command}`);
}
