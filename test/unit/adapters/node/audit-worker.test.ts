/** Texts of a thread for a reader that may be slow. Proves AUW1. */
import { MessageChannel } from 'node:worker_threads';
import { expect } from 'chai';
import { type FromAudit, sendTexts } from '../../../../src/adapters/node/threads/audit-worker.js';
import { eventually } from '../../../support/eventually.js';

describe('the thread that walks through the journal', () => {
  it('sends as many texts as were requested, and prepares one more at most (AUW1)', async () => {
    const { port1, port2 } = new MessageChannel();
    let made = 0;
    async function* texts(): AsyncGenerator<string> {
      for (; made < 10; ) {
        made += 1;
        yield `text ${made}`;
      }
    }
    const received: FromAudit[] = [];
    port2.on('message', (message: FromAudit) => received.push(message));
    const sending = sendTexts(port1, texts());
    try {
      let wanted = 0;
      for (const count of [0, 1, 3, 2]) {
        if (count > 0) port2.postMessage({ kind: 'more', count });
        wanted += count;
        await eventually(() => expect(made).to.equal(wanted + 1));
        await eventually(() => expect(received).to.have.length(wanted));
        for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        expect([made, received.length]).to.deep.equal([wanted + 1, wanted]);
      }
      port2.postMessage({ kind: 'more', count: 100 });
      await sending;
      await eventually(() => expect(received.at(-1)).to.deep.equal({ kind: 'end' }));
      expect(received.slice(0, -1).map((message) => (message as { text: string }).text)).to.deep.equal(
        Array.from({ length: 10 }, (_, at) => `text ${at + 1}`),
      );
    } finally {
      port1.close();
    }
  });
});
