/** Promises of every intake log (src/ports/intake-log.ts). Proves IL3. */
import { expect } from 'chai';
import type { ShardName } from '../../src/kernel/index.js';
import type { IntakeLog, StoredMessage, Subscription } from '../../src/ports/index.js';
import { eventually } from '../support/eventually.js';

export interface IntakeLogHarness {
  /** Two clients of one server. */
  readonly logs: readonly [IntakeLog, IntakeLog];
  /** A new shard with an empty intake for each call. */
  freshShard(): Promise<ShardName>;
  /** Kills the server and starts it again with its store; absent where there is no server. */
  restart?(): Promise<void>;
  close(): Promise<void>;
}

/** @param canRestart whether its harness has a server that can be killed and started again */
export function intakeLogContract(name: string, open: () => Promise<IntakeLogHarness>, canRestart = false): void {
  describe(`intake log: ${name}`, () => {
    let harness: IntakeLogHarness;
    let one: IntakeLog;
    let other: IntakeLog;
    let shard: ShardName;
    const following: Subscription[] = [];

    before(async () => {
      harness = await open();
      [one, other] = harness.logs;
    });
    after(() => harness?.close());
    beforeEach(async () => {
      shard = await harness.freshShard();
    });
    afterEach(() => {
      for (const subscription of following.splice(0)) subscription.stop();
    });

    function heardFrom(log: IntakeLog, from: number, of = shard): StoredMessage[] {
      const heard: StoredMessage[] = [];
      const onMessage = (message: StoredMessage) => void heard.push(message);
      following.push(log.follow(of, from, { onMessage, onAlive: () => undefined }));
      return heard;
    }

    const positions = (heard: readonly StoredMessage[]) => heard.map(({ position }) => position);
    const texts = (heard: readonly StoredMessage[]) => heard.map(({ bytes }) => Buffer.from(bytes).toString());

    it('stores parallel appends of several writers, each once, without gaps in the positions', async () => {
      const records = Array.from({ length: 20 }, (_, i) => `record ${i}`);
      await Promise.all(records.map((text, i) => (i % 2 === 0 ? one : other).append(shard, Buffer.from(text))));
      const heard = heardFrom(one, 1);
      await eventually(() => expect(heard).to.have.length(20));
      expect(positions(heard)).to.deep.equal(records.map((_, i) => i + 1));
      expect(texts(heard)).to.have.members(records);
    });

    it('separates the intakes of two shards', async () => {
      const another = await harness.freshShard();
      await one.append(shard, Buffer.from('here'));
      await one.append(another, Buffer.from('there'));
      const heard = heardFrom(other, 1, another);
      await eventually(() => expect(texts(heard)).to.deep.equal(['there']));
    });

    it('is followed from any position, and further to later records', async () => {
      for (const text of ['a', 'b']) await one.append(shard, Buffer.from(text));
      const heard = heardFrom(other, 2);
      await eventually(() => expect(texts(heard)).to.deep.equal(['b']));
      await one.append(shard, Buffer.from('c'));
      await eventually(() => expect(texts(heard)).to.deep.equal(['b', 'c']));
    });

    it('removes trimmed records only', async () => {
      for (const text of ['a', 'b', 'c']) await one.append(shard, Buffer.from(text));
      await one.trim(shard, 2);
      const heard = heardFrom(other, 1);
      await eventually(() => expect(texts(heard)).to.deep.equal(['c']));
      expect(positions(heard)).to.deep.equal([3]);
    });

    it('continues its positions after all records were trimmed', async () => {
      for (const text of ['a', 'b']) await one.append(shard, Buffer.from(text));
      const heard = heardFrom(other, 1);
      await eventually(() => expect(heard).to.have.length(2));
      await one.trim(shard, 2);
      await one.append(shard, Buffer.from('c'));
      await eventually(() => expect(positions(heard)).to.deep.equal([1, 2, 3]));
      const late = heardFrom(other, 1);
      await eventually(() => expect(positions(late)).to.deep.equal([3]));
    });

    it('continues its positions after a trim beyond its end', async () => {
      await one.append(shard, Buffer.from('a'));
      await one.trim(shard, 10);
      await one.trim(shard, 10);
      await one.append(shard, Buffer.from('b'));
      const heard = heardFrom(other, 1);
      await eventually(() => expect(positions(heard)).to.deep.equal([2]));
    });

    it('accepts a trim while it is empty', async () => {
      await one.trim(shard, 0);
      await one.trim(shard, 5);
      await one.append(shard, Buffer.from('first'));
      const heard = heardFrom(other, 1);
      await eventually(() => expect(positions(heard)).to.deep.equal([1]));
    });

    if (!canRestart) return;
    it('continues its positions when its server died after all records were trimmed', async () => {
      for (const text of ['a', 'b', 'c']) await one.append(shard, Buffer.from(text));
      await one.trim(shard, 3);
      await harness.restart?.();
      await eventually(() => one.append(shard, Buffer.from('d')), { timeoutMs: 15_000 });
      const heard = heardFrom(other, 1);
      await eventually(() => expect(positions(heard)[0]).to.equal(4), { timeoutMs: 15_000 });
    });
  });
}
