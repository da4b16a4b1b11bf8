/** DUMP and RESTORE: a value as the payload Redis exchanges. */

import { assert } from '../../../../kernel/index.js';
import type { Handler } from '../../command-spec.js';
import { MAX_RECORD_BYTES } from '../../limits.js';
import { ERRORS, ErrorReply, OK } from '../../reply.js';
import { dumpString, isIntact, restoreString } from '../../types/dump-payload.js';
import { readInstant, removeKey, storeString } from '../expire-time.js';

const badTtl = new ErrorReply('ERR Invalid TTL value, must be >= 0');
const badIdleTime = new ErrorReply('ERR Invalid IDLETIME value, must be >= 0');
const badFrequency = new ErrorReply('ERR Invalid FREQ value, must be >= 0 and <= 255');
const busyKey = new ErrorReply('BUSYKEY Target key name already exists.');
const badFooter = new ErrorReply('ERR DUMP payload version or checksum are wrong');
const badFormat = new ErrorReply('ERR Bad data format');
const MAX_FREQUENCY = 255;

/** DUMP key → payload or null. */
export const dump: Handler = ({ args, keyspace }) => {
  const value = keyspace.peek(args.bytes(1));
  if (value === undefined) return null;
  assert(typeof value === 'string', 'a value of a kind that cannot be dumped', { key: args.bytes(1) });
  return dumpString(value);
};

/**
 * RESTORE key ttl payload [REPLACE] [ABSTTL] [IDLETIME s] [FREQ n] → OK. BUSYKEY, wrong footer, bad format.
 * A TTL of 0 means none. Idle time and frequency are checked and forgotten: nothing is evicted by them.
 */
export const restore: Handler = (context) => {
  const { args, keyspace } = context;
  let replaces = false;
  let isAbsolute = false;
  let idle = false;
  let frequency = false;
  for (let i = 4; i < args.length; i += 1) {
    const option = args.option(i);
    const hasNext = i + 1 < args.length;
    if (option === 'REPLACE') replaces = true;
    else if (option === 'ABSTTL') isAbsolute = true;
    else if (option === 'IDLETIME' && hasNext && !frequency) {
      i += 1;
      idle = true;
      if (args.offset(i) < 0) throw badIdleTime;
    } else if (option === 'FREQ' && hasNext && !idle) {
      i += 1;
      frequency = true;
      const value = args.offset(i);
      if (value < 0 || value > MAX_FREQUENCY) throw badFrequency;
    } else throw ERRORS.syntax;
  }
  const key = args.bytes(1);
  if (!replaces && keyspace.fetch(key) !== undefined) throw busyKey;
  const ttl = args.int64(2);
  if (ttl < 0n) throw badTtl;
  const expireAtMs = ttl === 0n ? undefined : readInstant(context, 2, { unitMs: 1, isAbsolute }, 'restore');
  const payload = args.bytes(3);
  if (!isIntact(payload)) throw badFooter;
  const value = restoreString(payload, MAX_RECORD_BYTES);
  if (value === undefined) throw badFormat;
  if (expireAtMs !== undefined && expireAtMs <= context.nowMs) removeKey(context, key);
  else storeString(context, key, value, expireAtMs);
  return OK;
};
