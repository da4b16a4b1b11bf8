/**
 * Positions in Redis's encoding: longitude and latitude, each divided into 2^26 steps, with their bits interleaved to
 * the 52 bits of a member's score. Coarser cells have fewer bits per side.
 *
 * A cell holds the bits of each side separately; in a score, latitude has the even bits and longitude the odd bits.
 */
import type { ByteString } from '../../../kernel/index.js';

export interface Position {
  readonly longitude: number;
  readonly latitude: number;
}

/** A cell of a grid with 2^step cells per side. */
export interface Cell {
  readonly longitudeBits: number;
  readonly latitudeBits: number;
  readonly step: number;
}

export interface GeoArea {
  readonly west: number;
  readonly east: number;
  readonly south: number;
  readonly north: number;
}

export const MAX_STEP = 26;
const MAX_LONGITUDE = 180;
/** The limit of the square web-Mercator map. */
const MAX_LATITUDE = 85.05112878;
/** GEOHASH divides the whole globe, up to the poles. */
const POLE = 90;

const HALF_BITS = 13;
const HALF = 2 ** HALF_BITS;
const HALF_MASK = HALF - 1;
const LETTERS = '0123456789bcdefghjkmnpqrstuvwxyz';
const LETTER_COUNT = 10;

export function isOnMap({ longitude, latitude }: Position): boolean {
  return Math.abs(longitude) <= MAX_LONGITUDE && Math.abs(latitude) <= MAX_LATITUDE;
}

/** @param position within the map */
export function cellAt(position: Position, step: number, maxLatitude = MAX_LATITUDE): Cell {
  const cells = 2 ** step;
  const across = (position.longitude + MAX_LONGITUDE) / (2 * MAX_LONGITUDE);
  const up = (position.latitude + maxLatitude) / (2 * maxLatitude);
  return { longitudeBits: Math.floor(across * cells), latitudeBits: Math.floor(up * cells), step };
}

export function areaOf({ longitudeBits, latitudeBits, step }: Cell): GeoArea {
  const cells = 2 ** step;
  return {
    west: -MAX_LONGITUDE + (longitudeBits / cells) * (2 * MAX_LONGITUDE),
    east: -MAX_LONGITUDE + ((longitudeBits + 1) / cells) * (2 * MAX_LONGITUDE),
    south: -MAX_LATITUDE + (latitudeBits / cells) * (2 * MAX_LATITUDE),
    north: -MAX_LATITUDE + ((latitudeBits + 1) / cells) * (2 * MAX_LATITUDE),
  };
}

/** The lowest score in a cell; the next cell's scores begin `scoresPerCell` later. */
export function leastScore({ longitudeBits, latitudeBits, step }: Cell): number {
  return interleaved(latitudeBits, longitudeBits) * scoresPerCell(step);
}

export function scoresPerCell(step: number): number {
  return 4 ** (MAX_STEP - step);
}

export function scoreAt(position: Position): number {
  return leastScore(cellAt(position, MAX_STEP));
}

/** The centre of the cell of a score. */
export function positionOf(score: number): Position {
  const area = areaOf(cellOfScore(score));
  return {
    longitude: clamped((area.west + area.east) / 2, MAX_LONGITUDE),
    latitude: clamped((area.south + area.north) / 2, MAX_LATITUDE),
  };
}

/** Eleven letters; the last is always `0`, because 52 bits fill only ten. */
export function geoHashText(score: number): ByteString {
  const cell = cellAt(positionOf(score), MAX_STEP, POLE);
  const bits = BigInt(interleaved(cell.latitudeBits, cell.longitudeBits));
  let text = '';
  for (let i = 1; i <= LETTER_COUNT; i += 1) text += LETTERS[Number((bits >> BigInt(52 - 5 * i)) & 31n)];
  return `${text}0`;
}

function clamped(value: number, limit: number): number {
  return Math.max(-limit, Math.min(limit, value));
}

function cellOfScore(score: number): Cell {
  // A score that no position has is cast to 64 bits as in C.
  const whole = Number.isFinite(score) ? BigInt.asUintN(64, BigInt(Math.trunc(score))) : 1n << 63n;
  const low = Number(whole & 0x3ffffffn);
  const middle = Number((whole >> 26n) & 0x3ffffffn);
  const high = Number(whole >> 52n);
  return {
    latitudeBits: evenBits(low) + evenBits(middle) * HALF + evenBits(high) * HALF * HALF,
    longitudeBits: evenBits(low >>> 1) + evenBits(middle >>> 1) * HALF + evenBits(high >>> 1) * HALF * HALF,
    step: MAX_STEP,
  };
}

function interleaved(even: number, odd: number): number {
  const low = spread(even & HALF_MASK) + 2 * spread(odd & HALF_MASK);
  const high = spread(Math.floor(even / HALF)) + 2 * spread(Math.floor(odd / HALF));
  return high * 2 ** MAX_STEP + low;
}

/** Moves bit i to bit 2i; at most 16 bits. */
function spread(bits: number): number {
  let spreading = bits;
  spreading = (spreading | (spreading << 8)) & 0x00ff00ff;
  spreading = (spreading | (spreading << 4)) & 0x0f0f0f0f;
  spreading = (spreading | (spreading << 2)) & 0x33333333;
  return (spreading | (spreading << 1)) & 0x55555555;
}

/** The inverse of `spread`; at most 32 bits. */
function evenBits(bits: number): number {
  let gathered = bits & 0x55555555;
  gathered = (gathered | (gathered >>> 1)) & 0x33333333;
  gathered = (gathered | (gathered >>> 2)) & 0x0f0f0f0f;
  gathered = (gathered | (gathered >>> 4)) & 0x00ff00ff;
  return (gathered | (gathered >>> 8)) & 0x0000ffff;
}
