/** Parsing of positions and lengths, and printing of lengths. */
import type { ByteString } from '../../../../kernel/index.js';
import type { Args } from '../../args.js';
import { ERRORS, ErrorReply } from '../../reply.js';
import { isOnMap, type Position } from '../../types/geo-hash.js';
import { parseScore } from '../../types/score-text.js';

const unknownUnit = new ErrorReply('ERR unsupported unit provided. please use M, KM, FT, MI');
const badRadius = new ErrorReply('ERR need numeric radius');
const negativeRadius = new ErrorReply('ERR radius cannot be negative');
const badWidth = new ErrorReply('ERR need numeric width');
const badHeight = new ErrorReply('ERR need numeric height');
const negativeSide = new ErrorReply('ERR height or width cannot be negative');

const METRES: Readonly<Record<string, number>> = { M: 1, KM: 1000, FT: 0.3048, MI: 1609.34 };
const DISTANCE_DECIMALS = 4;
const COORDINATE_DECIMALS = 6;

/** @returns the metres per unit @throws ErrorReply */
export function readUnit(args: Args, index: number): number {
  const metres = METRES[args.option(index)];
  if (metres === undefined) throw unknownUnit;
  return metres;
}

/** Longitude and latitude. @throws ErrorReply when they are not numbers or out of range */
export function readPosition(args: Args, index: number): Position {
  const position = { longitude: readDegrees(args, index), latitude: readDegrees(args, index + 1) };
  if (isOnMap(position)) return position;
  const { longitude, latitude } = position;
  throw new ErrorReply(`ERR invalid longitude,latitude pair ${fixed(longitude)},${fixed(latitude)}`);
}

function readDegrees(args: Args, index: number): number {
  const degrees = parseScore(args.bytes(index));
  if (degrees === undefined) throw ERRORS.notAFloat;
  return degrees;
}

/** Formats like C's `%f`, with six decimals. */
function fixed(value: number): ByteString {
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (Math.abs(value) < 1e21) return value.toFixed(COORDINATE_DECIMALS);
  return `${BigInt(value)}.${'0'.repeat(COORDINATE_DECIMALS)}`;
}

export interface Radius {
  /** In metres. */
  readonly radius: number;
  readonly unit: number;
}

/** A length and its unit. @throws ErrorReply */
export function readRadius(args: Args, index: number): Radius {
  const length = parseScore(args.bytes(index));
  if (length === undefined) throw badRadius;
  if (length < 0) throw negativeRadius;
  const unit = readUnit(args, index + 1);
  return { radius: length * unit, unit };
}

/** Width, height, unit. @throws ErrorReply */
export function readBox(args: Args, index: number): { width: number; height: number; unit: number } {
  const width = parseScore(args.bytes(index));
  if (width === undefined) throw badWidth;
  const height = parseScore(args.bytes(index + 1));
  if (height === undefined) throw badHeight;
  if (width < 0 || height < 0) throw negativeSide;
  const unit = readUnit(args, index + 2);
  return { width: width * unit, height: height * unit, unit };
}

/** A length in the given unit, always with four decimals. */
export function distanceText(metres: number, unit: number): ByteString {
  return (metres / unit).toFixed(DISTANCE_DECIMALS);
}
