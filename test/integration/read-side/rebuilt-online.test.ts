/** Read models that are rebuilt while the old ones still answer and messages arrive. */
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { endEverything } from '../../support/millrace-process.js';
import { QUEUE_TOKEN, QueueProcess } from '../../support/queue-process.js';
import { countedStates, loggedCounts, ReadSide } from '../../support/read-side.js';

const PEOPLE = { MILLRACE_MGMT_EMAIL: 'ops@example.com', MILLRACE_MGMT_KEY: 'mrk_of-the-operator-of-these-tests' };
const MESSAGES = 60;

describe('read models rebuilt online', function () {
  this.timeout(120_000);
  let queue: QueueProcess;
  let side: ReadSide;

  before(async () => {
    queue = await QueueProcess.start(PEOPLE);
    side = new ReadSide({
      queueUrl: queue.url,
      queueToken: QUEUE_TOKEN,
      mgmtUrl: /\bmgmt=(http:\S+)/.exec(queue.millrace.stdout())?.[1] as string,
      email: PEOPLE.MILLRACE_MGMT_EMAIL,
      key: PEOPLE.MILLRACE_MGMT_KEY,
    });
  });
  after(endEverything);

  const publish = () => queue.client.publish({ url: queue.sink.url('/rebuilt'), body: 'body' });
  const rebuiltOnce = (model: string, times: number) => {
    const said = queue.millrace.stderr().match(new RegExp(`"read-model.rebuilt".*"model":"${model}"`, 'g'));
    expect(said ?? []).to.have.length.at.least(times);
  };

  it('answer during the rebuild, and contain every event afterwards', async () => {
    const [{ id }] = await side.manage('GET', '/v2/msgq/users');
    const path = `/v2/msgq/stats/${id}`;
    for (let i = 0; i < MESSAGES / 2; i += 1) await publish();
    const asked = ['messages', 'statistics', 'search'].map((model) =>
      side.manage('POST', `/v2/admin/read-models/${model}/rebuild`),
    );
    expect(await Promise.all(asked)).to.deep.equal(
      ['messages', 'statistics', 'search'].map((rebuilding) => ({ rebuilding })),
    );
    let listed = 0;
    for (let i = 0; i < MESSAGES / 2; i += 1) {
      const { messageId } = await publish();
      // The client reads its own writes, also while the files are replaced.
      const found = await side.list('/v2/events', 'events', `messageId=${messageId}`);
      expect(found.map(({ state }) => state)).to.include('CREATED');
      listed += 1;
    }
    expect(listed).to.equal(MESSAGES / 2);
    await eventually(() => rebuiltOnce('messages', 1), { timeoutMs: 30_000 });
    await eventually(() => rebuiltOnce('statistics', 1), { timeoutMs: 30_000 });
    await eventually(
      async () => {
        const state = await side.state([path]);
        expect(loggedCounts(state)).to.include({ created: MESSAGES, delivered: MESSAGES });
        expect(countedStates(state, path)).to.deep.equal(loggedCounts(state));
      },
      { timeoutMs: 30_000, everyMs: 300 },
    );
  });

  it('are complete after a kill during the rebuild', async () => {
    const before = await side.state([]);
    await side.manage('POST', '/v2/admin/read-models/messages/rebuild');
    await queue.restart('SIGKILL');
    const faces = { ...side.faces, mgmtUrl: /\bmgmt=(http:\S+)/.exec(queue.millrace.stdout())?.[1] as string };
    expect((await new ReadSide(faces).state([])).events).to.deep.equal(before.events);
  });
});
