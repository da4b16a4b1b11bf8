/** Parses the words of GEOSEARCH, GEORADIUS and their variants in Redis's order. */
import type { ByteString } from '../../../../kernel/index.js';
import type { CommandContext } from '../../command-spec.js';
import { parseInt64 } from '../../numbers.js';
import { ERRORS, ErrorReply } from '../../reply.js';
import { type Position, positionOf } from '../../types/geo-hash.js';
import type { GeoShape } from '../../types/geo-search.js';
import { SortedSet } from '../../types/sorted-set.js';
import { type Radius, readBox, readPosition, readRadius } from './units.js';

const noMember = new ErrorReply('ERR could not decode requested zset member');
const badCount = new ErrorReply('ERR COUNT must be > 0');
const anyAlone = new ErrorReply('ERR the ANY argument requires COUNT argument');

/** The variant of the command. */
export interface SearchForm {
  /** `search`: centre and shape are options; the others start with a circle around a position or a member. */
  readonly kind: 'search' | 'around-place' | 'around-member';
  /** `always`: GEOSEARCHSTORE, with the destination first; `option`: STORE and STOREDIST. */
  readonly stores: 'never' | 'option' | 'always';
}

export interface GeoSearch {
  readonly set: SortedSet | undefined;
  /** Undefined if the set is missing. */
  readonly shape: GeoShape | undefined;
  /** Metres per unit of printed distances. */
  readonly unit: number;
  readonly destination: ByteString | undefined;
  readonly storesDistances: boolean;
  readonly withDistances: boolean;
  readonly withHashes: boolean;
  readonly withPositions: boolean;
  readonly order: 'none' | 'nearest' | 'farthest';
  /** 0: all. */
  readonly count: number;
  /** Any members may be returned, not necessarily the nearest. */
  readonly isAny: boolean;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** The parts of the shape parsed so far. */
interface Outline {
  centre: Position | undefined;
  hasMember: boolean;
  hasPlace: boolean;
  circle: Radius | undefined;
  box: { width: number; height: number; unit: number } | undefined;
}

/** @throws ErrorReply */
export function readSearch(context: CommandContext, form: SearchForm): GeoSearch {
  const { args, keyspace } = context;
  const keyAt = form.stores === 'always' ? 2 : 1;
  const set = keyspace.peekKind(args.bytes(keyAt), SortedSet);
  const outline: Outline = {
    centre: undefined,
    hasMember: false,
    hasPlace: false,
    circle: undefined,
    box: undefined,
  };
  const optionsAt = keyAt + readFront(context, form, set, outline);
  const request: Mutable<GeoSearch> = {
    set,
    shape: undefined,
    unit: 1,
    destination: form.stores === 'always' ? args.bytes(1) : undefined,
    storesDistances: false,
    withDistances: false,
    withHashes: false,
    withPositions: false,
    order: 'none',
    count: 0,
    isAny: false,
  };
  for (let i = optionsAt; i < args.length; ) {
    const taken = readPlain(context, i, request) || readStore(context, i, form, request);
    const width = taken || (form.kind === 'search' ? readShape(context, i, set, outline) : 0);
    if (width === 0) throw ERRORS.syntax;
    i += width;
  }
  requireComplete(context, form, request, outline);
  // COUNT without ANY or an order means the nearest.
  if (request.count !== 0 && request.order === 'none' && !request.isAny) request.order = 'nearest';
  request.unit = outline.circle?.unit ?? outline.box?.unit ?? 1;
  request.shape = shapeOf(outline);
  return request;
}

/** Parses the words before the options. @returns their number, including the key */
function readFront({ args }: CommandContext, form: SearchForm, set: SortedSet | undefined, outline: Outline): number {
  if (form.kind === 'search') return 1;
  if (form.kind === 'around-place') {
    outline.centre = readPosition(args, 2);
    outline.circle = readRadius(args, 4);
    return 5;
  }
  // As in Redis, the member and radius are not checked if the set is missing.
  if (set !== undefined) {
    outline.centre = centreOf(set, args.bytes(2));
    outline.circle = readRadius(args, 3);
  }
  return 4;
}

function centreOf(set: SortedSet, member: ByteString): Position {
  const score = set.scoreOf(member);
  if (score === undefined) throw noMember;
  return positionOf(score);
}

/** Parses options that all variants have. @returns the number of words */
function readPlain({ args }: CommandContext, i: number, request: Mutable<GeoSearch>): number {
  switch (args.option(i)) {
    case 'WITHDIST':
      request.withDistances = true;
      return 1;
    case 'WITHHASH':
      request.withHashes = true;
      return 1;
    case 'WITHCOORD':
      request.withPositions = true;
      return 1;
    case 'ANY':
      request.isAny = true;
      return 1;
    case 'ASC':
      request.order = 'nearest';
      return 1;
    case 'DESC':
      request.order = 'farthest';
      return 1;
    case 'COUNT': {
      if (i + 1 >= args.length) return 0;
      const count = parseInt64(args.bytes(i + 1));
      if (count === undefined) throw ERRORS.notAnInteger;
      if (count <= 0) throw badCount;
      request.count = Number(count);
      return 2;
    }
    default:
      return 0;
  }
}

function readStore({ args }: CommandContext, i: number, { stores }: SearchForm, request: Mutable<GeoSearch>): number {
  const option = args.option(i);
  if (stores === 'always' && option === 'STOREDIST') {
    request.storesDistances = true;
    return 1;
  }
  if (stores !== 'option' || (option !== 'STORE' && option !== 'STOREDIST') || i + 1 >= args.length) return 0;
  request.destination = args.bytes(i + 1);
  request.storesDistances = option === 'STOREDIST';
  return 2;
}

function readShape({ args }: CommandContext, i: number, set: SortedSet | undefined, outline: Outline): number {
  const option = args.option(i);
  const left = args.length - i - 1;
  if (option === 'FROMMEMBER' && left >= 1 && !outline.hasPlace) {
    if (set !== undefined) outline.centre = centreOf(set, args.bytes(i + 1));
    outline.hasMember = true;
    return 2;
  }
  if (option === 'FROMLONLAT' && left >= 2 && !outline.hasMember) {
    outline.centre = readPosition(args, i + 1);
    outline.hasPlace = true;
    return 3;
  }
  if (option === 'BYRADIUS' && left >= 2 && outline.box === undefined) {
    outline.circle = readRadius(args, i + 1);
    return 3;
  }
  if (option === 'BYBOX' && left >= 3 && outline.circle === undefined) {
    outline.box = readBox(args, i + 1);
    return 4;
  }
  return 0;
}

function requireComplete(
  { args }: CommandContext,
  { kind, stores }: SearchForm,
  request: GeoSearch,
  outline: Outline,
): void {
  if (request.destination !== undefined && (request.withDistances || request.withHashes || request.withPositions)) {
    const option = stores === 'always' ? 'GEOSEARCHSTORE' : 'STORE option in GEORADIUS';
    throw new ErrorReply(`ERR ${option} is not compatible with WITHDIST, WITHHASH and WITHCOORD options`);
  }
  if (kind === 'search') {
    const name = args.bytes(0);
    if (!outline.hasMember && !outline.hasPlace) {
      throw new ErrorReply(`ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for ${name}`);
    }
    if (outline.circle === undefined && outline.box === undefined) {
      throw new ErrorReply(`ERR exactly one of BYRADIUS and BYBOX can be specified for ${name}`);
    }
  }
  if (request.isAny && request.count === 0) throw anyAlone;
}

function shapeOf({ centre, circle, box }: Outline): GeoShape | undefined {
  if (centre === undefined) return undefined;
  if (circle !== undefined) return { kind: 'circle', centre, radius: circle.radius };
  return box === undefined ? undefined : { kind: 'box', centre, width: box.width, height: box.height };
}
