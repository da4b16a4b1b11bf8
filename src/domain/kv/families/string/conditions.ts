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

/** @throws ErrorReply for a digest that cannot be one */
export function requireOperand(condition: ValueCondition, operand: ByteString): void {
  if ((condition === 'IFDEQ' || condition === 'IFDNE') && operand.length !== DIGEST_DIGITS) throw badDigest;
}

/** A missing value is equal to nothing. */
export function holds(condition: ValueCondition, operand: ByteString, value: ByteString | undefined): boolean {
  switch (condition) {
    case 'IFEQ':
      return value !== undefined && value === operand;
    case 'IFNE':
      return value === undefined || value !== operand;
    case 'IFDEQ':
      return value !== undefined && xxh3(value) === operand.toLowerCase();
    case 'IFDNE':
      return value === undefined || xxh3(value) !== operand.toLowerCase();
  }
}
