/** Members within a circle or box: GEOSEARCH, GEORADIUS, GEORADIUSBYMEMBER and their storing variants. */
import type { ByteString } from '../../../../kernel/index.js';
import type { FoundKey, KeySearch } from '../../command-description.js';
import type { CommandContext, SlicedHandler } from '../../command-spec.js';
import type { Reply } from '../../reply.js';
import { mapped, mergeSorted, SlicePace } from '../../slices.js';
import { leastScore, positionOf, scoresPerCell } from '../../types/geo-hash.js';
import { cellsAround, distanceWithin, type GeoShape } from '../../types/geo-search.js';
import { SortedSet } from '../../types/sorted-set.js';
import { storeResult } from '../sorted-set/effects.js';
import { LONG_SORTED_SET_ENTRIES, SLICE_ENTRIES } from '../sorted-set/limits.js';
import { positionReply } from './members.js';
import { type GeoSearch, readSearch, type SearchForm } from './request.js';
import { distanceText } from './units.js';

interface Found {
  readonly member: ByteString;
  readonly score: number;
  /** Metres from the centre. */
  readonly metres: number;
}

/** The members in the shape, cell by cell; at most `limit`, unless it is 0. */
function* membersWithin(set: SortedSet, shape: GeoShape, limit: number): Generator<void, Found[]> {
  const found: Found[] = [];
  const visit = (member: ByteString, score: number): void => {
    if (limit !== 0 && found.length >= limit) return;
    const metres = distanceWithin(shape, positionOf(score));
    if (metres !== undefined) found.push({ member, score, metres });
  };
  for (const cell of cellsAround(shape)) {
    const least = leastScore(cell);
    const next = least + scoresPerCell(cell.step);
    const from = set.countWhile((score) => score < least);
    const to = set.countWhile((score) => score < next);
    for (let rank = from; rank < to; rank += SLICE_ENTRIES) {
      set.walk(rank, Math.min(to, rank + SLICE_ENTRIES), visit);
      if (limit !== 0 && found.length >= limit) return found;
      yield;
    }
  }
  return found;
}

function* search(request: GeoSearch): Generator<void, Found[]> {
  const { set, shape, order, count, isAny } = request;
  if (set === undefined || shape === undefined) return [];
  const found = yield* membersWithin(set, shape, isAny ? count : 0);
  let sorted = found;
  if (order === 'nearest') sorted = yield* mergeSorted(found, (one, other) => one.metres - other.metres);
  else if (order === 'farthest') sorted = yield* mergeSorted(found, (one, other) => other.metres - one.metres);
  return count === 0 ? sorted : sorted.slice(0, count);
}

/** Each member's name, or a list of the requested items: name, distance, score, [longitude, latitude]. */
function* reply(found: readonly Found[], request: GeoSearch): Generator<void, Reply> {
  const { unit, withDistances, withHashes, withPositions } = request;
  if (!withDistances && !withHashes && !withPositions) return yield* mapped(found, ({ member }) => member);
  return yield* mapped(found, ({ member, score, metres }) => {
    const items: Reply[] = [member];
    if (withDistances) items.push(distanceText(metres, unit));
    if (withHashes) items.push(Math.trunc(score));
    if (withPositions) items.push(positionReply(score));
    return items;
  });
}

/** GEOSEARCH key FROMMEMBER member | FROMLONLAT x y BYRADIUS r unit | BYBOX w h unit [ASC | DESC] [COUNT n [ANY]] [WITH…] → members. */
export function searching(form: SearchForm): SlicedHandler {
  return function* (context) {
    const request = readSearch(context, form);
    const found = yield* search(request);
    const { destination } = request;
    if (destination === undefined) return yield* reply(found, request);
    const result = new SortedSet();
    const pace = new SlicePace();
    for (const { member, score, metres } of found) {
      result.put(member, request.storesDistances ? metres / request.unit : score);
      if (pace.isDue()) yield;
    }
    const event = form.stores === 'always' ? 'geosearchstore' : 'georadiusstore';
    return yield* storeResult(context, destination, result, event);
  };
}

/** Any search in a large set may visit much of it. */
export function isLongSearch(keyAt: number): (context: CommandContext) => boolean {
  return ({ args, keyspace }) => {
    const value = keyspace.peek(args.bytes(keyAt));
    return value instanceof SortedSet && value.size > LONG_SORTED_SET_ENTRIES;
  };
}

/** The keys of GEORADIUS for COMMAND INFO. */
export function radiusSearches(from: number): readonly KeySearch[] {
  const stored = ['STORE', 'STOREDIST'].map((keyword) => ({ use: 'OW update', keyword, from }));
  return [{ use: 'RO access', at: 1 }, ...stored];
}

/** The source, and the destination of the last STORE or STOREDIST. */
export function keysOfRadius(optionsAt: number): (words: readonly ByteString[]) => readonly FoundKey[] {
  return (words) => {
    let destinationAt: number | undefined;
    for (let i = optionsAt; i + 1 < words.length; i += 1) {
      if (!/^store(?:dist)?$/i.test(words[i] as ByteString)) continue;
      i += 1;
      destinationAt = i;
    }
    const source: FoundKey = { position: 1, access: 'read' };
    return destinationAt === undefined ? [source] : [source, { position: destinationAt, access: 'write' }];
  };
}
