/** Positions of single members: GEOADD, GEOPOS, GEOHASH, GEODIST. */
import type { CommandContext, CommandSpec, Handler, SlicedHandler } from '../../command-spec.js';
import { formatDouble } from '../../numbers.js';
import { DoubleReply, ERRORS, type Reply } from '../../reply.js';
import { mapped, SlicePace } from '../../slices.js';
import { geoHashText, positionOf, scoreAt } from '../../types/geo-hash.js';
import { distance } from '../../types/geo-search.js';
import { peek } from '../sorted-set/look.js';
import { distanceText, readPosition, readUnit } from './units.js';

const CONDITIONS: ReadonlySet<string> = new Set(['NX', 'XX', 'CH']);
const WORDS_PER_MEMBER = 3;

/** GEOADD key [NX | XX] [CH] longitude latitude member … → as ZADD, with the encoded positions as scores. */
export function add(zadd: CommandSpec): SlicedHandler {
  return function* (context): Generator<void, Reply> {
    return yield* context.callInSlices(zadd, yield* zaddWords(context));
  };
}

function* zaddWords({ args }: CommandContext): Generator<void, string[]> {
  let firstAt = 2;
  while (firstAt < args.length && CONDITIONS.has(args.option(firstAt))) firstAt += 1;
  const options = args.words.slice(2, firstAt).map((word) => word.toUpperCase());
  const areBoth = options.includes('NX') && options.includes('XX');
  if (areBoth || (args.length - firstAt) % WORDS_PER_MEMBER !== 0) throw ERRORS.syntax;
  const words = ['ZADD', args.bytes(1), ...options];
  const pace = new SlicePace();
  for (let i = firstAt; i < args.length; i += WORDS_PER_MEMBER) {
    words.push(formatDouble(scoreAt(readPosition(args, i))), args.bytes(i + 2));
    if (pace.isDue()) yield;
  }
  return words;
}

/** The longitude and latitude of a score, as a reply. */
export function positionReply(score: number): Reply {
  const { longitude, latitude } = positionOf(score);
  return [new DoubleReply(longitude), new DoubleReply(latitude)];
}

function forEachMember(answer: (score: number) => Reply, missing: Reply): SlicedHandler {
  return (context) => {
    const set = peek(context);
    return mapped(context.args.from(2), (member) => {
      const score = set?.scoreOf(member);
      return score === undefined ? missing : answer(score);
    });
  };
}

/** GEOPOS key member … → [longitude, latitude] or null for each. */
export function positions(missing: Reply): SlicedHandler {
  return forEachMember(positionReply, missing);
}

/** GEOHASH key member … → eleven letters or null for each. */
export const hashes: SlicedHandler = forEachMember(geoHashText, null);

/** GEODIST key one other [unit] → their distance, or null if one is missing. */
export const distanceBetween: Handler = (context) => {
  const { args } = context;
  if (args.length > 5) throw ERRORS.syntax;
  const unit = args.length === 5 ? readUnit(args, 4) : 1;
  const set = peek(context);
  const one = set?.scoreOf(args.bytes(2));
  const other = set?.scoreOf(args.bytes(3));
  if (one === undefined || other === undefined) return null;
  return distanceText(distance(positionOf(one), positionOf(other)), unit);
};
