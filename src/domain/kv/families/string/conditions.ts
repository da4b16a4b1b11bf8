/** The conditions that SET and DELEX put on a key's present value, by the value or by its digest. */
import type { ByteString } from '../../../../kernel/index.js';
import { ErrorReply } from '../../reply.js';
import { xxh3 } from '../../types/xxh3.js';

export type ValueCondition = 'IFEQ' | 'IFNE' | 'IFDEQ' | 'IFDNE';

const DIGEST_DIGITS = 16;
const badDigest = new ErrorReply('ERR must be exactly 16 hexadecimal characters');

export function isValueCondition(option: string): option is ValueCondition {
  return option === 'IFEQ' || option === 'IFNE' || option === 'IFDEQ' || option === 'IFDNE';
}

/**
 * Does the present value meet the condition? A missing one is equal to nothing.
 * @throws ErrorReply for a digest that cannot be one, where there is something to compare it with
 */
export function holds(condition: ValueCondition, operand: ByteString, value: ByteString | undefined): boolean {
  switch (condition) {
    case 'IFEQ':
      return value !== undefined && value === operand;
    case 'IFNE':
      return value === undefined || value !== operand;
    case 'IFDEQ':
      return value !== undefined && hasDigest(value, operand);
    case 'IFDNE':
      return value === undefined || !hasDigest(value, operand);
  }
}

function hasDigest(value: ByteString, digest: ByteString): boolean {
  if (digest.length !== DIGEST_DIGITS) throw badDigest;
  return xxh3(value) === digest.toLowerCase();
}
