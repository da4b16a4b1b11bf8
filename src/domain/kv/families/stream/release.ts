/** XNACK: pending entries that a consumer gives back, for any consumer to claim. */
import type { CommandContext, SlicedHandler } from '../../command-spec.js';
import { parseInt64 } from '../../numbers.js';
import { ERRORS, ErrorReply, type Reply } from '../../reply.js';
import { SlicePace } from '../../slices.js';
import type { StreamId } from '../../types/stream-id.js';
import { ClaimRuns } from '../../types/stream-rebuild.js';
import { requireGroup } from './consumers.js';
import { badCount, countMismatch } from './delete.js';
import { readIds } from './ids.js';

const badMode = new ErrorReply('ERR syntax error, expected SILENT, FAIL or FATAL');
const badRetryCount = new ErrorReply('ERR Invalid RETRYCOUNT option argument for XNACK');
/** The deliveries of an entry that no consumer should handle again. */
const MAX_DELIVERIES = Number.MAX_SAFE_INTEGER;
/** Released entries count as never delivered, so every CLAIM and XAUTOCLAIM finds them first. */
const RELEASED_AT_MS = 0;
const MODES = ['SILENT', 'FAIL', 'FATAL'] as const;

interface Release {
  readonly mode: (typeof MODES)[number];
  readonly ids: readonly StreamId[];
  readonly retryCount: number | undefined;
  readonly force: boolean;
}

export function onceMore(deliveries: number): number {
  return Math.min(deliveries + 1, MAX_DELIVERIES);
}

/**
 * XNACK key group SILENT|FAIL|FATAL IDS n id … [RETRYCOUNT n] [FORCE] → the number of released entries. SILENT takes
 * the last delivery back, FATAL sets the highest count. With FORCE entries that are not pending become so. NOGROUP.
 */
export const release: SlicedHandler = function* (context): Generator<void, Reply> {
  const { args, keyspace } = context;
  const key = args.bytes(1);
  const { mode, ids, retryCount, force } = yield* readRelease(context);
  const { stream, group } = requireGroup(context);
  const before = stream.bytes;
  const runs = new ClaimRuns(key, group);
  const pace = new SlicePace();
  let released = 0;
  for (const id of ids) {
    if (pace.isDue()) yield;
    const known = group.pending.get(id);
    if (known === undefined && !(force && (stream.has(id) || context.isReplay))) continue;
    const times = known?.deliveries ?? 0;
    const counted = mode === 'FATAL' ? MAX_DELIVERIES : mode === 'SILENT' ? Math.max(0, times - 1) : times;
    const deliveries = retryCount ?? counted;
    group.assign(id, group.released, RELEASED_AT_MS, deliveries);
    released += 1;
    const ended = runs.add(id, { consumer: group.released, deliveredAtMs: RELEASED_AT_MS, deliveries });
    if (ended !== undefined) context.effects.push(...ended);
  }
  if (released === 0) return 0;
  const last = runs.end();
  if (last !== undefined) context.effects.push(...last);
  keyspace.changed(key, stream, before);
  return released;
};

function* readRelease({ args }: CommandContext): Generator<void, Release> {
  const mode = MODES.find((known) => known === args.option(3));
  if (mode === undefined) throw badMode;
  if (args.option(4) !== 'IDS') throw ERRORS.syntax;
  const count = parseInt64(args.bytes(5));
  if (count === undefined || count < 1) throw badCount;
  if (count > args.length - 6) throw countMismatch;
  const end = 6 + Number(count);
  const ids = yield* readIds(args, 6, end);
  let retryCount: number | undefined;
  let force = false;
  for (let at = end; at < args.length; at += 1) {
    const option = args.option(at);
    if (option === 'FORCE') force = true;
    else if (option === 'RETRYCOUNT') {
      at += 1;
      const given = parseInt64(args.bytes(at));
      if (typeof given !== 'number' || given < 0) throw badRetryCount;
      retryCount = given;
    } else throw ERRORS.syntax;
  }
  return { mode, ids, retryCount, force };
}
