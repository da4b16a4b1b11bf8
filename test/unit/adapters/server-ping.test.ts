import { expect } from 'chai';
import { ServerPing } from '../../../src/adapters/nats/server-ping.js';
import { eventually } from '../../support/eventually.js';

describe('the ping of a server', () => {
  let pings: { answer(): void; fail(): void }[];
  let serverPing: ServerPing;
  let open: { stop(): void }[];

  beforeEach(() => {
    pings = [];
    open = [];
    const flush = () =>
      new Promise<void>((resolve, reject) => {
        pings.push({ answer: resolve, fail: () => reject(new Error('the server does not answer')) });
      });
    serverPing = new ServerPing({ flush });
  });

  afterEach(() => {
    for (const subscription of open) subscription.stop();
  });

  function listen(everyMs: number): { heard: number } {
    const listener = { heard: 0 };
    const hear = () => {
      listener.heard += 1;
    };
    open.push(serverPing.listen(everyMs, hear));
    return listener;
  }

  it('is shared: one answer reaches all listeners, as often as the most urgent one wants it (PU1, PU2)', async () => {
    const [seldom, often] = [listen(60_000), listen(10)];
    await eventually(() => expect(pings).to.have.length(1));
    expect([seldom.heard, often.heard]).to.deep.equal([0, 0]);
    pings[0]?.answer();
    await eventually(() => expect(pings).to.have.length(2));
    expect([seldom.heard, often.heard]).to.deep.equal([1, 1]);
  });

  it('is sent once while an answer is pending, and again when there is none (PU2)', async () => {
    const listener = listen(5);
    await eventually(() => expect(pings).to.have.length(1));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(pings).to.have.length(1);
    pings[0]?.fail();
    await eventually(() => expect(pings).to.have.length(2));
    expect(listener.heard).to.equal(0);
  });

  it('is not sent once the last listener has stopped (PU2)', async () => {
    const subscription = serverPing.listen(5, () => {});
    subscription.stop();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(pings).to.have.length(0);
  });
});
