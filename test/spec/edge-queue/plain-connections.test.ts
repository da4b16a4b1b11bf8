/** Proves PLC2 for the queue endpoint, and that both request paths publish the same messages. */
import { expect } from 'chai';
import { hotRouteAt } from '../../../src/edge/queue/hot-calls.js';
import type { MessageId, RunId } from '../../../src/kernel/index.js';
import { PLAIN_ENVELOPE } from '../../support/plain-delivery.js';
import { QUEUE_READ_ONLY_TOKEN, QUEUE_TOKEN, QUEUE_USER, QueueEndpointHarness } from '../../support/queue-endpoint.js';
import { rawExchange } from '../../support/raw-exchange.js';
import { standOfAllTests } from '../../support/stand-hooks.js';

const AUTH = `Host: x\r\nauthorization: Bearer ${QUEUE_TOKEN}\r\n`;
/** A header that no plain request has: Node's server answers. */
const NODES = 'TE: trailers\r\n';
const URL_A = 'https://a.example/hook?a=1&a=2';
const RUN =
  'Svc-Workflow-Init: false\r\nSvc-Workflow-RunId: wfr_1\r\nSvc-Workflow-Url: https://a.example/\r\nSvc-Workflow-Sdk-Version: 1\r\n';

/** @param body a character for each byte */
function post(path: string, body: string, headers: string): string {
  return `POST ${path} HTTP/1.1\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`;
}

/** Removes the parts that differ from one request to the next. */
function withoutVariableParts(answer: string): string {
  return answer.replace(/^Date: .*$/gm, 'Date: …').replaceAll(/msg_\w{28}/g, 'msg_…');
}

describe('edge/queue: connections with plain requests', () => {
  const face = standOfAllTests(() => new QueueEndpointHarness().start());
  before(async () => {
    face.gateway.answer('Notify', { type: 'Notified', notified: [] });
    const entry = { messageId: 'msg_1' as MessageId, body: { number: 1, bytes: 2 }, content: Buffer.from('{}') };
    const run = { runId: 'wfr_1' as RunId, createdAtMs: 9 };
    face.gateway.answer('GetRun', { type: 'Run', run, entries: [entry], nextFrom: undefined });
    face.gateway.answer('CancelMessages', { type: 'Cancelled', count: 1 });
    const event = {
      atMs: 9,
      state: 'CREATED' as const,
      messageId: 'msg_1' as MessageId,
      envelope: PLAIN_ENVELOPE,
      body: Buffer.from('ü'.repeat(1000)),
      nextDeliveryAtMs: undefined,
      error: undefined,
      response: undefined,
    };
    face.messageLog.page = { events: Array.from({ length: 100 }, () => event), cursor: undefined };
  });

  const last = (headers: string) => `GET /v2/keys HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`;
  const cases: readonly [string, (headers: string) => string][] = [
    ['a publish', (headers) => post(`/v2/publish/${URL_A}`, 'hello', headers)],
    [
      'a publish with bytes that are no text',
      (headers) => post('/v2/publish/https://a.example', '\u00ff\u0000', headers),
    ],
    ['a publish without a body', (headers) => post('/v2/publish/https://a.example', '', headers)],
    [
      'a publish with settings, and headers to forward',
      (headers) =>
        post(
          '/v2/publish/https://a.example',
          'hello',
          `${headers}Svc-Delay:  1h \r\nSVC-FORWARD-X-Kept: Kept\r\nX-Other: o\r\nContent-Type: text/plain\r\n`,
        ),
    ],
    ['a publish to a group', (headers) => post('/v2/publish/group', 'hello', headers)],
    [
      'a publish in the alias spelling',
      (headers) => post('/v2/publish/https://a.example', 'b', `${headers}Acme-Delay: 1m\r\n`),
    ],
    ['a publish with its token in the query', (headers) => post(`/v2/publish/${URL_A}&svc-delay=1m`, 'b', headers)],
    ['a message for a queue', (headers) => post('/v2/enqueue/orders/https://a.example', 'hello', headers)],
    [
      'a batch',
      (headers) =>
        post('/v2/batch', JSON.stringify([{ destination: URL_A, body: 'Ã©' }, { destination: 'group' }]), headers),
    ],
    ['a batch that is empty', (headers) => post('/v2/batch', '[]', headers)],
    ['a batch that is no JSON', (headers) => post('/v2/batch/', '[', headers)],
    ['an invalid option', (headers) => post('/v2/publish/https://a.example', '', `${headers}Svc-Delay: no\r\n`)],
    ['a destination that is forbidden', (headers) => post('/v2/publish/https://forbidden.example', '', headers)],
    [
      'a body above the largest message',
      (headers) => post('/v2/publish/https://a.example', 'x'.repeat(15_000), headers),
    ],
    ['another method', (headers) => `GET /v2/publish/https://a.example HTTP/1.1\r\n${headers}\r\n`],
    ['a GET of the batch route', (headers) => `GET /v2/batch HTTP/1.1\r\n${headers}\r\n`],
    [
      'a token that may only read',
      (headers) => post('/v2/publish/https://a.example', '', headers.replace(QUEUE_TOKEN, QUEUE_READ_ONLY_TOKEN)),
    ],
    ['an unknown token', (headers) => post('/v2/publish/https://a.example', '', headers.replace(QUEUE_TOKEN, 'wrong'))],
    ['no token', (headers) => post('/v2/publish/https://a.example', '', headers.replace(/authorization.*\r\n/, ''))],
    ['a submission for a run', (headers) => post('/v2/publish/https://a.example', '{', headers + RUN)],
    ['a read of the signing keys', (headers) => `GET /v2/keys HTTP/1.1\r\n${headers}\r\n`],
    ['a new queue', (headers) => post('/v2/queues', '{"queueName":"q","parallelism":1}', headers)],
    ['the end of a run', (headers) => `DELETE /v2/workflows/runs/wfr_1?cancel=false HTTP/1.1\r\n${headers}\r\n`],
    [
      'the end of a run, with its result',
      (headers) => post('/v2/workflows/runs/wfr_1?cancel=false', '{"total":42}', headers).replace('POST', 'DELETE'),
    ],
    [
      'the end of a run, with a result above the largest message',
      (headers) => post('/v2/workflows/runs/wfr_1?cancel=false', 'x'.repeat(15_000), headers).replace('POST', 'DELETE'),
    ],
    ['the entries of a run', (headers) => `GET /v2/workflows/runs/wfr_1 HTTP/1.1\r\n${headers}\r\n`],
    ['an event for a run', (headers) => post('/v2/notify/wfr_1/paid', '{"paid":true}', headers)],
    [
      'a step that waits, without a URL',
      (headers) => post('/v2/wait/paid', '{}', `${headers}Svc-Workflow-RunId: wfr_1\r\n`),
    ],
    [
      'messages cancelled by ids in a body',
      (headers) => post('/v2/messages', '{"messageIds":["msg_1"]}', headers).replace('POST', 'DELETE'),
    ],
    ['a long list', (headers) => `GET /v2/events HTTP/1.1\r\n${headers}\r\n`],
    ['a webhook', (headers) => post(`/v2/workflows/hooks/${QUEUE_USER}/wfr_1/event`, 'called', headers)],
    ['an unknown path', (headers) => post('/v2/nothing', '{}', headers)],
  ];
  for (const [call, request] of cases) {
    it(`answer ${call} with the same bytes as Node’s server, and publish the same messages`, async () => {
      const asked: string[] = [];
      const answers: string[] = [];
      for (const headers of [AUTH, AUTH + NODES]) {
        face.gateway.published.splice(0);
        answers.push(withoutVariableParts(await rawExchange(face.port, request(headers) + last(headers))));
        const items = JSON.stringify(face.gateway.published.map((item) => ({ ...item, id: '' })));
        asked.push(items.replace('["te","trailers"],', ''));
      }
      expect(answers[0]).to.match(/^HTTP\/1\.1 \d/);
      expect(answers[0]).to.equal(answers[1]);
      expect(asked[0]).to.equal(asked[1]);
    });
  }

  const calls: readonly [method: string, path: string, isInFront: boolean][] = [
    ['POST', '/v2/batch', true],
    ['DELETE', '/v2/workflows/runs/wfr_1', true],
    ['GET', '/v2/workflows/runs/wfr_1', true],
    ['POST', '/v2/notify/wfr_1/paid', true],
    ['POST', '/v2/wait/paid', true],
    ['DELETE', '/v2/workflows/runs', false],
    ['DELETE', '/v2/workflows/runs/', false],
    ['PUT', '/v2/workflows/runs/wfr_1', false],
    ['GET', '/v2/waiters/paid', false],
  ];
  for (const [method, path, isInFront] of calls) {
    it(`${isInFront ? 'stay where they are after' : 'move to Node’s server with'} ${method} ${path}`, () => {
      expect(hotRouteAt(method, path) !== undefined).to.equal(isInFront);
    });
  }

  it('answer in the order of the requests, plain or not', async () => {
    const bodies = ['[{}]', '[1]', '[', '[]'];
    const batches = bodies.map((body, at) => post('/v2/batch', body, at === 2 ? AUTH + NODES : AUTH));
    const received = await rawExchange(face.port, batches.join('') + last(AUTH));
    const alone = await Promise.all(batches.map((batch) => rawExchange(face.port, batch + last(AUTH))));
    const errorOf = (text: string) => /\{"error".*?"\}/.exec(text)?.[0];
    expect(received.match(/\{"error".*?"\}/g)?.slice(0, bodies.length)).to.deep.equal(alone.map(errorOf));
  });
});
