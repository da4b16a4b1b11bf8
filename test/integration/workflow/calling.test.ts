/** context.call of the published client: requests to third parties. */
import { expect } from 'chai';
import { startTogether } from '../../support/together.js';
import { kindOf } from '../../support/workflow-app.js';
import { sharedStand, type WorkflowStand } from '../../support/workflow-stand.js';

describe('context.call', function () {
  this.timeout(120_000);
  let stand: WorkflowStand;
  before(async () => {
    stand = await sharedStand();
  });

  const together = startTogether();
  type Settings = Parameters<Parameters<Parameters<WorkflowStand['serve']>[1]>[0]['call']>[1];
  const calling = (settings: object) =>
    stand.serve('calling', (context) => context.call('call', settings as Settings & { url: string }));

  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])
    together(`${method}: sends the headers and body of the step, and none of the run`, async () => {
      const path = stand.sink.path('called');
      const url = stand.sink.answer(path, {
        status: 202,
        headers: { 'X-Reply': 'r' },
        body: 'a',
      });
      const hasBody = method !== 'GET' && method !== 'HEAD';
      const headers = { 'X-Own': 'of the call', 'Content-Type': 'text/plain', 'Upstash-Workflow-Custom': 'c' };
      // The body is sent only with methods that have one.
      const flow = calling({ url: `${url}?q=a%20b`, method, headers, body: 'b ü' });
      const { id, result } = await stand.run(flow, { body: 'payload', headers: { 'X-Run': 'of the run' }, label: 'l' });
      expect(result, stand.toldOf(id)).to.deep.include({ status: 202, body: method === 'HEAD' ? '' : 'a' });
      expect((result as { header: Record<string, string[]> }).header['X-Reply']).to.deep.equal(['r']);
      const call = await stand.sink.call(path);
      expect(call).to.include({ method, target: `${path}?q=a%20b`, body: hasBody ? 'b ü' : '' });
      expect(call.headers).to.include({ 'x-own': 'of the call', 'upstash-workflow-custom': 'c' });
      if (hasBody) expect(call.headers['content-type']).to.equal('text/plain');
      else expect(call.headers).not.to.have.any.keys('content-type', 'content-length', 'transfer-encoding');
      const ofTheRun = ['x-run', 'upstash-label', 'upstash-workflow-sdk-version', 'upstash-workflow-callback'];
      expect(call.headers).not.to.have.any.keys(...ofTheRun, 'upstash-failure-callback', 'upstash-callback');
    });

  together('retries with its own settings, and returns one result', async () => {
    const path = stand.sink.path('failing');
    const [no, yes] = [
      { status: 503, body: 'no' },
      { status: 200, body: 'yes' },
    ];
    const url = stand.sink.answer(path, no, no, yes);
    const flow = calling({ url, retries: 2, retryDelay: '100 * (1 + retried)' });
    const { id, result } = await stand.run(flow, { retries: 0 });
    expect(result).to.deep.include({ status: 200, body: 'yes' });
    const calls = await stand.sink.arrived(path, 3);
    expect(calls.map(({ headers }) => headers['upstash-retried'])).to.deep.equal(['0', '1', '2']);
    const [first, second, third] = calls.map(({ atMs }) => atMs) as [number, number, number];
    expect(second - first).to.be.at.least(100);
    expect(third - second).to.be.at.least(200);
    expect(stand.posts(id).map(kindOf)).to.deep.equal(['step', 'callback', 'step']);
    expect(JSON.parse(stand.posts(id)[1]?.body as string)).to.include({ status: 200, retried: 2, maxRetries: 2 });
  });

  together('ends after its own timeout', async () => {
    const path = stand.sink.path('hanging');
    const { result } = await stand.run(
      calling({ url: stand.sink.hold(path), timeout: 1, retries: 1, retryDelay: '10' }),
    );
    expect((result as { status: number }).status).not.to.be.within(200, 299);
    await stand.sink.arrived(path, 2);
    stand.sink.release(path);
  });

  for (const [title, type, bytes, body] of [
    ['non-ASCII text', 'text/plain; charset=utf-8', Buffer.from('ü€ 漢字'), 'ü€ 漢字'],
    ['JSON', 'application/json', Buffer.from('{"ü":["€",null]}'), { ü: ['€', null] }],
    // Bytes that are not text arrive as one character per byte.
    ['bytes', 'application/octet-stream', Buffer.from([0, 10, 127, 128, 255]), '\x00\n\x7f\x80\xff'],
  ] as const)
    together(`returns ${title} unchanged`, async () => {
      const url = stand.sink.answer(stand.sink.path('typed'), { headers: { 'Content-Type': type }, body: bytes });
      const { result } = await stand.run(calling({ url }));
      expect((result as { body: unknown }).body).to.deep.equal(body);
    });

  together('runs the calls of a group in parallel', async () => {
    const path = stand.sink.path('beside');
    const url = stand.sink.hold(path);
    const flow = stand.serve('group', (context) =>
      Promise.all(['a', 'b', 'c'].map((name) => context.call(name, { url }))),
    );
    const id = await stand.trigger(flow);
    await stand.sink.arrived(path, 3);
    stand.sink.release(path);
    const { result } = await stand.ended(id);
    expect((result as { status: number }[]).map(({ status }) => status)).to.deep.equal([200, 200, 200]);
    expect(stand.posts(id)).to.have.length(1 + 3 + 6);
  });
});
