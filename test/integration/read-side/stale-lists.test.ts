/** Lists while the read models receive no journal entries: they report how far they are behind. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { connect, type NatsConnections } from '../../../src/adapters/nats/index.js';
import { eventually } from '../../support/eventually.js';
import { QueueProcess } from '../../support/queue-process.js';

const HEADER = 'millrace-stale';
const FOR_LONG = '2100-01-01T00:00:00Z';
const NO_MORE = '2000-01-01T00:00:00Z';
/** On a busy machine, folding continues a moment after it is permitted. */
const FOLDED = { timeoutMs: 30_000, everyMs: 200 };

describe('lists of a read model that receives no entries', function () {
  this.timeout(120_000);
  let queue: QueueProcess;
  let connections: NatsConnections;

  before(async () => {
    queue = await QueueProcess.start();
    const file = await readFile(join(queue.millrace.dataDir, 'nats/client.json'), 'utf8');
    const { url, user, password } = JSON.parse(file) as Record<'url' | 'user' | 'password', string>;
    connections = await connect({ servers: [url], user, password });
  });
  after(async () => {
    await connections?.close();
    await queue?.stop();
  });

  async function api<T>(operation: string, body: object = {}): Promise<T> {
    const answer = await connections.control.request(`$JS.API.${operation}`, JSON.stringify(body), { timeoutMs: 5000 });
    return answer.json<T>();
  }

  /** Consumers of queue journals get no entries until that instant; writers are not affected. */
  async function pause(until: string): Promise<void> {
    const { streams } = await api<{ streams: string[] }>('STREAM.NAMES');
    for (const stream of streams.filter((name) => name.startsWith('QUEUE_'))) {
      const { consumers } = await api<{ consumers: string[] | null }>(`CONSUMER.NAMES.${stream}`);
      for (const consumer of consumers ?? []) await api(`CONSUMER.PAUSE.${stream}.${consumer}`, { pause_until: until });
    }
  }

  it('have a millrace-stale header, are counted, and are complete again afterwards', async () => {
    const path = queue.sink.path('held-back');
    await queue.eventsOf(await queue.publish(queue.sink.url(path)), 'DELIVERED');
    await pause(FOR_LONG);
    const later = await queue.publish(queue.sink.url(path));
    await queue.sink.arrived(path, 2);
    for (const list of ['/v2/logs', '/v2/dlq', '/v2/workflows/logs']) {
      const { status, headers } = await queue.get(list);
      expect(status).to.equal(200);
      expect(headers[HEADER], list).to.match(/^positions=[1-9]\d*, seconds=\d+$/);
    }
    const { text } = await queue.get(`/v2/logs?messageId=${later}`);
    expect(JSON.parse(text).events).to.deep.equal([]);
    const metrics = await (await fetch(`${queue.millrace.metricsUrl}/metrics`)).text();
    expect(sampleOf(metrics, 'millrace_stale_answers_total{model="messages"}')).to.be.at.least(4);
    expect(sampleOf(metrics, 'millrace_stale_answer_seconds_count')).to.be.at.least(4);
    await pause(NO_MORE);
    await eventually(async () => {
      const { headers, json } = await queue.get(`/v2/logs?messageId=${later}`);
      expect(headers[HEADER]).to.equal(undefined);
      expect((json as { events: { state: string }[] }).events.map(({ state }) => state)).to.include('DELIVERED');
    }, FOLDED);
  });
});

function sampleOf(page: string, series: string): number {
  const line = page.split('\n').find((text) => text.startsWith(`${series} `));
  return line === undefined ? 0 : Number(line.slice(series.length));
}
