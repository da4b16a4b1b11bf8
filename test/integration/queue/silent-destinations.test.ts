/**
 * Destinations that never answer, on a real process with default settings: they hold their own calls until the timeout,
 * and calls to another destination are not delayed.
 */
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { addressesFor, NameServer } from '../../support/name-server.js';
import { QueueProcess } from '../../support/queue-process.js';
import { QueueTenant } from '../../support/queue-tenant.js';
import { SickDestination } from '../../support/sick-destination.js';

/** More than the open attempts that an origin may have. */
const WAITING = 500;
const PACE = { count: 40, everyMs: 25 };
/** Added to the time of a message without any other load. */
const MORE_MS = 100;

describe('destinations that never answer', function () {
  this.timeout(90_000);
  let queue: QueueProcess;
  let names: NameServer;
  let tenant: QueueTenant;
  const sick: SickDestination[] = [];

  before(async () => {
    names = await NameServer.listening((question) =>
      question.name.startsWith('dead') ? undefined : addressesFor(question, ['127.0.0.1'], 1),
    );
    queue = await QueueProcess.start({ MILLRACE_DELIVERY_NAME_SERVERS: `127.0.0.1:${names.port}` });
    tenant = QueueTenant.first(queue);
  });
  afterEach(async () => {
    await tenant.request('DELETE', '/v2/messages');
    await Promise.all(sick.splice(0).map((destination) => destination.close()));
  });
  after(async () => {
    await queue?.stop();
    await names?.close();
  });

  const median = (latencies: readonly number[]) => latencies[PACE.count / 2] as number;

  it('do not delay other destinations, when three of them have all their sockets', async () => {
    const aloneMs = median(await tenant.keepPace(PACE));
    for (let n = 0; n < 3; n += 1) {
      const destination = await SickDestination.that('hangs');
      sick.push(destination);
      await tenant.flood(WAITING, () => ({ destination: destination.url, body: 'b' }));
    }
    await eventually(() => {
      for (const { openSockets } of sick) expect(openSockets).to.be.above(20);
    });
    expect(median(await tenant.keepPace(PACE))).to.be.at.most(aloneMs + MORE_MS);
  });

  it('do not delay other names when no name server answers for theirs', async () => {
    const port = new URL(queue.sink.url('')).port;
    await tenant.flood(WAITING, (number) => ({
      destination: `http://dead${number % 100}.example:${port}/`,
      body: 'b',
    }));
    await eventually(() => {
      const asked = new Set(names.asked.filter((question) => question.startsWith('A dead')));
      expect(asked.size).to.equal(100);
    });
    const latencies: number[] = [];
    for (let n = 0; n < PACE.count; n += 1) {
      const path = queue.sink.path('well');
      const beganAtMs = Date.now();
      await tenant.publish(`http://well${n}.example:${port}${path}`, { body: 'b' });
      const publishedMs = Date.now() - beganAtMs;
      const [arrived] = await queue.sink.arrived(path, 1);
      latencies.push((arrived?.atMs ?? Number.POSITIVE_INFINITY) - beganAtMs - publishedMs);
    }
    latencies.sort((a, b) => a - b);
    expect(median(latencies), `of ${latencies}`).to.be.at.most(MORE_MS);
  });
});
