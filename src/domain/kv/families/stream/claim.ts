/** XCLAIM and XAUTOCLAIM: transferring pending entries to another consumer. */
import type { ByteString } from '../../../../kernel/index.js';
import type { CommandContext, SlicedHandler } from '../../command-spec.js';
import { parseInt64 } from '../../numbers.js';
import { ERRORS, ErrorReply, type Reply } from '../../reply.js';
import { MANY_WORDS, SlicePace } from '../../slices.js';
import type { Stream } from '../../types/stream.js';
import type { Consumer, ConsumerGroup, PendingEntry } from '../../types/stream-group.js';
import { formatId, MAX_ID, MIN_ID, type StreamId } from '../../types/stream-id.js';
import { ClaimRuns } from '../../types/stream-rebuild.js';
import { consumerOf, pushPosition, requireGroup } from './consumers.js';
import { invalidArgument } from './errors.js';
import { invalidId, readId, readStart } from './ids.js';
import { idleOf } from './pending.js';
import { entryReply } from './range.js';
import { pushIds } from './references.js';
import { onceMore } from './release.js';
import { walkInSlices } from './walking.js';

const countNotPositive = new ErrorReply('ERR COUNT must be > 0');
const DEFAULT_AUTO_COUNT = 100;
/** XAUTOCLAIM visits at most this many pending entries per entry that it may claim. */
const ATTEMPTS_A_CLAIM = 10;

interface ClaimOptions {
  /** Undefined: now. */
  readonly deliveredAtMs: number | undefined;
  /** Undefined: incremented by one, except with JUSTID. */
  readonly deliveries: number | undefined;
  readonly force: boolean;
  readonly justId: boolean;
  readonly lastId: StreamId;
}

interface ClaimTerms {
  readonly context: CommandContext;
  readonly key: ByteString;
  readonly stream: Stream;
  readonly group: ConsumerGroup;
  readonly consumer: Consumer;
  readonly justId: boolean;
}

/** Collects the reply and the effects of one command's claims for one consumer. */
class Claims {
  readonly reply: Reply[] = [];
  readonly lost: StreamId[] = [];
  readonly #runs: ClaimRuns;

  constructor(private readonly terms: ClaimTerms) {
    this.#runs = new ClaimRuns(terms.key, terms.group);
  }

  /** The entry was deleted, so it is no longer pending. */
  lose(id: StreamId): void {
    if (this.terms.group.acknowledge(id)) this.lost.push(id);
  }

  take(id: StreamId, deliveredAtMs: number, deliveries: number): void {
    const { consumer, context, group, stream, justId } = this.terms;
    group.assign(id, consumer, deliveredAtMs, deliveries);
    consumer.active(context.isReplay ? deliveredAtMs : context.nowMs);
    const ended = this.#runs.add(id, { consumer, deliveredAtMs, deliveries });
    if (ended !== undefined) context.effects.push(...ended);
    const entry = justId ? undefined : stream.entry(id);
    this.reply.push(entry === undefined ? formatId(id) : entryReply(id, entry));
  }

  *end(): Generator<void, void> {
    const { context, group, key } = this.terms;
    const last = this.#runs.end();
    if (last !== undefined) context.effects.push(...last);
    yield* pushIds(context, ['XACK', key, group.name], this.lost);
  }
}

/**
 * XCLAIM key group consumer min-idle id … [IDLE ms] [TIME ms] [RETRYCOUNT n] [FORCE] [JUSTID] [LASTID id] → the claimed
 * entries, or their ids. NOGROUP.
 */
export const claim: SlicedHandler = function* (context): Generator<void, Reply> {
  const pace = new SlicePace();
  const { args, keyspace, nowMs } = context;
  const key = args.bytes(1);
  const { stream, group } = requireGroup(context);
  const minIdleMs = readMinIdle(context, 'XCLAIM');
  const ids: StreamId[] = [];
  let at = 5;
  for (; at < args.length; at += 1) {
    const id = idOrNothing(args.bytes(at));
    if (id === undefined) break;
    ids.push(id);
    if (pace.isDue()) yield;
  }
  const options = readClaimOptions(context, at);
  const before = stream.bytes;
  const changesPosition = options.lastId > group.lastId;
  if (changesPosition) group.lastId = options.lastId;
  const consumer = consumerOf(context, key, group, args.bytes(3));
  consumer.seen(nowMs);
  const claims = new Claims({ context, key, stream, group, consumer, justId: options.justId });
  const deliveredAtMs = options.deliveredAtMs ?? nowMs;
  for (const id of ids) {
    if (pace.isDue()) yield;
    const known = group.pending.get(id);
    if (!stream.has(id)) {
      claims.lose(id);
      continue;
    }
    if (known === undefined && !options.force) continue;
    if (known !== undefined && minIdleMs > 0 && nowMs - known.deliveredAtMs < minIdleMs) continue;
    const times = known?.deliveries ?? 1;
    claims.take(id, deliveredAtMs, options.deliveries ?? (options.justId ? times : onceMore(times)));
  }
  yield* claims.end();
  if (changesPosition) pushPosition(context, key, stream, group);
  keyspace.changed(key, stream, before);
  return claims.reply;
};

function readClaimOptions({ args, nowMs, isReplay }: CommandContext, from: number): ClaimOptions {
  let deliveredAtMs: number | undefined;
  let deliveries: number | undefined;
  let force = false;
  let justId = false;
  let lastId = MIN_ID;
  for (let i = from; i < args.length; i += 1) {
    const option = args.option(i);
    const next = args.words[i + 1];
    if (option === 'FORCE') force = true;
    else if (option === 'JUSTID') justId = true;
    else if (next === undefined) throw unrecognized(args.bytes(i));
    else if (option === 'LASTID') lastId = readId(next);
    else {
      const value = parseInt64(next);
      if (option === 'IDLE') {
        if (value === undefined) throw invalidArgument('IDLE option', 'XCLAIM');
        deliveredAtMs = nowMs - Number(value);
      } else if (option === 'TIME') {
        if (value === undefined) throw invalidArgument('TIME option', 'XCLAIM');
        deliveredAtMs = Number(value);
      } else if (option === 'RETRYCOUNT') {
        if (value === undefined) throw invalidArgument('RETRYCOUNT option', 'XCLAIM');
        deliveries = value < 0 ? undefined : Number(value);
      } else throw unrecognized(args.bytes(i));
    }
    if (option !== 'FORCE' && option !== 'JUSTID') i += 1;
  }
  // As in Redis, an invalid time means now; a journaled time is always valid.
  if (!isReplay && deliveredAtMs !== undefined && (deliveredAtMs < 0 || deliveredAtMs > nowMs)) deliveredAtMs = nowMs;
  return { deliveredAtMs, deliveries, force, justId, lastId };
}

/**
 * XAUTOCLAIM key group consumer min-idle start [COUNT n] [JUSTID] → the id to continue from, the claimed entries (or
 * their ids), the ids of deleted entries that were pending. NOGROUP.
 */
export const autoClaim: SlicedHandler = function* (context): Generator<void, Reply> {
  const { args, keyspace, nowMs } = context;
  const minIdleMs = readMinIdle(context, 'XAUTOCLAIM');
  const start = readStart(args.bytes(5));
  let count = DEFAULT_AUTO_COUNT;
  let justId = false;
  for (let i = 6; i < args.length; i += 1) {
    const option = args.option(i);
    if (option === 'JUSTID') justId = true;
    else if (option === 'COUNT' && i + 1 < args.length) {
      i += 1;
      count = readCount(args.bytes(i));
    } else throw ERRORS.syntax;
  }
  const key = args.bytes(1);
  const { stream, group } = requireGroup(context);
  const before = stream.bytes;
  const consumer = consumerOf(context, key, group, args.bytes(3));
  consumer.seen(nowMs);
  const claims = new Claims({ context, key, stream, group, consumer, justId });
  const { met, next } = yield* idleEnough({ stream, group, start, minIdleMs, count, nowMs });
  const pace = new SlicePace();
  for (const [id, { deliveries }] of met) {
    if (pace.isDue()) yield;
    if (stream.has(id)) claims.take(id, nowMs, justId ? deliveries : onceMore(deliveries));
    else claims.lose(id);
  }
  yield* claims.end();
  keyspace.changed(key, stream, before);
  return [formatId(next), claims.reply, claims.lost.map(formatId)];
};

/** Whether the count is so large that the command needs slices. */
export function isLongAutoClaim({ args }: CommandContext): boolean {
  return args.length > 7 && args.words.some((word, i) => i > 6 && Number(word) > MANY_WORDS);
}

interface AutoClaim {
  readonly stream: Stream;
  readonly group: ConsumerGroup;
  readonly start: StreamId;
  readonly minIdleMs: number;
  readonly count: number;
  readonly nowMs: number;
}

/** The pending entries from `start` on that can be claimed or were deleted, and the first id that was not visited. */
function* idleEnough({
  stream,
  group,
  start,
  minIdleMs,
  count,
  nowMs,
}: AutoClaim): Generator<void, { readonly met: readonly [StreamId, PendingEntry][]; readonly next: StreamId }> {
  const met: [StreamId, PendingEntry][] = [];
  let attempts = count * ATTEMPTS_A_CLAIM;
  let next = MIN_ID;
  yield* walkInSlices(group.pending, start, MAX_ID, (id, pending) => {
    if (attempts === 0 || met.length >= count) {
      next = id;
      return false;
    }
    attempts -= 1;
    if (!stream.has(id) || minIdleMs <= 0 || idleOf(pending, nowMs) >= minIdleMs) met.push([id, pending]);
    return true;
  });
  return { met, next };
}

function readMinIdle({ args }: CommandContext, command: string): number {
  const value = parseInt64(args.bytes(4));
  if (value === undefined) throw invalidArgument('min-idle-time', command);
  return Math.max(0, Number(value));
}

/** As in Redis, counts that overflow the number of attempts are refused too. */
function readCount(word: ByteString): number {
  const value = parseInt64(word);
  if (value === undefined || value < 1 || typeof value === 'bigint') throw countNotPositive;
  return value;
}

function idOrNothing(word: ByteString): StreamId | undefined {
  try {
    return readId(word);
  } catch (refusal) {
    if (refusal === invalidId) return undefined;
    throw refusal;
  }
}

function unrecognized(option: ByteString): ErrorReply {
  return new ErrorReply(`ERR Unrecognized XCLAIM option '${option}'`);
}
