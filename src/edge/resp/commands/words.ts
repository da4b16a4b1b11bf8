/** Words of commands about connections, read with the errors Redis gives. */
import { ErrorReply } from '../../../domain/kv/index.js';
import type { ByteString } from '../../../kernel/index.js';

export const INTEGER = /^(0|-?[1-9][0-9]{0,17})$/;

const PLAIN = /^[!-~]*$/;

/** Has the name visible ASCII characters alone? */
export function isPlainName(name: ByteString): boolean {
  return PLAIN.test(name);
}

export const NAME_PROBLEM = plainNameProblem('Client names');

export function plainNameProblem(what: string): ErrorReply {
  return new ErrorReply(`ERR ${what} cannot contain spaces, newlines or special characters.`);
}

/** The number of a client; undefined: not an integer. */
export function clientId(word: ByteString): number | undefined {
  return INTEGER.test(word) ? Number(word) : undefined;
}
