import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import {
  MillraceCluster,
  type NatsFacts,
  ownerOf,
  servingEpochOf,
  startPlainNats,
} from '../../support/millrace-cluster.js';
import {
  endEverything,
  type MillraceProcess,
  startMillrace,
  temporaryDirectory,
} from '../../support/millrace-process.js';

const QUEUE_TOKEN = 'queue-of-the-tests-0123456789abcdef';
const ENV = { MILLRACE_QUEUE_TOKEN: QUEUE_TOKEN };

interface Received {
  readonly path: string;
  readonly id: string;
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

/** A destination that answers 200, or holds its answers back. */
class Sink {
  readonly received: Received[] = [];
  isHolding = false;
  readonly #held: ServerResponse[] = [];
  readonly #server: Server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { headers, url: path = '' } = request;
      this.received.push({
        path,
        id: String(headers['svc-message-id']),
        body: Buffer.concat(parts).toString(),
        headers,
      });
      if (this.isHolding) this.#held.push(response);
      else response.end('ok');
    });
  });

  async open(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  urlOf(path: string): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${path}`;
  }

  to(path: string): Received[] {
    return this.received.filter((one) => one.path === `/${path}`);
  }

  release(): void {
    this.isHolding = false;
    for (const response of this.#held.splice(0)) response.end('ok');
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

interface Accepted {
  readonly status: number;
  readonly messageId: string;
}

async function publish(
  millrace: MillraceProcess,
  url: string,
  headers: Record<string, string> = {},
  body = 'hello',
): Promise<Accepted> {
  const response = await fetch(`${millrace.addresses.queue}/v2/publish/${url}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${QUEUE_TOKEN}`, 'content-type': 'text/plain', ...headers },
    body,
  });
  const { messageId } = (await response.json()) as { messageId: string };
  return { status: response.status, messageId };
}

describe('a process that delivers messages', function () {
  this.timeout(60_000);
  let sink: Sink;

  before(async () => {
    sink = await new Sink().open();
  });

  after(async () => {
    await endEverything();
    sink.close();
  });

  it('makes the published call once', async () => {
    const millrace = await startMillrace({ env: ENV });
    const { status, messageId } = await publish(millrace, sink.urlOf('once'));
    expect(status).to.equal(200);
    await eventually(() => expect(sink.to('once')).to.have.length(1));
    expect(sink.to('once')[0]).to.deep.include({ id: messageId, body: 'hello' });
    expect(sink.to('once')[0]?.headers['svc-signature']).to.match(/^ey/);
    const { headers } = await fetch(`${millrace.addresses.queue}/v2/messages/${messageId}`, {
      headers: { authorization: `Bearer ${QUEUE_TOKEN}` },
    });
    expect(headers.get('content-type')).to.match(/json/);
    await millrace.kill('SIGTERM');
  });

  it('makes the call again with the same id after a kill during the call', async () => {
    const dataDir = await temporaryDirectory();
    const first = await startMillrace({ dataDir, env: ENV });
    sink.isHolding = true;
    const { messageId } = await publish(first, sink.urlOf('killed'), {}, 'survives');
    await eventually(() => expect(sink.to('killed')).to.have.length(1));
    await first.kill();
    sink.release();
    const second = await startMillrace({ dataDir, env: ENV });
    await eventually(() => expect(sink.to('killed')).to.have.length(2), { timeoutMs: 20_000 });
    for (const received of sink.to('killed')) expect(received).to.deep.include({ id: messageId, body: 'survives' });
    await second.kill('SIGTERM');
  });

  it('completes an open call on SIGTERM, and does not repeat it', async () => {
    const dataDir = await temporaryDirectory();
    const first = await startMillrace({ dataDir, env: ENV });
    sink.isHolding = true;
    await publish(first, sink.urlOf('stopped'));
    await eventually(() => expect(sink.to('stopped')).to.have.length(1));
    const stopped = first.kill('SIGTERM');
    sink.release();
    await stopped;
    const second = await startMillrace({ dataDir, env: ENV });
    await publish(second, sink.urlOf('after-stop'));
    await eventually(() => expect(sink.to('after-stop')).to.have.length(1));
    expect(sink.to('stopped')).to.have.length(1);
    await second.kill('SIGTERM');
  });
});

describe('a cluster that delivers messages', function () {
  this.timeout(90_000);
  let nats: NatsFacts;
  let sink: Sink;

  before(async () => {
    nats = await startPlainNats();
    sink = await new Sink().open();
  });

  after(async () => {
    await endEverything();
    await nats.stop();
    sink.close();
  });

  it('accepts publishes while their shard has no owner, and delivers each once when it has one', async () => {
    const cluster = await MillraceCluster.prepare(nats, {
      ...ENV,
      MILLRACE_QUEUE_TELL_AFTER_MS: '200',
      MILLRACE_ALLOW_PRIVATE_DESTINATIONS: 'true',
    });
    const processes = [await cluster.start(), await cluster.start()];
    await eventually(() => ownerOf('QUEUE_0', processes), { timeoutMs: 20_000 });
    await publish(processes[0] as MillraceProcess, sink.urlOf('asked'));
    await eventually(() => expect(sink.to('asked')).to.have.length(1));

    const owner = ownerOf('QUEUE_0', processes);
    const other = processes.find((process) => process !== owner) as MillraceProcess;
    // The other process may have owned the shard before the second process started.
    const before = servingEpochOf(other, 'QUEUE_0');
    await owner.kill();
    const accepted = await Promise.all(
      Array.from({ length: 20 }, (_, i) => publish(other, sink.urlOf('told'), {}, `told ${i}`)),
    );
    expect(accepted.every(({ status }) => status === 200)).to.equal(true);
    expect(servingEpochOf(other, 'QUEUE_0'), 'accepted before anybody owned the shard').to.equal(before);
    await eventually(() => expect(servingEpochOf(other, 'QUEUE_0')).to.be.greaterThan(before), { timeoutMs: 20_000 });
    await eventually(() => expect(sink.to('told').length).to.be.at.least(20), { timeoutMs: 20_000 });
    await publish(other, sink.urlOf('last'));
    await eventually(() => expect(sink.to('last')).to.have.length(1));
    const ids = sink.to('told').map(({ id }) => id);
    expect(new Set(ids)).to.deep.equal(new Set(accepted.map(({ messageId }) => messageId)));
    expect(ids).to.have.length(20);
  });
});
