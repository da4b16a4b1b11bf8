/** Proves SA1–SA6, SW1, SW2, CR1, PS1, PS2, SH1, RQ3. */
import { expect } from 'chai';
import { EntryAssembler } from '../../../src/codec/envelope/index.js';
import { OK } from '../../../src/domain/kv/index.js';
import type { PartitionName } from '../../../src/kernel/index.js';
import type { HeldAppend } from '../../support/held-journal.js';
import { KvShardStand, LIMITS, SHARD } from '../../support/kv-shard-stand.js';

describe('shard actor', () => {
  let stand: KvShardStand;

  beforeEach(() => {
    stand = new KvShardStand();
  });

  afterEach(() => {
    for (const actor of stand.actors) actor.fail(new Error('the test is over'));
  });

  function onlyHeld(): HeldAppend {
    expect(stand.journal.held).to.have.length(1);
    return stand.journal.held.shift() as HeldAppend;
  }

  async function entries() {
    const assembler = new EntryAssembler();
    const { last } = await stand.journal.tail(SHARD);
    const found = [];
    for await (const { position, bytes } of stand.journal.read(SHARD, 1, last)) {
      const read = assembler.add(position, bytes);
      if (read !== undefined) found.push(read.entry);
    }
    return found;
  }

  describe('commits in groups', () => {
    it('stores commands that arrive together as one entry', async () => {
      const actor = await stand.serving();
      for (let i = 0; i < 10; i += 1) stand.send(actor, `SET k${i} v`);
      await stand.settle();
      const [claim, batch, ...more] = await entries();
      expect([claim?.body.kind, batch?.body.kind, more.length]).to.deep.equal(['claim', 'batch', 0]);
    });

    it('keeps one append in flight; commands that arrive in the meantime form the next entry', async () => {
      const actor = await stand.serving();
      stand.journal.isOpen = false;
      stand.send(actor, 'SET a 1');
      await stand.settle();
      const first = onlyHeld();
      stand.send(actor, 'SET b 2');
      stand.send(actor, 'SET c 3');
      await stand.settle();
      expect(stand.journal.held).to.have.length(0);
      await first.ack();
      await stand.settle();
      const second = onlyHeld();
      expect(second.expectedLast).to.equal(first.expectedLast + 1);
      await second.ack();
      expect(await entries()).to.have.length(3);
    });

    it('gives every write of an entry a different sync token', async () => {
      const actor = await stand.serving();
      const outcomes = ['SET a 1', 'SET b 2', 'SET c 3'].map((line) => stand.send(actor, line));
      await stand.settle();
      expect(new Set(outcomes.map(({ syncToken }) => syncToken)).size).to.equal(3);
    });

    it('stores no entry for commands without changes', async () => {
      const actor = await stand.serving();
      const outcome = stand.send(actor, ['GET a', 'DEL a'], 'pipeline');
      await stand.settle();
      expect(outcome.replies).to.deep.equal([null, 0]);
      expect(await entries()).to.have.length(1);
    });
  });

  describe('answers', () => {
    it('a write only when its entry is stored', async () => {
      const actor = await stand.serving();
      stand.journal.isOpen = false;
      const outcome = stand.send(actor, 'SET a 1');
      await stand.settle();
      expect(outcome).to.deep.equal({});
      await onlyHeld().ack();
      await stand.settle();
      expect(outcome.replies).to.deep.equal([OK]);
    });

    it('a read of a key with an uncommitted write only when that write is stored', async () => {
      const actor = await stand.serving();
      stand.journal.isOpen = false;
      stand.send(actor, 'SET a 1');
      await stand.settle();
      const read = stand.send(actor, 'GET a');
      await stand.settle();
      expect(read).to.deep.equal({});
      await onlyHeld().ack();
      await stand.settle();
      expect(read.replies).to.deep.equal(['1']);
    });

    it('a write that changed no data but found an uncommitted key only when that key is stored', async () => {
      const actor = await stand.serving();
      stand.journal.isOpen = false;
      stand.send(actor, 'SET a 1');
      await stand.settle();
      const refused = stand.send(actor, 'SETNX a 2');
      await stand.settle();
      expect(refused).to.deep.equal({});
      await onlyHeld().ack();
      await stand.settle();
      expect(refused.replies).to.deep.equal([0]);
    });

    it('a read of another key immediately', async () => {
      const actor = await stand.serving();
      stand.journal.isOpen = false;
      stand.send(actor, 'SET a 1');
      await stand.settle();
      const read = stand.send(actor, 'GET b');
      await stand.settle();
      expect(read.replies).to.deep.equal([null]);
    });

    it('a read of the whole keyspace only when every change is stored', async () => {
      const actor = await stand.serving();
      stand.journal.isOpen = false;
      stand.send(actor, 'SET a 1');
      await stand.settle();
      const count = stand.send(actor, 'DBSIZE');
      await stand.settle();
      expect(count).to.deep.equal({});
      await onlyHeld().ack();
      await stand.settle();
      expect(count.replies).to.deep.equal([1]);
    });

    it('no read without contact to the other processes', async () => {
      const actor = await stand.serving();
      stand.mayAnswerReads = false;
      const read = stand.send(actor, 'GET a');
      const write = stand.send(actor, 'SET b 1');
      await stand.settle();
      expect(read.failure).to.equal('SHARD_UNAVAILABLE');
      expect(write.replies).to.deep.equal([OK]);
    });

    it('a read after the lease has expired once an empty entry is stored, which proves the ownership', async () => {
      const actor = await stand.serving();
      stand.mayAnswerReads = false;
      stand.journal.isOpen = false;
      const read = stand.send(actor, 'GET a');
      await stand.settle();
      expect([read.replies, read.failure]).to.deep.equal([undefined, undefined]);
      stand.mayAnswerReads = true;
      await onlyHeld().ack();
      await stand.settle();
      expect(read.replies).to.deep.equal([null]);
      // The entry confirms ownership for all reads within a lease.
      const later = stand.send(actor, 'GET a');
      await stand.settle();
      expect(later.replies).to.deep.equal([null]);
      expect(stand.journal.held).to.have.length(0);
    });

    it('no read when that empty entry is not stored within the hold time', async () => {
      const actor = await stand.serving();
      stand.mayAnswerReads = false;
      stand.journal.isOpen = false;
      const read = stand.send(actor, 'GET a');
      await stand.settle();
      await stand.time.advance(LIMITS.holdMs * 1.2);
      expect(read.failure).to.equal('SHARD_UNAVAILABLE');
      expect(actor.state).to.equal('serving');
    });

    it('no read when that empty entry is refused because another process owns the shard', async () => {
      const actor = await stand.serving();
      stand.mayAnswerReads = false;
      stand.journal.isOpen = false;
      const read = stand.send(actor, 'GET a');
      await stand.settle();
      onlyHeld().answer({ kind: 'conflict', last: 99 });
      await stand.settle();
      expect(read.failure).to.equal('NOT_APPLIED');
      expect((await actor.ended).code).to.equal('FENCED');
    });

    it('a read after an append that it caused itself, with readsNeedBarrier', async () => {
      const actor = await stand.serving({ readsNeedBarrier: true });
      const read = stand.send(actor, 'GET a');
      await stand.settle();
      expect(read.replies).to.deep.equal([null]);
      expect(await entries()).to.have.length(2);
    });
  });

  describe('when an append is refused', () => {
    it('ends, and its callers learn that their commands were not applied', async () => {
      const actor = await stand.serving();
      stand.journal.isOpen = false;
      const inFlight = stand.send(actor, 'SET a 1');
      await stand.settle();
      const waiting = stand.send(actor, 'SET b 1');
      await stand.settle();
      onlyHeld().answer({ kind: 'conflict', last: 99 });
      await stand.settle();
      expect([inFlight.failure, waiting.failure]).to.deep.equal(['NOT_APPLIED', 'NOT_APPLIED']);
      expect((await actor.ended).code).to.equal('FENCED');
    });

    it('reports that acknowledged data has vanished when the journal is shorter than before', async () => {
      const actor = await stand.serving();
      stand.send(actor, 'SET a 1');
      await stand.settle();
      stand.journal.isOpen = false;
      stand.send(actor, 'SET a 2');
      await stand.settle();
      onlyHeld().answer({ kind: 'conflict', last: 1 });
      await stand.settle();
      expect((await actor.ended).code).to.equal('JOURNAL_DAMAGED');
    });
  });

  describe('when an append is not answered', () => {
    it('sends the same bytes with the same expected position again', async () => {
      const actor = await stand.serving();
      stand.journal.isOpen = false;
      const outcome = stand.send(actor, 'SET a 1');
      await stand.settle();
      const first = onlyHeld();
      first.loseRequest();
      await stand.time.advance(100);
      const second = onlyHeld();
      expect([second.bytes, second.expectedLast]).to.deep.equal([first.bytes, first.expectedLast]);
      await second.ack();
      await stand.settle();
      expect(outcome.replies).to.deep.equal([OK]);
    });

    it('recognises its own entry when only the answer was lost', async () => {
      const actor = await stand.serving();
      stand.journal.isOpen = false;
      const outcome = stand.send(actor, 'SET a 1');
      await stand.settle();
      await onlyHeld().loseAck();
      await stand.time.advance(100);
      await onlyHeld().ack();
      await stand.time.advance(100);
      expect(outcome.replies).to.deep.equal([OK]);
      expect(await entries()).to.have.length(2);
    });

    it('answers OUTCOME_UNKNOWN when it gives up before the append is answered', async () => {
      const actor = await stand.serving();
      stand.journal.isOpen = false;
      const outcome = stand.send(actor, 'SET a 1');
      await stand.settle();
      onlyHeld().loseRequest();
      actor.fail(new Error('the session is over'));
      await stand.time.advance(1000);
      expect(outcome.failure).to.equal('OUTCOME_UNKNOWN');
    });
  });

  describe('a successor', () => {
    it('has all acknowledged writes', async () => {
      const before = await stand.serving();
      stand.send(before, ['SET a 1', 'INCR a', 'SET b x PX 100000'], 'pipeline');
      await stand.settle();
      const after = await stand.serving();
      const read = stand.send(after, ['GET a', 'GET b', 'PTTL b'], 'pipeline');
      await stand.settle();
      expect(read.replies).to.deep.equal(['2', 'x', 100000]);
    });

    it('fences the owner before it: a late write of that owner is not applied', async () => {
      const before = await stand.serving();
      const after = await stand.serving();
      const late = stand.send(before, 'SET a stale');
      await stand.settle();
      expect(late.failure).to.equal('NOT_APPLIED');
      const read = stand.send(after, 'GET a');
      await stand.settle();
      expect(read.replies).to.deep.equal([null]);
    });

    it('acknowledges no write while the previous owner may still answer reads', async () => {
      await stand.serving();
      const after = await stand.serving({ quietMs: 2250 });
      const write = stand.send(after, 'SET a 1');
      const read = stand.send(after, 'GET a');
      await stand.time.advance(2000);
      expect([write, read]).to.deep.equal([{}, {}]);
      await stand.time.advance(500);
      expect([write.replies, read.replies]).to.deep.equal([[OK], ['1']]);
    });

    it('remembers which commands of remote callers were executed', async () => {
      const before = await stand.serving();
      stand.send(before, 'SET a 1', 'single', 'c-1');
      stand.send(before, 'GET a', 'single', 'c-2');
      await stand.settle();
      const after = await stand.serving();
      expect(['c-1', 'c-2', 'c-3'].map((id) => after.wasExecuted(id as never))).to.deep.equal([true, false, false]);
    });

    it('keeps expired keys expired although its clock is slower', async () => {
      const before = await stand.serving();
      stand.send(before, 'SET a 1 PX 1000');
      await stand.time.advance(2000);
      stand.send(before, 'SET b 1');
      await stand.settle();
      stand.time.jumpWallClock(-10_000);
      const after = await stand.serving();
      const read = stand.send(after, 'GET a');
      await stand.settle();
      expect(read.replies).to.deep.equal([null]);
    });

    it('refuses a journal that is shorter than the lease records', async () => {
      await stand.serving();
      const highWater = { number: 5, hash: new Uint8Array(32), position: 5 };
      const after = stand.activate({ highWater });
      await after.start();
      expect((await after.ended).code).to.equal('JOURNAL_DAMAGED');
    });
  });

  describe('bounds', () => {
    it('refuses the first request above the mailbox limit before it executes any', async () => {
      const actor = stand.activate({}, { ...LIMITS, mailbox: { ...LIMITS.mailbox, maxWorks: 2 } });
      const outcomes = ['SET a 1', 'SET b 1', 'SET c 1'].map((line) => stand.send(actor, line));
      await actor.start();
      await stand.settle();
      expect(outcomes.map(({ failure }) => failure)).to.deep.equal([undefined, undefined, 'MAILBOX_FULL']);
    });

    it('accepts reads and deletes, and refuses commands that grow data, while the disk is nearly full', async () => {
      const actor = await stand.serving();
      stand.send(actor, 'SET a 1');
      await stand.settle();
      stand.storage.full = true;
      const outcomes = ['SET b 1', 'GET a', 'DEL a'].map((line) => stand.send(actor, line));
      const batch = stand.send(actor, ['GET a', 'APPEND a x'], 'pipeline');
      await stand.settle();
      expect(outcomes.map(({ failure, replies }) => failure ?? replies)).to.deep.equal(['STORAGE_FULL', ['1'], [1]]);
      expect(batch.failure).to.equal('STORAGE_FULL');
      stand.storage.full = false;
      const again = stand.send(actor, 'SET b 1');
      await stand.settle();
      expect(again.replies).to.deep.equal([OK]);
    });

    it('holds requests while it is loading, for a bounded time', async () => {
      const actor = stand.activate();
      stand.journal.isOpen = false;
      void actor.start();
      const held = stand.send(actor, 'GET a');
      await stand.time.advance(4900);
      expect(held).to.deep.equal({});
      await stand.time.advance(1500);
      expect(held.failure).to.equal('SHARD_UNAVAILABLE');
    });

    it('spreads a long pipeline over turns and runs a transaction in one turn', async () => {
      const actor = await stand.serving({}, { ...LIMITS, turn: { ...LIMITS.turn, maxCommands: 10 } });
      const lines = Array.from({ length: 25 }, (_, i) => `SET k${i} v`);
      const pipeline = stand.send(actor, lines, 'pipeline');
      while (pipeline.replies === undefined) await stand.settle();
      expect(await entries()).to.have.length(1 + 3);
      const transaction = stand.send(actor, lines, 'transaction');
      while (transaction.replies === undefined) await stand.settle();
      expect(await entries()).to.have.length(1 + 3 + 1);
    });

    it('runs KEYS over many turns with the same result as in one turn', async () => {
      const actor = await stand.serving({}, { ...LIMITS, turn: { ...LIMITS.turn, maxCommands: 1 } });
      const filled = stand.send(actor, [`MSET ${Array.from({ length: 20_000 }, (_, i) => `k${i} v`).join(' ')}`]);
      while (filled.replies === undefined) await stand.settle();
      const sliced = stand.send(actor, 'KEYS k1*');
      while (sliced.replies === undefined) await stand.settle();
      const whole = stand.send(actor, 'KEYS k1*', 'transaction');
      while (whole.replies === undefined) await stand.settle();
      expect(sliced.replies[0]).to.have.length(11_111);
      expect(sliced.replies[0]).to.have.members(whole.replies[0] as string[]);
    });

    it('stores an entry larger than one message as a set of chunks', async () => {
      const actor = await stand.serving({}, { ...LIMITS, chunkBytes: 1024 });
      const value = 'v'.repeat(5000);
      stand.send(actor, `SET a ${value}`);
      await stand.settle();
      expect((await stand.journal.tail(SHARD)).last).to.be.greaterThan(5);
      const after = await stand.serving();
      const read = stand.send(after, 'GET a');
      await stand.settle();
      expect(read.replies).to.deep.equal([value]);
    });
  });

  it('removes expired keys without a request', async () => {
    const actor = await stand.serving();
    stand.send(actor, 'SET a 1 PX 50');
    await stand.settle();
    await stand.time.advance(500);
    const last = (await entries()).at(-1);
    expect(last?.body.kind).to.equal('batch');
    const effects = last?.body.kind === 'batch' ? Buffer.from(last.body.sections[0]?.effects ?? []).toString() : '';
    expect(effects).to.equal('*2\r\n$6\r\nUNLINK\r\n$1\r\na\r\n');
  });

  it('links the sections of each partition in a separate chain', async () => {
    const actor = await stand.serving();
    stand.send(actor, 'SET a 1');
    await stand.settle();
    stand.send(actor, 'SET a 2');
    await stand.settle();
    const sections = (await entries()).flatMap(({ body }) => (body.kind === 'batch' ? body.sections : []));
    expect(sections.map(({ partition, index }) => [partition as PartitionName, index])).to.deep.equal([
      ['kv:db-aaaaaaaaaaaaaaaa:0', 1],
      ['kv:db-aaaaaaaaaaaaaaaa:0', 2],
    ]);
  });

  it('stores the waiting requests before it hands over', async () => {
    const actor = await stand.serving();
    stand.journal.isOpen = false;
    const first = stand.send(actor, 'SET a 1');
    await stand.settle();
    const second = stand.send(actor, 'SET b 1');
    const drained = actor.drain();
    const late = stand.send(actor, 'SET c 1');
    await stand.settle();
    await onlyHeld().ack();
    await stand.settle();
    await onlyHeld().ack();
    expect((await drained)?.number).to.equal(3);
    await stand.settle();
    expect([first.replies, second.replies, late.failure]).to.deep.equal([[OK], [OK], 'SHARD_UNAVAILABLE']);
  });
});
