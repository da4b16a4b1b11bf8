/** Calls of the queue that are as large as a call may be, or about very many messages; and runs with long histories. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { request } from 'undici';
import { until } from './child.js';
import { EMAIL, MANAGEMENT_KEY, TOKEN } from './millrace.js';
import { BODY, publishAll } from './queue-load.js';
import { sized } from './sizes.js';
import type { Stall, StallStand } from './stalls.js';
import { DOCUMENT_BYTES } from './stalls-commands.js';

const MESSAGES = sized(100_000, 5000);
const DEAD = sized(10_000, 1000);
/** Together they are the largest number of messages that one call may create. */
const TO_GROUP = 20;
const MEMBERS_OF_GROUP = 100;
const STEPS = 10;
const TIMEOUT_MS = 120_000;
/** A closed port; the delay keeps messages from being sent within a day. */
const ELSEWHERE = 'http://127.0.0.1:9/later';
const LATER = { 'Svc-Delay': '1d' };
const large = 'l'.repeat(DOCUMENT_BYTES);
const escaped = '"\\n'.repeat(DOCUMENT_BYTES / 6);

async function call(
  { millrace }: StallStand,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const answered = await request(`${millrace.queueUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}`, ...headers },
    ...(body === undefined ? {} : { body }),
  });
  const text = await answered.body.text();
  if (answered.statusCode >= 300) throw new Error(`${method} ${path}: ${answered.statusCode} ${text.slice(0, 200)}`);
  return text;
}

/** Sets a plan with large messages, and waits until a large message is accepted. */
export async function withLargeMessages(stand: StallStand): Promise<void> {
  const authorization = `Basic ${Buffer.from(`${EMAIL}:${MANAGEMENT_KEY}`).toString('base64')}`;
  const { id } = (await (
    await fetch(`${stand.millrace.managementUrl}/v2/msgq/user`, { headers: { authorization } })
  ).json()) as {
    id: string;
  };
  const { status } = await fetch(`${stand.millrace.managementUrl}/v2/msgq/set-plan/${id}`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ plan_name: 'msgq_fixed_100m' }),
  });
  if (status !== 200) throw new Error(`set-plan: ${status}`);
  const isThere = async () => (await call(stand, 'POST', `/v2/publish/${ELSEWHERE}`, large, LATER)) !== '';
  await until(isThere, TIMEOUT_MS, 'the plan');
}

const toGroup = JSON.stringify(
  Array.from({ length: TO_GROUP }, () => ({ destination: 'members', headers: LATER, body: BODY })),
);

const batchOf = (items: number) =>
  JSON.stringify(
    Array.from({ length: items }, () => ({
      destination: ELSEWHERE,
      headers: LATER,
      body: large.slice(0, Math.floor(DOCUMENT_BYTES / items) - 200),
    })),
  );

const waiting = ({ millrace }: StallStand, headers: Readonly<Record<string, string>> = {}) =>
  publishAll(millrace, MESSAGES, () => ({ destination: ELSEWHERE, headers: { ...LATER, ...headers }, body: BODY }));

/** Each is tried once, and answered with an error. */
async function dead(stand: StallStand): Promise<void> {
  let tried = 0;
  const server = createServer((incoming, response) => {
    tried += 1;
    incoming.resume();
    response.writeHead(500).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const destination = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await publishAll(stand.millrace, DEAD, () => ({ destination, headers: { 'Svc-Retries': '0' }, body: BODY }));
  await until(async () => tried >= DEAD, TIMEOUT_MS, 'the failures');
  server.close();
  server.closeAllConnections();
}

/** A run in which each step has a result of a tenth of the total size; its endpoint is in the bench. */
class LongRun {
  #port = 0;
  #isOver = false;

  async run(stand: StallStand): Promise<void> {
    this.#isOver = false;
    const server = createServer((incoming, response) => {
      const pieces: Buffer[] = [];
      incoming.on('data', (piece: Buffer) => pieces.push(piece));
      incoming.on('end', () => {
        const answer = (status: number) => {
          response.writeHead(status, { 'Svc-Workflow-Sdk-Version': '1', 'Content-Length': '2' });
          response.end('{}');
        };
        const runId = String(incoming.headers['svc-workflow-runid']);
        this.#deliver(stand, runId, Buffer.concat(pieces)).then(
          () => answer(200),
          () => answer(500),
        );
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    this.#port = (server.address() as AddressInfo).port;
    await this.#batch(stand, `wfr_stall-${Date.now()}`, 'true', large.slice(0, DOCUMENT_BYTES / STEPS));
    await until(async () => this.#isOver, TIMEOUT_MS, 'the run');
    server.close();
  }

  async #deliver(stand: StallStand, runId: string, body: Buffer): Promise<void> {
    // A long list is left out.
    const text = body.length > 0 ? body.toString() : await call(stand, 'GET', `/v2/workflows/runs/${runId}`);
    const { length } = JSON.parse(text) as readonly unknown[];
    if (length > STEPS) {
      await call(stand, 'DELETE', `/v2/workflows/runs/${runId}?cancel=false`);
      this.#isOver = true;
      return;
    }
    const out = JSON.stringify(large.slice(0, DOCUMENT_BYTES / STEPS));
    const record = { stepId: length, stepName: `step ${length}`, stepType: 'Run', out, concurrent: 1 };
    await this.#batch(stand, runId, 'false', JSON.stringify(record));
  }

  #batch(stand: StallStand, runId: string, isFirst: 'true' | 'false', body: string): Promise<string> {
    const destination = `http://127.0.0.1:${this.#port}/run`;
    const headers = {
      'svc-method': 'POST',
      'content-type': 'application/json',
      'svc-workflow-init': isFirst,
      'svc-workflow-runid': runId,
      'svc-workflow-url': destination,
      'svc-workflow-sdk-version': '1',
      'svc-feature-set': 'LazyFetch,InitialBody,WF_DetectTrigger,WF_TriggerOnConfig',
      'svc-forward-svc-workflow-sdk-version': '1',
    };
    return call(stand, 'POST', '/v2/batch', JSON.stringify([{ destination, headers, body }]), {
      'content-type': 'application/json',
    });
  }
}

export const MESSAGES_AND_RUNS: readonly Stall[] = [
  { name: 'publish of 10 MiB', work: (stand) => call(stand, 'POST', `/v2/publish/${ELSEWHERE}`, large, LATER) },
  {
    name: 'batch of one message of 10 MiB',
    work: (stand) => call(stand, 'POST', '/v2/batch', batchOf(1)),
  },
  {
    name: 'batch of one message of escapes',
    work: (stand) =>
      call(stand, 'POST', '/v2/batch', JSON.stringify([{ destination: ELSEWHERE, headers: LATER, body: escaped }])),
  },
  { name: 'batch of 1000 messages, 10 MiB', work: (stand) => call(stand, 'POST', '/v2/batch', batchOf(1000)) },
  {
    name: `batch of ${TO_GROUP} to a group of ${MEMBERS_OF_GROUP}`,
    before: (stand) => {
      const endpoints = Array.from({ length: MEMBERS_OF_GROUP }, (_, i) => ({
        name: `m${i}`,
        url: `${ELSEWHERE}/${i}`,
      }));
      return call(stand, 'POST', '/v2/topics/members/endpoints', JSON.stringify({ endpoints }));
    },
    work: (stand) => call(stand, 'POST', '/v2/batch', toGroup),
  },
  {
    name: 'trigger of a run with 10 MiB',
    work: (stand) => call(stand, 'POST', `/v2/trigger/${ELSEWHERE}`, large, LATER),
  },
  { name: 'a run with a history of 10 MiB', work: (stand) => new LongRun().run(stand), repeats: 2 },
  {
    name: `publishing ${MESSAGES} in batches`,
    work: (stand) => waiting(stand),
    after: (stand) => call(stand, 'DELETE', '/v2/messages'),
    repeats: 1,
  },
  {
    name: `cancel of ${MESSAGES} messages`,
    before: (stand) => waiting(stand),
    work: (stand) => call(stand, 'DELETE', '/v2/messages'),
    repeats: 2,
  },
  {
    name: `cancel of ${MESSAGES} by their label`,
    before: (stand) => waiting(stand, { 'Svc-Label': 'all' }),
    work: (stand) => call(stand, 'DELETE', '/v2/messages?label=all'),
    repeats: 1,
  },
  {
    name: `deletion of a queue with ${MESSAGES}`,
    before: async (stand) => {
      await call(stand, 'POST', '/v2/queues', JSON.stringify({ queueName: 'full', parallelism: 1 }));
      await publishAll(
        stand.millrace,
        MESSAGES,
        () => ({ destination: ELSEWHERE, queue: 'full', headers: LATER, body: BODY }) as never,
      );
    },
    work: (stand) => call(stand, 'DELETE', '/v2/queues/full'),
    repeats: 1,
  },
  { name: 'listing of events', work: (stand) => call(stand, 'GET', '/v2/events?count=1000') },
  {
    name: `deletion of ${DEAD} from the DLQ`,
    before: dead,
    work: (stand) => call(stand, 'DELETE', '/v2/dlq'),
    repeats: 1,
  },
  {
    name: `recovery of ${MESSAGES} messages`,
    before: async (stand) => {
      await waiting(stand);
    },
    work: async (stand) => {
      await stand.restart();
      await until(async () => (await call(stand, 'GET', '/v2/queues')) !== '', TIMEOUT_MS, 'the recovery');
    },
    repeats: 1,
  },
];
