/** Messages as the queue benches publish them. */
import { request } from 'undici';
import type { Millrace } from './millrace.js';
import { TOKEN } from './millrace.js';

export const BODY = 'b'.repeat(200);
/** The largest permitted batch. */
const BATCH = 1000;
/** Concurrent batches: one is read while another is stored. */
const BATCHES_AT_ONCE = 2;

export interface BatchItem {
  readonly destination: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A million messages of one account exceed the account's default share of a process's memory. */
export const WITH_ROOM = { env: { MILLRACE_QUEUE_MEMORY_BYTES: '512MiB' } };

/** `NODE_FLAGS_OURS="--cpu-prof --cpu-prof-dir=/tmp"` looks into our process. */
export function ownFlags(): readonly string[] {
  return process.env.NODE_FLAGS_OURS?.split(' ') ?? [];
}

/** Publishes `count` messages as fast as batches go. @returns the ids of the last batch */
export async function publishAll(
  millrace: Millrace,
  count: number,
  itemAt: (i: number) => BatchItem,
): Promise<readonly string[]> {
  let next = 0;
  let last: readonly string[] = [];
  const worker = async () => {
    while (next < count) {
      const from = next;
      const length = Math.min(BATCH, count - from);
      next += length;
      const items = Array.from({ length }, (_, i) => itemAt(from + i));
      const answers = (await queueCall(millrace, 'POST', '/v2/batch', JSON.stringify(items))) as {
        messageId: string;
      }[];
      last = answers.map(({ messageId }) => messageId);
    }
  };
  await Promise.all(Array.from({ length: BATCHES_AT_ONCE }, worker));
  return last;
}

/** One call to the queue's endpoint. @throws on any answer but 2xx */
export async function queueCall(
  millrace: Millrace,
  method: 'GET' | 'POST',
  path: string,
  content?: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<unknown> {
  const { statusCode, body } = await request(`${millrace.queueUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, ...headers },
    ...(content === undefined ? {} : { body: content }),
  });
  const text = await body.text();
  if (statusCode >= 300) throw new Error(`${method} ${path}: ${statusCode} ${text.slice(0, 200)}`);
  return text === '' ? undefined : JSON.parse(text);
}

/** Lua for the requests of wrk: the same publish a thousand times. */
export function publishRequests(destination: string, headers: Readonly<Record<string, string>> = {}): string {
  const all = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'text/plain', ...headers };
  const table = Object.entries(all).map(([name, value]) => `["${name}"] = "${value}"`);
  return `local headers = { ${table.join(', ')} }
return { wrk.format("POST", "/v2/publish/${destination}", headers, "${BODY}") }`;
}

/** Publishes at a steady rate, independent of the answers' times. @returns the number of published messages */
export async function publishSteadily(
  url: string,
  perSecond: number,
  seconds: number,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly published: number; readonly failed: number }> {
  const startedAtMs = performance.now();
  const calls: Promise<void>[] = [];
  let failed = 0;
  const total = perSecond * seconds;
  while (calls.length < total) {
    const due = Math.min(total, Math.ceil(((performance.now() - startedAtMs) * perSecond) / 1000));
    while (calls.length < due) calls.push(publishNow());
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(calls);
  return { published: total - failed, failed };

  async function publishNow(): Promise<void> {
    const { statusCode, body } = await request(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'text/plain', ...headers },
      body: stamped(),
    });
    await body.dump();
    if (statusCode >= 300) failed += 1;
  }
}

/** A body that begins with its time of creation, on the machine's monotonic clock. */
function stamped(): string {
  return `${Number(process.hrtime.bigint()) / 1e6} `.padEnd(BODY.length, 'b');
}
