/** Flow control of runs and of their calls. */
import { expect } from 'chai';
import { startTogether } from '../../support/together.js';
import { type Flow, sharedStand, type WorkflowStand } from '../../support/workflow-stand.js';

describe('flow control of workflows', function () {
  this.timeout(120_000);
  let stand: WorkflowStand;
  before(async () => {
    stand = await sharedStand();
  });

  const together = startTogether();
  const twoSteps: Flow = async (context) => {
    await context.run('one', () => {});
    return context.run('two', () => 'done');
  };
  const shown = async (key: string) =>
    (await stand.queue.get(`/v2/flowControl/${key}`)).json as Record<string, unknown>;

  together('of runs: limits the parallelism of all deliveries', async () => {
    const key = stand.app.name('runs');
    const url = stand.serve('limited', twoSteps);
    const flowControl = { key, parallelism: 1 };
    const ids = await Promise.all([1, 2, 3, 4].map(() => stand.trigger(url, { flowControl })));
    const runs = await Promise.all(ids.map((id) => stand.ended(id)));
    expect(runs.map(({ result }) => result)).to.deep.equal(Array(4).fill('done'));
    expect(stand.app.mostAtOnce(url)).to.equal(1);
    for (const { headers } of stand.app.of(url)) {
      expect(headers).to.include({ 'upstash-flow-control-key': key, 'upstash-flow-control-value': 'parallelism=1' });
    }
  });

  together('of runs: limits the members of a group', async () => {
    const key = stand.app.name('group');
    const url = stand.serve('group', (context) =>
      Promise.all(['a', 'b', 'c'].map((name) => context.run(name, () => name))),
    );
    const { id, result } = await stand.run(url, { flowControl: { key, parallelism: 1 } });
    expect(result).to.deep.equal(['a', 'b', 'c']);
    expect(stand.app.mostAtOnce(url)).to.equal(1);
    expect(stand.posts(id)).to.have.length(7);
  });

  together('of runs: limits the rate', async () => {
    const key = stand.app.name('rate');
    const url = stand.serve('rate', twoSteps);
    const { id, result } = await stand.run(url, { flowControl: { key, rate: 1, period: '1s' } });
    expect(result).to.equal('done');
    const times = stand.posts(id).map(({ atMs }) => Math.floor(atMs));
    expect((times.at(-1) as number) - (times[0] as number)).to.be.at.least(1000);
    expect(await shown(key)).to.include({ flowControlKey: key, rateMax: 1 });
  });

  together('of runs: a paused key holds the run until it is resumed', async () => {
    const key = stand.app.name('paused');
    const url = stand.serve('paused', twoSteps);
    expect((await stand.queue.post(`/v2/flowControl/${key}/pause`)).status).to.equal(200);
    const id = await stand.trigger(url, { flowControl: { key, parallelism: 1 } });
    await stand.logOf(id, 'RUN_STARTED');
    expect(stand.posts(id)).to.deep.equal([]);
    expect((await stand.queue.post(`/v2/flowControl/${key}/resume`)).status).to.equal(200);
    expect((await stand.ended(id)).result).to.equal('done');
  });

  together('of calls: applies in addition to that of the run', async () => {
    const [key, ofRun] = [stand.app.name('calls'), stand.app.name('run')];
    const path = stand.sink.path('called');
    const url = stand.serve('calling', (context) =>
      Promise.all(
        ['a', 'b', 'c'].map((name) =>
          context.call(name, { url: stand.sink.url(path), flowControl: { key, parallelism: 1 } }),
        ),
      ),
    );
    const { result } = await stand.run(url, { flowControl: { key: ofRun, parallelism: 3 } });
    expect((result as { status: number }[]).map(({ status }) => status)).to.deep.equal([200, 200, 200]);
    await stand.sink.arrived(path, 3);
    expect(stand.sink.mostAtOnce(path)).to.equal(1);
    expect(await shown(key)).to.include({ flowControlKey: key, parallelismMax: 1 });
    expect(await shown(ofRun)).to.include({ flowControlKey: ofRun, parallelismMax: 3 });
  });

  together('of children: applies to the children only', async () => {
    const key = stand.app.name('children');
    const child = stand.invokable(twoSteps);
    const parent = stand.invokable((context) =>
      Promise.all(
        ['a', 'b', 'c'].map((body) =>
          context.invoke(body, { workflow: child, body, flowControl: { key, parallelism: 1 } }),
        ),
      ),
    );
    const urls = stand.serveMany('family', { parent, child });
    const { result } = await stand.run(urls.parent);
    expect((result as { body: unknown }[]).map(({ body }) => body)).to.deep.equal(['done', 'done', 'done']);
    expect(stand.app.mostAtOnce(urls.child)).to.equal(1);
    expect(stand.app.of(urls.parent)[0]?.headers).not.to.have.property('upstash-flow-control-key');
  });
});
