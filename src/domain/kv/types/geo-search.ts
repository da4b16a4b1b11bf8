/**
 * The grid cells that a circle or box may touch, and the distance test. The algorithm is Redis's, so that unsorted
 * results come in the same order.
 */
import { areaOf, type Cell, cellAt, type GeoArea, MAX_STEP, type Position } from './geo-hash.js';

/** Lengths in metres. */
export type GeoShape =
  | { readonly kind: 'circle'; readonly centre: Position; readonly radius: number }
  | { readonly kind: 'box'; readonly centre: Position; readonly width: number; readonly height: number };

const EARTH_RADIUS = 6372797.560856;
/** Half the width of the Mercator map, in metres. */
const MERCATOR_MAX = 20037726.37;
const RADIANS = Math.PI / 180;
/** Cells get narrow towards the poles: above the first latitude the grid is one step coarser, above the second two. */
const HIGH_LATITUDE = 66;
const POLAR_LATITUDE = 80;

export function distance(one: Position, other: Position): number {
  const oneLatitude = one.latitude * RADIANS;
  const otherLatitude = other.latitude * RADIANS;
  const v = Math.sin((other.longitude * RADIANS - one.longitude * RADIANS) / 2);
  const u = Math.sin((otherLatitude - oneLatitude) / 2);
  const a = u * u + Math.cos(oneLatitude) * Math.cos(otherLatitude) * v * v;
  return 2 * EARTH_RADIUS * Math.asin(Math.sqrt(a));
}

function northSouth(one: number, other: number): number {
  return EARTH_RADIUS * Math.abs(other * RADIANS - one * RADIANS);
}

/** The distance from the centre; undefined if outside. */
export function distanceWithin(shape: GeoShape, position: Position): number | undefined {
  if (shape.kind === 'circle') {
    const far = distance(shape.centre, position);
    return far > shape.radius ? undefined : far;
  }
  if (northSouth(position.latitude, shape.centre.latitude) > shape.height / 2) return undefined;
  const across = distance(position, { longitude: shape.centre.longitude, latitude: position.latitude });
  return across > shape.width / 2 ? undefined : distance(shape.centre, position);
}

/** The cells to search, in order, without direct repetitions. */
export function cellsAround(shape: GeoShape): Cell[] {
  const bounds = boundsOf(shape);
  const { centre } = shape;
  const reach = shape.kind === 'circle' ? shape.radius : Math.sqrt((shape.width / 2) ** 2 + (shape.height / 2) ** 2);
  let step = stepFor(reach, centre.latitude);
  let cell = cellAt(centre, step);
  if (step > 1 && !reaches(cell, bounds)) {
    step -= 1;
    cell = cellAt(centre, step);
  }
  const area = areaOf(cell);
  // Neighbours that the shape cannot touch are omitted, except in the coarsest grid.
  const isFine = step >= 2;
  const south = !isFine || area.south >= bounds.south;
  const north = !isFine || area.north <= bounds.north;
  const west = !isFine || area.west >= bounds.west;
  const east = !isFine || area.east <= bounds.east;
  const wanted: [boolean, number, number][] = [
    [true, 0, 0],
    [north, 0, 1],
    [south, 0, -1],
    [east, 1, 0],
    [west, -1, 0],
    [north && east, 1, 1],
    [north && west, -1, 1],
    [south && east, 1, -1],
    [south && west, -1, -1],
  ];
  const cells: Cell[] = [];
  for (const [isWanted, across, up] of wanted) {
    if (!isWanted) continue;
    const next = neighbour(cell, across, up);
    const last = cells[cells.length - 1];
    // In a coarse grid two neighbours may be the same cell.
    const isSame = last?.longitudeBits === next.longitudeBits && last.latitudeBits === next.latitudeBits;
    if (!isSame || cells.length < 2) cells.push(next);
  }
  return cells;
}

/** Neighbours wrap around the globe and, as in Redis, over the poles too. */
function neighbour({ longitudeBits, latitudeBits, step }: Cell, across: number, up: number): Cell {
  return { longitudeBits: moved(longitudeBits, across, step), latitudeBits: moved(latitudeBits, up, step), step };
}

/** A position at the upper edge is one cell beyond the grid; without a move it stays there. */
function moved(bits: number, by: number, step: number): number {
  const cells = 2 ** step;
  return by === 0 ? bits : (bits + by + cells) % cells;
}

/** Whether the cell and its neighbours cover the bounds. */
function reaches(cell: Cell, bounds: GeoArea): boolean {
  return (
    areaOf(neighbour(cell, 0, 1)).north >= bounds.north &&
    areaOf(neighbour(cell, 0, -1)).south <= bounds.south &&
    areaOf(neighbour(cell, 1, 0)).east >= bounds.east &&
    areaOf(neighbour(cell, -1, 0)).west <= bounds.west
  );
}

function stepFor(reach: number, latitude: number): number {
  if (reach === 0) return MAX_STEP;
  let step = 1;
  for (let range = reach; range < MERCATOR_MAX; range *= 2) step += 1;
  step -= 2;
  if (Math.abs(latitude) > HIGH_LATITUDE) step -= 1;
  if (Math.abs(latitude) > POLAR_LATITUDE) step -= 1;
  return Math.max(1, Math.min(MAX_STEP, step));
}

function boundsOf(shape: GeoShape): GeoArea {
  const { longitude, latitude } = shape.centre;
  const height = shape.kind === 'circle' ? shape.radius : shape.height / 2;
  const width = shape.kind === 'circle' ? shape.radius : shape.width / 2;
  const up = height / EARTH_RADIUS / RADIANS;
  // A degree of longitude is shortest at the edge nearer to a pole.
  const nearPole = latitude < 0 ? latitude - up : latitude + up;
  const across = width / EARTH_RADIUS / Math.cos(nearPole * RADIANS) / RADIANS;
  return { west: longitude - across, east: longitude + across, south: latitude - up, north: latitude + up };
}
