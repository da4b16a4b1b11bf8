/**
 * The destination of the queue benches, in its own process: answers 200 to each request and records its arrival. The first
 * word of a body is a number: the time of publishing (`latency`), or the number of its key (`keys`). Prints `ready <url>`;
 * questions come over the parent's channel.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type SinkMode =
  | { readonly kind: 'count' }
  | { readonly kind: 'latency' }
  /** Awaits this number of messages of each key; from `release` on, progress is compared at every tenth of the way. */
  | { readonly kind: 'keys'; readonly keys: number; readonly perKey: number };

export type SinkQuestion =
  /** Forgets all arrivals and starts counting. */
  | { readonly ask: 'begin'; readonly mode: SinkMode }
  /** Answers are kept back until `release`. */
  | { readonly ask: 'hold' }
  | { readonly ask: 'release' }
  | { readonly ask: 'report' };

/** Times are of the machine's monotonic clock, milliseconds, which all processes share. */
export interface SinkReport {
  readonly count: number;
  readonly firstMs: number;
  readonly lastMs: number;
  /** For `latency`: from the body's time to the arrival, ascending. */
  readonly latenciesMs: readonly number[];
  /** For `keys`: the most progress divided by the least, at each tenth of the way that has been reached. */
  readonly tenths: readonly Tenth[];
}

export interface Tenth {
  readonly most: number;
  readonly least: number;
  /** Keys that were compared: those that still have some waiting. */
  readonly keys: number;
}

/** A key with fewer is about to end, and is no evidence of unfairness. */
const WAITING_AT_LEAST = 10;

let mode: SinkMode = { kind: 'count' };
let count = 0;
let firstMs = 0;
let lastMs = 0;
let latenciesMs: number[] = [];
/** Arrivals for each key before `release`, and since. */
let before = new Uint32Array(0);
let arrived = new Uint32Array(0);
let arrivedInAll = 0;
let tenths: Tenth[] = [];
let held: ServerResponse[] | undefined;

const server = createServer((request, response) => {
  const atMs = nowMs();
  if (count === 0) firstMs = atMs;
  lastMs = atMs;
  count += 1;
  if (mode.kind === 'count') {
    request.resume();
    return answer(response);
  }
  let body = '';
  request.setEncoding('latin1');
  request.on('data', (chunk: string) => {
    body += chunk;
  });
  request.on('end', () => {
    note(Number(body.slice(0, body.indexOf(' '))), atMs);
    answer(response);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', 4096, () => {
  process.stdout.write(`ready http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});

process.on('message', (question: SinkQuestion) => {
  if (question.ask === 'begin') begin(question.mode);
  else if (question.ask === 'hold') held = [];
  else if (question.ask === 'release') release();
  const report: SinkReport = { count, firstMs, lastMs, latenciesMs: sorted(), tenths };
  process.send?.(report);
});

function begin(next: SinkMode): void {
  mode = next;
  count = 0;
  latenciesMs = [];
  tenths = [];
  arrived = new Uint32Array(mode.kind === 'keys' ? mode.keys : 0);
  before = arrived.slice();
}

function answer(response: ServerResponse): void {
  if (held === undefined) response.end();
  else held.push(response);
}

/** Arrivals before this moment did not wait, and are no progress. */
function release(): void {
  before = arrived.slice();
  arrived.fill(0);
  arrivedInAll = 0;
  for (const response of held ?? []) response.end();
  held = undefined;
}

function note(number: number, atMs: number): void {
  if (mode.kind === 'latency') latenciesMs.push(atMs - number);
  if (mode.kind !== 'keys') return;
  arrived[number] = (arrived[number] ?? 0) + 1;
  arrivedInAll += 1;
  const waited = mode.keys * mode.perKey - (count - arrivedInAll);
  if (held === undefined && arrivedInAll >= ((tenths.length + 1) * waited) / 10) tenths.push(compared(mode.perKey));
}

function compared(perKey: number): Tenth {
  let most = 0;
  let least = perKey;
  let keys = 0;
  arrived.forEach((progress, key) => {
    if (perKey - (before[key] as number) - progress < WAITING_AT_LEAST) return;
    keys += 1;
    most = Math.max(most, progress);
    least = Math.min(least, progress);
  });
  return { most, least, keys };
}

function sorted(): number[] {
  return latenciesMs.sort((a, b) => a - b);
}

function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
