/** Requests on a link, which are timed by the link. Proves RI3. */
import { expect } from 'chai';
import { type Msg, headers as newHeaders } from 'nats';
import { connect, type NatsConnections } from '../../../src/adapters/nats/index.js';
import type { NatsLink } from '../../../src/adapters/nats/link.js';
import type { LinkFailure } from '../../../src/adapters/nats/link-failure.js';
import { eventually } from '../../support/eventually.js';
import { type NatsServer, startNatsServer } from '../../support/nats-server.js';

const HEADERS = newHeaders();
HEADERS.append('One', '1');
HEADERS.append('Two', '2');
const HEADER_BYTES = 'NATS/1.0\r\nOne: 1\r\nTwo: 2\r\n\r\n'.length;
const PATIENT = { timeoutMs: 5000 };

describe('requests on a link to a NATS server', () => {
  let server: NatsServer;
  let connections: NatsConnections;
  let link: NatsLink;

  beforeEach(async () => {
    server = await startNatsServer();
    connections = await connect({ servers: [server.url] });
    link = connections.appends;
  });
  afterEach(async () => {
    await connections.close();
    await server.stop();
  });

  /** Answers each with its own payload. */
  async function echoing(subject: string): Promise<Msg[]> {
    const received: Msg[] = [];
    connections.control.subscribe(subject, (message) => {
      received.push(message);
      if (message.reply) connections.control.publish(message.reply, message.data);
    });
    await connections.control.flush(1000);
    return received;
  }

  const payloads: Readonly<Record<string, Uint8Array | string>> = {
    nothing: '',
    'a text with characters of several bytes': 'Zażółć 🎈',
    'bytes that look like the end of a message': Buffer.from('\r\nPUB evil 1\r\n'),
    'half a megabyte': Buffer.alloc(512 * 1024, 7),
  };
  for (const [content, payload] of Object.entries(payloads)) {
    for (const headers of [undefined, HEADERS]) {
      it(`carry ${content} unchanged, ${headers === undefined ? 'without' : 'with'} headers, and return the answer`, async () => {
        const received = await echoing('echo');
        const answer = await link.request('echo', payload, { ...PATIENT, headers });
        expect(Buffer.compare(answer.data, Buffer.from(payload as string))).to.equal(0);
        expect(received[0]?.subject).to.equal('echo');
        const pairs = [...(received[0]?.headers ?? [])];
        expect(pairs).to.deep.equal(
          headers === undefined
            ? []
            : [
                ['One', ['1']],
                ['Two', ['2']],
              ],
        );
      });
    }
  }

  it("are refused without sending for an invalid subject or a payload above the server's maximum", async () => {
    const received = await echoing('>');
    expect(await kindOf(link.request('two words', '', PATIENT))).to.equal('refused');
    expect(await kindOf(link.request('line\r\nPUB evil 0', '', PATIENT))).to.equal('refused');
    const most = link.raw.info?.max_payload as number;
    const tooMuch = new Uint8Array(most - HEADER_BYTES + 1);
    expect(await kindOf(link.request('echo', tooMuch, { ...PATIENT, headers: HEADERS }))).to.equal('refused');
    await link.request('echo', tooMuch.subarray(1), { ...PATIENT, headers: HEADERS });
    expect(received.map(({ subject }) => subject).filter((subject) => !subject.startsWith('_'))).to.deep.equal([
      'echo',
    ]);
  });

  it('are not sent once the connection is closing', async () => {
    const closed = link.close();
    expect(await kindOf(link.request('echo', '', PATIENT))).to.equal('not-sent');
    await closed;
    expect(await kindOf(link.request('echo', '', PATIENT))).to.equal('not-sent');
  });

  it('time out each at its own time, in any order', async () => {
    connections.control.subscribe('silence', () => {});
    await connections.control.flush(1000);
    const ended: number[] = [];
    for (const timeoutMs of [60_000, 300, 100, 200, 100]) {
      link.send('silence', '', { timeoutMs }, (answer) => {
        expect((answer as LinkFailure).kind).to.equal(timeoutMs === 60_000 ? 'disconnected' : 'timed-out');
        ended.push(timeoutMs);
      });
    }
    await eventually(() => expect(ended).to.deep.equal([100, 100, 200, 300]));
    await link.close();
    expect(ended.at(-1)).to.equal(60_000);
  });
});

function kindOf(request: Promise<unknown>): Promise<unknown> {
  return request.then(
    () => 'answered',
    (failure: LinkFailure) => failure.kind,
  );
}
