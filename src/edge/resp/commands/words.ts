/** Words of commands about connections, with Redis's errors. */
import { ErrorReply } from '../../../domain/kv/index.js';
import type { ByteString } from '../../../kernel/index.js';

export const INTEGER = /^(0|-?[1-9][0-9]{0,17})$/;

const PLAIN = /^[!-~]*$/;

/** Does the name consist of visible ASCII characters? */
export function isPlainName(name: ByteString): boolean {
  return PLAIN.test(name);
}

export const NAME_PROBLEM = plainNameProblem('Client names');

export function plainNameProblem(subject: string): ErrorReply {
  return new ErrorReply(`ERR ${subject} cannot contain spaces, newlines or special characters.`);
}

/** The id of a client; undefined: not an integer. */
export function clientId(word: ByteString): number | undefined {
  return INTEGER.test(word) ? Number(word) : undefined;
}
