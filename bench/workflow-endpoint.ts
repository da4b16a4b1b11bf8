/**
 * The endpoint of the workflow benches, in its own process: speaks the protocol as a client package does, without further
 * work, so that the server is measured. A run has the given number of steps, or sleeps at its first.
 * Arguments: the server's URL and its token. Prints `ready <url>`; orders come over the parent's channel.
 */
import type { AddressInfo } from 'node:net';
import { type BareMessage, BarePool, bareServer } from './bare-http.js';

export type EndpointOrder =
  /** Starts `runs` runs of `steps` steps, `atOnce` at a time; a run that ends makes room for the next. */
  | { readonly ask: 'begin'; readonly runs: number; readonly atOnce: number; readonly work: RunWork }
  | { readonly ask: 'report' };

export type RunWork =
  | { readonly kind: 'steps'; readonly steps: number }
  | { readonly kind: 'sleep'; readonly for: string };

/** Times are of the machine's monotonic clock, milliseconds. */
export interface EndpointReport {
  /** Runs that have come to their end, or sleep. */
  readonly done: number;
  /** Results that the server has taken. */
  readonly steps: number;
  readonly deliveries: number;
  readonly failures: number;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly lastRunId: string;
}

interface Entry {
  readonly messageId: string;
  readonly body: string;
}

const [serverUrl = '', token = ''] = process.argv.slice(2);
const FEATURES = 'LazyFetch,InitialBody,WF_DetectTrigger,WF_TriggerOnConfig';
const PAYLOAD = JSON.stringify({ name: 'p'.repeat(180) });
const OK = 'HTTP/1.1 200 OK\r\nSvc-Workflow-Sdk-Version: 1\r\nContent-Length: 2\r\n\r\n{}';
const FAILED = 'HTTP/1.1 500 Failed\r\nSvc-Workflow-Sdk-Version: 1\r\nContent-Length: 2\r\n\r\n{}';
const RUN_ID = /\r\nsvc-workflow-runid: *(\S+)/i;
const HEADERS = `Authorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;

const server = new BarePool(serverUrl);
let url = '';
let work: RunWork = { kind: 'steps', steps: 1 };
let toStart = 0;
let counts = { done: 0, steps: 0, deliveries: 0, failures: 0, firstMs: 0, lastMs: 0 };
let series = 0;
let lastRunId = '';

const endpoint = bareServer(async (request) => {
  try {
    await deliver(request);
    return OK;
  } catch {
    counts.failures += 1;
    return FAILED;
  }
});
endpoint.listen(0, '127.0.0.1', 4096, () => {
  url = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/run`;
  process.stdout.write(`ready ${url}\n`);
});

process.on('message', (order: EndpointOrder) => {
  if (order.ask === 'begin') void begin(order.runs, order.atOnce, order.work);
  process.send?.({ ...counts, lastRunId } satisfies EndpointReport);
});

async function begin(runs: number, atOnce: number, next: RunWork): Promise<void> {
  work = next;
  toStart = runs;
  series += 1;
  counts = { done: 0, steps: 0, deliveries: 0, failures: 0, firstMs: nowMs(), lastMs: nowMs() };
  for (let i = 0; i < Math.min(atOnce, runs); i += 1) void startNext();
}

async function startNext(): Promise<void> {
  if (toStart === 0) return;
  toStart -= 1;
  lastRunId = `wfr_bench-${process.pid}-${series}-${toStart}`;
  await batch(headersOf(lastRunId, 'true'), PAYLOAD).catch(() => {
    counts.failures += 1;
  });
}

async function deliver({ head, body }: BareMessage): Promise<void> {
  counts.deliveries += 1;
  const runId = RUN_ID.exec(head)?.[1] ?? '';
  const entries = JSON.parse(body.toString('latin1')) as readonly Entry[];
  const step = entries.length;
  if (work.kind === 'sleep') {
    if (step > 1) return;
    const record = { stepId: 1, stepName: 'sleep', stepType: 'SleepFor', sleepFor: work.for, concurrent: 1 };
    await batch({ ...headersOf(runId, 'false'), 'svc-delay': work.for }, JSON.stringify(record));
    ended();
    return;
  }
  if (step <= work.steps) {
    const record = { stepId: step, stepName: `step ${step}`, stepType: 'Run', out: '"done"', concurrent: 1 };
    await batch(headersOf(runId, 'false'), JSON.stringify(record));
    counts.steps += 1;
    return;
  }
  await call('DELETE', `/v2/workflows/runs/${runId}?cancel=false`, '');
  ended();
}

function ended(): void {
  counts.done += 1;
  counts.lastMs = nowMs();
  void startNext();
}

function headersOf(runId: string, isFirst: 'true' | 'false'): Record<string, string> {
  return {
    'svc-method': 'POST',
    'content-type': 'application/json',
    'svc-workflow-init': isFirst,
    'svc-workflow-runid': runId,
    'svc-workflow-url': url,
    'svc-workflow-sdk-version': '1',
    'svc-feature-set': FEATURES,
    'svc-forward-svc-workflow-sdk-version': '1',
  };
}

function batch(headers: Record<string, string>, body: string): Promise<void> {
  return call('POST', '/v2/batch', JSON.stringify([{ destination: url, headers, body }]));
}

async function call(method: 'POST' | 'DELETE', path: string, body: string): Promise<void> {
  const status = await server.call(method, path, HEADERS, body);
  if (status >= 300) throw new Error(`${method} ${path}: ${status}`);
}

function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
