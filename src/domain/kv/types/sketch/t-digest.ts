/**
 * A t-digest: centroids (a mean and the number of values near it), narrow at both ends, from which quantiles are
 * estimated. New values are collected and merged when there is no room for another one.
 *
 * Invariants
 *
 *  TDG1 only adding changes it: questions look at a merged copy, so the same values give the same bytes
 *  TDG2 merged centroids are in order, and come first
 */
import type { ByteString } from '../../../../kernel/index.js';
import type { UndoRecorder } from '../../value.js';
import { bytesOfNumbers, Sketch, type SketchForm } from './sketch.js';
import { type Centroids, mergeCentroids } from './t-digest-centroids.js';

const OVERHEAD_BYTES = 300;
const BYTES_A_CENTROID = 16;

/** The number of centroids for a compression, as in Redis. */
function centroidsFor(compression: number): number {
  return 6 * compression + 10;
}

export class TDigest extends Sketch {
  readonly kind = 'TDIS-TYPE';
  readonly means: Float64Array;
  readonly weights: Float64Array;
  merged = 0;
  unmerged = 0;
  mergedWeight = 0;
  unmergedWeight = 0;
  min = Number.POSITIVE_INFINITY;
  max = Number.NEGATIVE_INFINITY;
  compressions = 0;
  /** The merged copy, until a value is added. */
  #view: Centroids | undefined;

  constructor(readonly compression: number) {
    super();
    this.means = new Float64Array(centroidsFor(compression));
    this.weights = new Float64Array(centroidsFor(compression));
  }

  static bytesToReserve(compression: number): number {
    return centroidsFor(compression) * BYTES_A_CENTROID;
  }

  static fromWords(words: readonly ByteString[]): TDigest {
    const [
      compression = 0,
      min = 0,
      max = 0,
      merged = 0,
      unmerged = 0,
      mergedWeight = 0,
      unmergedWeight = 0,
      compressions = 0,
    ] = words.map(Number);
    const digest = new TDigest(compression);
    if (merged + unmerged > digest.means.length) throw new RangeError('not a t-digest');
    Object.assign(digest, { min, max, merged, unmerged, mergedWeight, unmergedWeight, compressions });
    return digest;
  }

  get size(): number {
    return this.mergedWeight + this.unmergedWeight;
  }

  get bytes(): number {
    return OVERHEAD_BYTES + this.means.length * BYTES_A_CENTROID;
  }

  add(mean: number, weight: number): void {
    if (this.merged + this.unmerged >= this.means.length - 1) this.#compress();
    const at = this.merged + this.unmerged;
    this.means[at] = mean;
    this.weights[at] = weight;
    this.unmerged += 1;
    this.unmergedWeight += weight;
    if (mean < this.min) this.min = mean;
    if (mean > this.max) this.max = mean;
    this.#view = undefined;
  }

  /** Adds the values of another digest. */
  take(other: TDigest): void {
    const { means, weights, count } = other.centroids();
    for (let at = 0; at < count; at += 1) this.add(means[at] as number, weights[at] as number);
    this.min = Math.min(this.min, other.min);
    this.max = Math.max(this.max, other.max);
  }

  reset(): void {
    Object.assign(this, { merged: 0, unmerged: 0, mergedWeight: 0, unmergedWeight: 0, compressions: 0 });
    this.min = Number.POSITIVE_INFINITY;
    this.max = Number.NEGATIVE_INFINITY;
    this.means.fill(0);
    this.weights.fill(0);
    this.#view = undefined;
  }

  /** All centroids, merged (TDG1: the digest itself stays as it is). */
  centroids(): Centroids {
    this.#view ??= mergeCentroids(this.#raw(), this.compression);
    return this.#view;
  }

  override load(part: number, offset: number, bytes: Uint8Array): void {
    super.load(part, offset, bytes);
    this.#view = undefined;
  }

  form(): SketchForm {
    const { compression, min, max, merged, unmerged, mergedWeight, unmergedWeight, compressions } = this;
    const words = [compression, min, max, merged, unmerged, mergedWeight, unmergedWeight, compressions].map(String);
    return { words, parts: [bytesOfNumbers(this.means), bytesOfNumbers(this.weights)] };
  }

  clone(): TDigest {
    const copy = new TDigest(this.compression);
    copy.#takeState(this);
    return copy;
  }

  keepState(undo: UndoRecorder): void {
    const kept = this.clone();
    undo.push(() => this.#takeState(kept), this.bytes);
  }

  #takeState(other: TDigest): void {
    const { min, max, merged, unmerged, mergedWeight, unmergedWeight, compressions } = other;
    Object.assign(this, { min, max, merged, unmerged, mergedWeight, unmergedWeight, compressions });
    this.means.set(other.means);
    this.weights.set(other.weights);
    this.#view = undefined;
  }

  #raw(): Centroids {
    const { means, weights, min, max, size } = this;
    return { means, weights, count: this.merged + this.unmerged, total: size, min, max };
  }

  #compress(): void {
    const { means, weights, count } = mergeCentroids(this.#raw(), this.compression);
    this.means.fill(0).set(means.subarray(0, count));
    this.weights.fill(0).set(weights.subarray(0, count));
    this.mergedWeight = this.size;
    this.unmergedWeight = 0;
    this.merged = count;
    this.unmerged = 0;
    this.compressions += 1;
  }
}
