/** Conditions of SET and DELEX on a key's current value, by value or by digest. */
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
 * Whether the current value meets the condition. A missing value differs from every operand. @throws ErrorReply for an
 * invalid digest, if there is a value to compare
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
