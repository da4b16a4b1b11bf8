/**
 * WAIT and WAITAOF. Every reply waits until the journal has stored its changes, so both return immediately: this
 * process counts as the one local copy, and there are no replicas.
 */
import type { Args } from '../../args.js';
import type { Handler } from '../../command-spec.js';
import { parseInt64 } from '../../numbers.js';
import { ERRORS, ErrorReply } from '../../reply.js';

const badTimeout = new ErrorReply('ERR timeout is not an integer or out of range');
const badLocal = new ErrorReply('ERR value is out of range, value must between 0 and 1');

/** WAIT numreplicas timeout → 0. */
export const wait: Handler = ({ args }) => {
  args.int64(1);
  requireTimeout(args, 2);
  return 0;
};

/** WAITAOF numlocal numreplicas timeout → [1, 0]. */
export const waitAof: Handler = ({ args }) => {
  const local = args.int64(1);
  if (local < 0n || local > 1n) throw badLocal;
  if (args.int64(2) < 0n) throw ERRORS.notPositive;
  requireTimeout(args, 3);
  return [1, 0];
};

function requireTimeout(args: Args, index: number): void {
  const timeoutMs = parseInt64(args.bytes(index));
  if (timeoutMs === undefined) throw badTimeout;
  if (timeoutMs < 0) throw ERRORS.negativeTimeout;
}
