import { expect } from 'chai';
import fc from 'fast-check';
import { repetitions } from '../../support/depth.js';
import { QUEUE_TOKEN, QueueEndpointHarness } from '../../support/queue-endpoint.js';
import { rawExchange } from '../../support/raw-exchange.js';
import { standOfAllTests } from '../../support/stand-hooks.js';

describe('edge/queue: odd requests', () => {
  const face = standOfAllTests(() => new QueueEndpointHarness().start());
  before(async () => {
    face.gateway.ask = async () => ({ type: 'Rejected', reason: 'NOT_FOUND', message: 'nothing there' });
  });

  /** Sends raw bytes and reads until the server closes. */
  const raw = (bytes: string): Promise<string> => rawExchange(face.port, bytes);

  it('that are not HTTP get a 400 and their connection is closed', async () => {
    const answer = await raw('GET / HTTP/1.1\r\nHost: a\r\nBad Header\r\n\r\n');
    expect(answer)
      .to.match(/^HTTP\/1\.1 400 /)
      .and.to.include('{"error":"malformed HTTP request"}');
  });

  it('with two lengths are refused', async () => {
    const head = `POST /v2/publish/https://a.example HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${QUEUE_TOKEN}\r\n`;
    const answer = await raw(`${head}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`);
    expect(answer).to.match(/^HTTP\/1\.1 400 /);
    expect(face.gateway.published).to.deep.equal([]);
  });

  it('get a JSON answer, and never a 500', async () => {
    const segment = fc.constantFrom(
      ...['v2', 'publish', 'enqueue', 'schedules', 'messages', 'dlq', 'retry', 'topics', 'queues', 'flowControl'],
      ...[
        'endpoints',
        'pause',
        'pin',
        'events',
        'keys',
        'batch',
        'https:',
        '',
        '%',
        '%2e%2e',
        '..',
        '__proto__',
        'a,b',
      ],
    );
    const query = fc.constantFrom(
      '',
      '?',
      '?a',
      '?count=x',
      '?cursor',
      '?svc-delay=1',
      '?svc-retries=%',
      '?dlqIds=1-1',
      '?&&=',
    );
    const body = fc.constantFrom(
      '',
      '{}',
      '[]',
      'null',
      '"a"',
      '[{}]',
      '{"endpoints":[{}]}',
      '{"headers":{"__proto__":1}}',
      '{',
    );
    const name = fc.constantFrom(
      'Svc-Cron',
      'Svc-Callback-',
      'Svc-Forward-',
      'Acme-',
      'Svc-Header-Forward',
      'X-Forwarded-For',
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'),
        fc.array(segment, { maxLength: 6 }),
        query,
        body,
        fc.dictionary(name, fc.constantFrom('true', '* * * * *', '%', 'header[', '-1')),
        async (method, segments, search, sent, headers) => {
          const answer = await face.request(method, `/v2/${segments.join('/')}${search}`, { headers, body: sent });
          expect(answer.status, answer.text).to.be.within(200, 499);
          expect(answer.json).to.be.an(answer.status < 300 && Array.isArray(answer.json) ? 'array' : 'object');
        },
      ),
      { numRuns: repetitions(1500) },
    );
  });
});
