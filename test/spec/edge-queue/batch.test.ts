import { expect } from 'chai';
import { QueueEndpointHarness } from '../../support/queue-endpoint.js';
import { standOfEachTest } from '../../support/stand-hooks.js';

const URL = 'https://api.example/';

describe('edge/queue: POST /v2/batch', () => {
  const face = standOfEachTest(() => new QueueEndpointHarness().start());

  const batch = (body: string | object) => face.post('/v2/batch', { body });
  const errorOf = async (body: string | object) => {
    const answer = await batch(body);
    expect(answer.status).to.equal(400);
    return (answer.json as { error: string }).error;
  };

  it('publishes the messages as one command, and answers in their order', async () => {
    const answer = await batch([
      { destination: `${URL}a?b=c`, headers: { 'Svc-Retries': '1', 'content-type': 'text/plain' }, body: 'one' },
      { destination: 'group', headers: {}, body: null, queue: null },
      { destination: URL, queue: 'q' },
    ]);
    expect(answer.status).to.equal(200);
    const [first, second, third] = face.gateway.published;
    expect(answer.json).to.deep.equal([
      { messageId: first?.id, url: `${URL}a?b=c` },
      [
        { messageId: second?.id, url: 'https://one.example/' },
        { messageId: `${second?.id}2`, url: 'https://two.example/' },
      ],
      { messageId: third?.id, url: URL },
    ]);
    expect(first?.destination).to.deep.include({ kind: 'url' });
    expect(first?.destination.kind === 'url' && first.destination.settings).to.deep.include({
      maxRetries: 1,
      header: [['Content-Type', 'text/plain']],
    });
    expect(Buffer.from(first?.body ?? []).toString()).to.equal('one');
    expect(second?.destination).to.include({ kind: 'group', name: 'group' });
    expect(third?.queueName).to.equal('q');
  });

  it('answers an array for a single message too, also for a duplicate', async () => {
    const results = [{ messageId: 'msg_1' as never, url: URL, isDuplicate: true }];
    face.gateway.publishReply = { type: 'Published', results, daily: undefined };
    const answer = await batch([{ destination: URL }]);
    expect([answer.status, answer.json]).to.deep.equal([200, [{ messageId: 'msg_1', url: URL, deduplicated: true }]]);
  });

  it('marks the messages with headers in the alias spelling', async () => {
    await batch([{ destination: URL, headers: { 'acme-retries': '1' } }, { destination: URL }]);
    expect(face.gateway.published.map(({ isAlias }) => isAlias)).to.deep.equal([true, false]);
  });

  it('accepts a callback next to the headers where the headers have none', async () => {
    await batch([{ destination: URL, callback: 'https://cb.example/' }]);
    const { destination } = face.gateway.lastPublished;
    expect(destination.kind === 'url' && destination.settings.callback?.url).to.equal('https://cb.example/');
  });

  const WRONG = [
    ['{}', /^the body is not a JSON array$/],
    ['', /^the body is not a JSON array$/],
    ['[', /^the body is not valid JSON$/],
    ['[{"destination":"https://a.example"}', /^the body is not valid JSON$/],
    ['[{"destination":"https://a.example"},]', /^the body is not valid JSON$/],
    ['[{"destination":"https://a.example"}] x', /^the body is not valid JSON$/],
    ['[]', /^the batch is empty$/],
    [[3], /^message 0: a message is not a JSON object$/],
    [[{ destination: URL }, {}], /^message 1: destination must be a string$/],
    [[{ destination: 'api/llm' }], /^message 0: destination api\/llm is not available/],
    [
      [{ destination: URL, headers: { 'Svc-Delay': '30d' } }],
      /^message 0: .*quota maxDelay exceeded, current limit: 604800$/,
    ],
    [[{ destination: URL, headers: [] }], /^message 0: headers is not a JSON object$/],
    [[{ destination: URL, headers: { a: {} } }], /^message 0: headers\.a must be a string/],
    [[{ destination: URL, body: {} }], /^message 0: body must be a string$/],
    [[{ destination: URL, queue: 'a b' }], /^message 0: queue may have letters/],
    [[{ destination: 'http://forbidden.example' }], /^message 0: invalid destination url: endpoint is forbidden$/],
  ] as const;
  for (const [body, text] of WRONG) {
    it(`refuses the whole batch ${JSON.stringify(body)}`, async () => {
      expect(await errorOf(body as string | object)).to.match(text);
      expect(face.gateway.published).to.deep.equal([]);
    });
  }

  it('accepts a thousand messages, and refuses one more', async () => {
    const items = Array.from({ length: 1001 }, () => ({ destination: URL }));
    expect((await batch(items.slice(1))).status).to.equal(200);
    expect(await errorOf(items)).to.equal('a batch has at most 1000 messages');
    expect(face.gateway.published).to.have.lengthOf(1000);
  });

  it('answers 413 to a message above the account’s message size, and to a batch above its own bound', async () => {
    face.limits = { ...face.limits, maxMessageBytes: 10 };
    expect((await batch([{ destination: URL, body: '0123456789' }])).status).to.equal(200);
    const answer = await batch([{ destination: URL, body: '0123456789a' }]);
    expect(answer.status).to.equal(413);
    expect((answer.json as { error: string }).error).to.match(/^message 0: body is too large/);
    const small = await new QueueEndpointHarness({ limits: { maxBatchBytes: 50 } }).start();
    expect((await small.post('/v2/batch', { body: ' '.repeat(51) })).status).to.equal(413);
    await small.stop();
  });
});
