/**
 * Random requests to every HTTP endpoint. For every request an endpoint:
 *
 *  FZH1 does not fail: it sends no status 500 and logs no error
 *  FZH2 answers a readable request once, in the documented shape
 *  FZH3 answers the next valid request as usual
 */
import { expect } from 'chai';
import { startHealthServer } from '../../src/adapters/http-health/index.js';
import { createScrapeHandler } from '../../src/edge/monitoring/index.js';
import { uuidOf } from '../../src/protocol/index.js';
import { KvEndpointHarness, MemoryLog, TOKEN } from '../support/kv-endpoint.js';
import { ManagementHarness } from '../support/management-endpoint.js';
import { QUEUE_TOKEN, QueueEndpointHarness } from '../support/queue-endpoint.js';
import { realTime } from '../support/real-time.js';
import { SEARCH_INDEX, SEARCH_TOKEN, SearchEndpointHarness } from '../support/search-endpoint.js';
import { FollowedGateway } from '../support/search-follower.js';
import { standOfAllTests } from '../support/stand-hooks.js';
import { itHolds } from './fuzz-run.js';
import { type Grammar, type HeardResponse, oddRequest, responsesIn, said } from './http-bytes.js';
import * as grammars from './http-grammars.js';

/** Of the unit tier; with FUZZ_SECONDS there are more. */
const ROUNDS = 120;
/** A stream has no end; what it says is looked at elsewhere. */
const ENDLESS = /subscribe|monitor\//i;

interface Target {
  readonly port: number;
  readonly log: MemoryLog;
  readonly grammar: Grammar;
  /** @throws when a good request is not answered as it should be */
  good(): Promise<void>;
  expectSuccess(response: HeardResponse): void;
  /** Of one that does not speak as the others do. */
  expectRefusal?(response: HeardResponse): void;
  stop(): Promise<void>;
}

async function answersGood(url: string, init: RequestInit = {}): Promise<void> {
  const response = await fetch(url, init);
  const text = await response.text();
  expect(response.status, `${url} ${text}`).to.equal(200);
}

const expectJson = ({ body, head }: HeardResponse): void => {
  if (body !== '') expect(() => JSON.parse(body), `${head} ${body}`).not.to.throw();
};

const TARGETS: Readonly<Record<string, () => Promise<Target>>> = {
  'key-value (REST)': async () => {
    const face = await new KvEndpointHarness().start();
    face.gateway.keepsRequests = false;
    const headers = { authorization: `Bearer ${TOKEN}` };
    return {
      ...{ port: face.port, log: face.log, grammar: grammars.kv(`Bearer ${TOKEN}`) },
      good: () => answersGood(`${face.url}/ping`, { headers }),
      expectSuccess: () => undefined,
      // As a connection of the native protocol reads it, where that was asked for.
      expectRefusal: (response) => {
        if (/^Content-Type: application\/octet-stream/im.test(response.head)) expect(response.body).to.match(/^-/);
        else expectError(response);
      },
      stop: () => face.stop(),
    };
  },
  'queue, headers of messages': () => queueTarget(grammars.publishing(`Bearer ${QUEUE_TOKEN}`)),
  'queue, bodies of workflows': () => queueTarget(grammars.workflows(`Bearer ${QUEUE_TOKEN}`)),
  management: async () => {
    const face = await new ManagementHarness().start();
    const ids = { database: await face.newDatabase(), index: await face.newSearchIndex(), team: await face.newTeam() };
    const authorization = `Basic ${btoa(`${face.owner.email}:${face.owner.key}`)}`;
    return {
      ...{ port: Number(new URL(face.url).port), log: face.log },
      grammar: grammars.management(authorization, face.documented, { ...ids, queue: face.queue }),
      good: () => answersGood(`${face.url}/v2/kv/databases`, { headers: { authorization } }),
      expectSuccess: expectJson,
      stop: () => face.stop(),
    };
  },
  search: async () => {
    const gateway = new FollowedGateway();
    const face = await new SearchEndpointHarness({ gateway, queries: gateway }).start();
    const { url } = face;
    const init = { method: 'POST', headers: { authorization: `Bearer ${SEARCH_TOKEN}` }, body: '{}' };
    return {
      ...{ port: Number(new URL(url).port), log: face.log },
      grammar: grammars.search(`Bearer ${SEARCH_TOKEN}`, uuidOf(SEARCH_INDEX)),
      // Requests outside of the endpoint's path are passed on, here to a handler with this status.
      expectRefusal: (response) => {
        if (response.status !== OTHER_PATH) expectError(response);
      },
      good: () => answersGood(`${url}/info`, init),
      expectSuccess: expectJson,
      stop: () => face.stop(),
    };
  },
  'monitoring, the scrape endpoint': scrapeTarget,
  'the health port': async () => {
    const log = new MemoryLog();
    const server = await startHealthServer({
      ...{ host: '127.0.0.1', port: 0, timers: realTime, log, metricsToken: 'metrics-token' },
      checks: () => ({ nats: { ok: true } }),
      edgeChecks: ['nats'],
      metrics: async () => ({ contentType: 'text/plain', text: 'millrace_up 1\n' }),
    });
    return {
      ...{ port: server.port, log, grammar: grammars.health('Bearer metrics-token') },
      good: () => answersGood(`http://127.0.0.1:${server.port}/livez`),
      expectSuccess: () => undefined,
      // For programs that look at the status alone: words of the router, or none.
      expectRefusal: () => undefined,
      stop: () => server.close(),
    };
  },
};

async function queueTarget(grammar: Grammar): Promise<Target> {
  const face = await new QueueEndpointHarness().start();
  // What is published is taken; nothing else is there.
  face.gateway.ask = async () => ({ type: 'Rejected', reason: 'NOT_FOUND', message: 'nothing there' });
  return {
    ...{ port: face.port, log: face.log, grammar },
    good: () => answersGood(`${face.url}/v2/keys`, { headers: { authorization: `Bearer ${QUEUE_TOKEN}` } }),
    expectSuccess: expectJson,
    stop: () => face.stop(),
  };
}

async function scrapeTarget(): Promise<Target> {
  const log = new MemoryLog();
  let scrape: ReturnType<typeof createScrapeHandler> | undefined;
  const face = new ManagementHarness({
    log,
    mount: [(context, next) => scrape?.(context, next) ?? next()],
  });
  scrape = createScrapeHandler({
    access: { scopeOf: (token) => (token === 'scrape-token' ? { queue: undefined, databases: [] } : undefined) },
    statistics: face.statistics,
    clock: realTime,
    log,
    isDraining: () => false,
  });
  await face.start();
  const headers = { authorization: 'Bearer scrape-token' };
  return {
    ...{ port: Number(new URL(face.url).port), log, grammar: grammars.scraping('Bearer scrape-token') },
    good: () => answersGood(`${face.url}/monitoring/prometheus/federate`, { headers }),
    expectSuccess: () => undefined,
    stop: () => face.stop(),
  };
}

for (const [name, start] of Object.entries(TARGETS)) {
  describe(`fuzz: requests to the HTTP endpoint of ${name}`, () => {
    const target = standOfAllTests(() => start());

    itHolds('are answered as documented, and later requests are served', ROUNDS, async (random) => {
      const request = oddRequest(random, target.grammar);
      if (ENDLESS.test(request.bytes)) return;
      const shown = JSON.stringify(request.bytes.slice(0, 2000));
      try {
        await expectAnswered(target, request);
      } catch (error) {
        (error as Error).message += `\nrequest: ${shown}`;
        throw error;
      }
    });
  });
}

async function expectAnswered(target: Target, request: ReturnType<typeof oddRequest>) {
  const responses = responsesIn(await said(target.port, request, () => target.good()), request);
  if (request.isWhole) expect(responses, 'answers').to.have.lengthOf(1);
  for (const response of responses) {
    expect(response.status, response.body).to.be.oneOf(STATUSES);
    if (response.status < 300) target.expectSuccess(response);
    else if (!request.bytes.startsWith('HEAD')) (target.expectRefusal ?? expectError)(response);
  }
  const failures = target.log.lines.filter(({ level }) => level === 'error');
  expect(failures, 'lines of failures').to.deep.equal([]);
  await target.good();
}

const OTHER_PATH = 418;
const STATUSES = [
  OTHER_PATH,
  200,
  201,
  202,
  204,
  400,
  401,
  403,
  404,
  405,
  406,
  408,
  409,
  412,
  413,
  417,
  422,
  429,
  431,
  503,
];

/** `{"error": "…"}`, with more fields at some endpoints. */
function expectError({ status, body }: HeardResponse): void {
  const parsed = JSON.parse(body) as { error?: unknown };
  expect(parsed, `${status} ${body}`).to.have.property('error').that.is.a('string').and.is.not.equal('');
}
