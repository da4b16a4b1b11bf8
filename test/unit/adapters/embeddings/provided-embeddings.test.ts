/** A provider of embeddings over HTTP, as a server that the test scripts. Proves EMB1, EMB2, EMB3, EMB4. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import {
  ProvidedEmbeddings,
  type ProvidedEmbeddingsOptions,
} from '../../../../src/adapters/embeddings/provided-embeddings.js';
import { MemoryLog } from '../../../support/kv-endpoint.js';
import { realTime } from '../../../support/real-time.js';

interface Asked {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: { readonly model: string; readonly input: readonly string[] };
}

describe('a provider of embeddings', () => {
  const asked: Asked[] = [];
  /** Statuses of the next answers; then 200. */
  const statuses: number[] = [];
  const scripted: { dimension: number; text: string | undefined } = { dimension: 2, text: undefined };
  let url = '';
  const log = new MemoryLog();
  const server = http.createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(parts).toString());
      asked.push({ path: request.url ?? '', authorization: request.headers.authorization, body });
      response.statusCode = statuses.shift() ?? 200;
      const data = (body.input as string[]).map((text, index) => ({
        index,
        embedding: Array(scripted.dimension).fill(text.length),
      }));
      // The order of an answer is that of its indexes.
      response.end(scripted.text ?? JSON.stringify({ data: data.reverse() }));
    });
  });

  before(
    () =>
      new Promise<void>((resolve) =>
        server.listen(0, '127.0.0.1', () => {
          url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/`;
          resolve();
        }),
      ),
  );
  after(() => server.close());
  beforeEach(() => {
    asked.length = 0;
    statuses.length = 0;
    Object.assign(scripted, { dimension: 2, text: undefined });
  });

  const made = (options: Partial<ProvidedEmbeddingsOptions> = {}) => {
    const bounds = { pauseMs: 1, ...options.bounds };
    const ports = { timers: realTime, log };
    return new ProvidedEmbeddings({ url, key: 'secret-key', model: undefined, ...options, bounds }, ports);
  };

  it('is asked at /embeddings with key and model, and answers in the order of the texts', async () => {
    const vectors = await made().embed('bge', 2, ['a', 'bbb']);
    expect(vectors).to.deep.equal([Float32Array.from([1, 1]), Float32Array.from([3, 3])]);
    const { path, authorization, body } = asked[0] as Asked;
    expect([path, authorization, body.model]).to.deep.equal(['/v1/embeddings', 'Bearer secret-key', 'bge']);
    await made({ key: undefined, model: 'other' }).embed('bge', 2, ['a']);
    expect([asked[1]?.authorization, asked[1]?.body.model]).to.deep.equal([undefined, 'other']);
  });

  it('is asked once for equal texts and for texts that it embedded before', async () => {
    const embeddings = made();
    await embeddings.embed('bge', 2, ['a', 'a', 'b']);
    await embeddings.embed('bge', 2, ['b', 'c']);
    expect(asked.map(({ body }) => body.input)).to.deep.equal([['a', 'b'], ['c']]);
  });

  it('is asked in batches, and forgets the oldest texts beyond the bound', async () => {
    const embeddings = made({ bounds: { batchTexts: 2, batchCharacters: 5, keptBytes: 16 } });
    await embeddings.embed('bge', 2, ['1', '22', '333', '4444']);
    expect(asked.map(({ body }) => body.input)).to.deep.equal([['1', '22'], ['333'], ['4444']]);
    await embeddings.embed('bge', 2, ['1', '4444']);
    expect(asked.at(-1)?.body.input).to.deep.equal(['1']);
  });

  it('is asked again after 429 and 5xx, and at most three times', async () => {
    statuses.push(503, 429);
    expect(await made().embed('bge', 2, ['a'])).to.have.length(1);
    expect(asked).to.have.length(3);
    statuses.push(500, 500, 500);
    expect(await made().embed('bge', 2, ['a'])).to.equal(
      'the provider of embeddings has not embedded the texts: it answered 500',
    );
    expect(asked).to.have.length(6);
  });

  for (const [what, script, reason] of [
    ['refuses the key', () => statuses.push(401), 'it answered 401'],
    [
      'has another dimension',
      () => Object.assign(scripted, { dimension: 3 }),
      'its vectors have 3 dimensions, the index has 2',
    ],
    ['answers no JSON', () => Object.assign(scripted, { text: 'x' }), 'its answer is no JSON'],
    [
      'answers too few vectors',
      () => Object.assign(scripted, { text: '{"data":[]}' }),
      'its answer has no list of 1 vectors',
    ],
  ] as const) {
    it(`that ${what} is reported as such, without another try and without the key`, async () => {
      script();
      expect(await made().embed('bge', 2, ['a'])).to.equal(
        `the provider of embeddings has not embedded the texts: ${reason}`,
      );
      expect(asked).to.have.length(1);
      expect(JSON.stringify(log)).not.to.contain('secret-key');
    });
  }

  it('that is not reachable is reported as such', async () => {
    const closed = http.createServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    const away = made({ url: `http://127.0.0.1:${port}/v1` });
    expect(await away.embed('bge', 2, ['a'])).to.match(/it is not reachable \(\w+\)$/);
  });

  it('is asked with a bounded number of calls, beyond which texts are refused', async () => {
    const embeddings = made({ bounds: { callsAtOnce: 1, waitingCalls: 1 } });
    const outcomes = await Promise.all(['a', 'b', 'c'].map((text) => embeddings.embed('bge', 2, [text])));
    expect(outcomes.map((outcome) => typeof outcome)).to.deep.equal(['object', 'object', 'string']);
    expect(outcomes[2]).to.contain('too many calls wait for it');
  });
});
