/** An endpoint in the neutral spelling, docs/guide/workflow.mjs, at a server with an alias. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { endEverything } from '../../support/millrace-process.js';
import { QUEUE_TOKEN, QueueProcess } from '../../support/queue-process.js';

const PROGRAM = fileURLToPath(new URL('../../../../docs/guide/workflow.mjs', import.meta.url));

describe('an endpoint that does not know the alias', function () {
  this.timeout(120_000);
  let queue: QueueProcess;
  let endpoint: ChildProcess;
  let url: string;
  const said: string[] = [];

  before(async () => {
    queue = await QueueProcess.start();
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const env = { MILLRACE_QUEUE_URL: queue.url, MILLRACE_QUEUE_TOKEN: QUEUE_TOKEN, PORT: String(port) };
    endpoint = spawn(process.execPath, [PROGRAM], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = createInterface({ input: endpoint.stdout as NodeJS.ReadableStream });
    lines.on('line', (line) => said.push(line));
    await once(lines, 'line');
  });
  after(async () => {
    endpoint.kill('SIGKILL');
    await queue.sink.close();
    await endEverything();
  });

  const call = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const answer = await fetch(queue.url + path, {
      method: 'POST',
      headers: { Authorization: `Bearer ${QUEUE_TOKEN}`, ...headers },
      body: JSON.stringify(body),
    });
    expect(answer.status).to.equal(200);
    return (await answer.json()) as { workflowRunId: string };
  };

  for (const [id, title, headers] of [
    [1, 'in the neutral spelling', { 'Svc-Retries': '0' }],
    [2, 'without headers of either spelling', {}],
    [3, "in the alias's spelling", { 'Upstash-Retries': '0' }],
  ] as const) {
    it(`runs to its end when it was triggered ${title}`, async () => {
      const { workflowRunId } = await call(`/v2/trigger/${url}/order`, { id, items: 2 }, headers);
      await eventually(async () => {
        await call(`/v2/notify/paid-${id}`, { euros: 14 });
        expect(said.join('\n')).to.include(`${workflowRunId} returned { price: 14, payment: '{"euros":14}' }`);
      });
      expect(said.filter((line) => line.includes('failed'))).to.deep.equal([]);
    });
  }

  it('gets no message of a run as a plain message, so none is dead', async () => {
    const answer = await fetch(`${queue.url}/v2/dlq`, { headers: { Authorization: `Bearer ${QUEUE_TOKEN}` } });
    expect(((await answer.json()) as { messages: unknown[] }).messages).to.deep.equal([]);
  });
});
