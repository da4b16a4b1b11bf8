/**
 * The counts and gauges of one subject in one time span, and their form in the file and in snapshots, where old forms
 * are read for ever.
 */
import { bothWays, listOf, looseNumber, looseText, mapOf, optional, tuple } from '../../kernel/schema/index.js';

export class Bucket {
  /** By the places of the subject's kind (metrics.ts); trailing places may be missing. */
  readonly counts: number[];
  /** Calls by command; only for databases. */
  readonly names: Map<string, number>;
  /** By `GAUGE_PLACES`, the latest values; undefined: unknown. */
  readonly gauges: (number | undefined)[];

  constructor(counts: number[] = [], names = new Map<string, number>(), gauges: (number | undefined)[] = []) {
    this.counts = counts;
    this.names = names;
    this.gauges = gauges;
  }

  at(place: number): number {
    return this.counts[place] ?? 0;
  }

  add(place: number, value: number): void {
    for (let missing = this.counts.length; missing <= place; missing += 1) this.counts.push(0);
    this.counts[place] = (this.counts[place] as number) + value;
  }

  addAll(place: number, values: readonly number[]): void {
    for (let at = 0; at < values.length; at += 1) if (values[at] !== 0) this.add(place + at, values[at] as number);
  }

  addName(name: string, calls: number): void {
    this.names.set(name, (this.names.get(name) ?? 0) + calls);
  }

  /** Adds the counts of a later bucket and takes its gauges. */
  merge(later: Bucket): void {
    this.addAll(0, later.counts);
    for (const [name, calls] of later.names) this.addName(name, calls);
    for (const [at, gauge] of later.gauges.entries()) if (gauge !== undefined) this.gauges[at] = gauge;
  }
}

const stored = tuple<[readonly number[], ReadonlyMap<string, number>, readonly (number | undefined)[]]>(
  listOf(looseNumber),
  mapOf(looseText(), looseNumber),
  listOf(optional(looseNumber)),
);
const [encode, decode] = bothWays(stored, 'numbers of a span of time');

export function encodeBucket({ counts, names, gauges }: Bucket): Uint8Array {
  return encode([counts, names, Array.from(gauges)]);
}

export function decodeBucket(bytes: Uint8Array): Bucket {
  const [counts, names, gauges] = decode(bytes);
  return new Bucket([...counts], new Map(names), [...gauges]);
}
