/** Promises of every meter log (src/ports/meter-log.ts). Proves MLO3. */
import { expect } from 'chai';
import type { MeterLog, StoredMessage } from '../../src/ports/index.js';
import { eventually } from '../support/eventually.js';
import { standOfEachTest } from '../support/stand-hooks.js';

export interface MeterLogHarness {
  /** Two clients of one log that is empty. */
  readonly logs: readonly [MeterLog, MeterLog];
  close(): Promise<void>;
}

export function meterLogContract(name: string, open: () => Promise<MeterLogHarness>): void {
  describe(`meter log: ${name}`, () => {
    const harness = standOfEachTest(() => open());

    it('stores parallel appends of several writers, each once, without gaps in the positions', async () => {
      const [one, other] = harness.logs;
      const texts = Array.from({ length: 20 }, (_, i) => `record ${i}`);
      await Promise.all(texts.map((text, i) => (i % 2 === 0 ? one : other).append(Buffer.from(text))));
      const heard: StoredMessage[] = [];
      const following = one.follow(1, { onMessage: (message) => heard.push(message), onAlive: () => undefined });
      await eventually(() => expect(heard).to.have.length(20));
      following.stop();
      expect(heard.map(({ position }) => position)).to.deep.equal(texts.map((_, i) => i + 1));
      expect(heard.map(({ bytes }) => Buffer.from(bytes).toString())).to.have.members(texts);
    });

    it('is followed from any position, and further to later records', async () => {
      const [one, other] = harness.logs;
      for (const text of ['a', 'b']) await one.append(Buffer.from(text));
      const heard: string[] = [];
      const following = other.follow(2, {
        onMessage: ({ bytes }) => heard.push(Buffer.from(bytes).toString()),
        onAlive: () => undefined,
      });
      await eventually(() => expect(heard).to.deep.equal(['b']));
      await one.append(Buffer.from('c'));
      await eventually(() => expect(heard).to.deep.equal(['b', 'c']));
      following.stop();
    });
  });
}
