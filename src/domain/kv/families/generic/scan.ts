/**
 * Iterating over keys: SCAN, KEYS, RANDOMKEY. A cursor is the hash to continue from, so it stays valid across changes,
 * restarts and takeovers; each key that exists throughout is returned once.
 */
import type { ByteString } from '../../../../kernel/index.js';
import { AnswerSize } from '../../answer-size.js';
import type { Handler, SlicedHandler } from '../../command-spec.js';
import { compileGlob, type Glob } from '../../glob.js';
import { cursorOfLayout, cursorWithin } from '../../layout-cursor.js';
import { MAX_SCAN_COUNT } from '../../limits.js';
import { ERRORS } from '../../reply.js';
import { DEFAULT_SCAN_COUNT, readCursor } from '../collection-scan.js';
import { typeName } from './keys.js';

interface ScanOptions {
  glob: Glob | undefined;
  count: number;
  type: string | undefined;
  withTypes: boolean;
}

/** SCAN cursor [MATCH pattern] [COUNT n] [TYPE name] [WITHTYPE] → [next cursor, keys]; cursor 0 ends. */
export const scan: Handler = ({ args, keyspace, slots }) => {
  const given = readCursor(args, 1);
  // Of several partitions, the router takes the layout out of the cursor.
  const firstPartition = slots?.partitions === 1 ? (slots.firstPartition ?? 0) : 0;
  const cursor = firstPartition === 0 ? given : Number(cursorWithin(firstPartition, args.bytes(1)));
  const options: ScanOptions = { glob: undefined, count: DEFAULT_SCAN_COUNT, type: undefined, withTypes: false };
  for (let i = 2; i < args.length; i += 1) {
    const option = args.option(i);
    if (option === 'WITHTYPE') {
      options.withTypes = true;
      continue;
    }
    i += 1;
    const value = args.bytes(i);
    if (option === 'MATCH') options.glob = compileGlob(value);
    else if (option === 'TYPE') options.type = value.toLowerCase();
    else if (option === 'COUNT') {
      options.count = args.offset(i);
      if (options.count < 1) throw ERRORS.syntax;
    } else throw ERRORS.syntax;
  }
  const step = keyspace.scan(cursor, Math.min(options.count, MAX_SCAN_COUNT));
  const keys: ByteString[] = [];
  for (const [key, value] of step.entries) {
    if (options.glob !== undefined && !options.glob(key)) continue;
    const type = typeName(value);
    if (options.type !== undefined && options.type !== type.toLowerCase()) continue;
    keys.push(key);
    if (options.withTypes) keys.push(type);
  }
  return [cursorOfLayout(firstPartition, String(step.cursor)), keys];
};

/** Keys visited in one slice: about 0.2 ms with an ordinary pattern. */
const SLICE_KEYS = 512;

/**
 * KEYS pattern → every matching key, in no order. In slices, because a million keys in one go would block all tenants
 * for 0.1 s.
 */
export const keys: SlicedHandler = function* (context) {
  const { args, keyspace } = context;
  const size = new AnswerSize(context);
  const glob = compileGlob(args.bytes(1));
  const found: ByteString[] = [];
  let cursor = 0;
  do {
    const step = keyspace.scan(cursor, SLICE_KEYS);
    for (const [key] of step.entries) {
      if (!glob(key)) continue;
      size.add(key.length);
      found.push(key);
    }
    cursor = step.cursor;
    if (cursor !== 0) yield;
  } while (cursor !== 0);
  return found;
};

/** RANDOMKEY → a key, or null when there is none. */
export const randomKey: Handler = ({ keyspace, random, audience }) =>
  keyspace.randomKey(() => random.float(), audience.isPaused) ?? null;
