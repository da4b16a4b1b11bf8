/** Proves BME3, HQ1–HQ3. */
import { expect } from 'chai';
import { ACCOUNT_SHARE, type AccountQueue, BodyMemory, HeldMessages } from '../../../../src/actors/queue/index.js';
import { RESERVED_MEMORY } from '../../../../src/actors/runtime/index.js';
import type { AccountUsage } from '../../../../src/domain/queue/index.js';
import type { AccountId } from '../../../../src/kernel/index.js';
import { UNWATCHED } from '../../../../src/ports/index.js';
import { MemoryLog } from '../../../support/kv-endpoint.js';
import { ManualTime } from '../../../support/memory/index.js';

const MIB = 1024 * 1024;
const LIMITS = { messages: 1000, bytes: 10_000, memoryBytes: 200 * MIB };
const BODIES = 96 * MIB;

describe('the held messages of a process', () => {
  let time: ManualTime;
  let log: MemoryLog;
  let bodies: BodyMemory;
  let queues: AccountQueue[];
  let messages: HeldMessages;

  beforeEach(() => {
    time = new ManualTime();
    log = new MemoryLog();
    bodies = new BodyMemory(BODIES);
    queues = [];
    const refused = UNWATCHED.counter('millrace_queue_refused_total');
    messages = new HeldMessages(LIMITS, { clock: time, timers: time, log, bodies, refused, queues: () => queues });
    messages.start();
  });
  afterEach(() => messages.stop());

  /** An account that holds exactly this much memory. */
  function account(letter: string, memoryBytes: number) {
    const held: { -readonly [Name in keyof AccountUsage]: number } = { messages: 1, bytes: 2, memoryBytes };
    const queue = {
      account: `ac-${letter.repeat(16)}` as AccountId,
      countedBytes: 0,
      fold: { engine: { heldAt: () => held } },
    };
    queues.push(queue as unknown as AccountQueue);
    const boundsFor = messages.boundsOf(queue as unknown as AccountQueue);
    return {
      id: queue.account,
      held,
      bounds: () => boundsFor(held),
      room: () => boundsFor(held).ofAccount.memoryBytes - held.memoryBytes,
    };
  }

  const lines = (wanted: string) => log.lines.filter(({ event }) => event === wanted);

  it('are limited per account to the messages and bytes of the settings, and a quarter more for runs in progress', () => {
    const { ofAccount, ofRuns } = account('a', 0).bounds();
    expect(ofAccount).to.include({ messages: 1000, bytes: 10_000 });
    expect(ofRuns).to.include({ messages: 1250, bytes: 12_500 });
  });

  it('are limited per account to its share of the memory, updated with each request', () => {
    const one = account('a', 10 * MIB);
    expect(one.room()).to.equal(LIMITS.memoryBytes * ACCOUNT_SHARE - 10 * MIB);
    one.held.memoryBytes = LIMITS.memoryBytes * ACCOUNT_SHARE + 1;
    expect(one.room()).to.equal(-1);
    expect(one.bounds().ofRuns.memoryBytes).to.equal(LIMITS.memoryBytes);
    expect(messages.usedBytes).to.equal(one.held.memoryBytes);
  });

  it('leave the last tenth of the memory to accounts below an even share', () => {
    const large = account('a', 150 * MIB);
    const small = account('b', 31 * MIB);
    small.room();
    large.room();
    expect(large.room()).to.equal(LIMITS.memoryBytes * (1 - RESERVED_MEMORY) - 181 * MIB);
    expect(small.room()).to.equal(LIMITS.memoryBytes - 181 * MIB);
  });

  it('are recounted once a second: accounts that moved away no longer count, and gauges show the rest', async () => {
    account('a', 10 * MIB).room();
    queues.splice(0);
    account('b', 5 * MIB);
    await time.advance(1100);
    expect(messages.usedBytes).to.equal(5 * MIB);
    expect(messages.messages).to.equal(1);
    expect(messages.bytes).to.equal(2);
  });

  it('reduce the memory for bodies, and give it back', async () => {
    const one = account('a', LIMITS.memoryBytes - BODIES);
    await time.advance(1100);
    expect(bodies.maxBytes).to.equal(BODIES);
    one.held.memoryBytes += 10 * MIB;
    await time.advance(1100);
    expect(bodies.maxBytes).to.equal(BODIES - 10 * MIB);
    one.held.memoryBytes = 300 * MIB;
    await time.advance(1100);
    expect(bodies.maxBytes).to.equal(4 * MIB);
    one.held.memoryBytes = 0;
    await time.advance(1100);
    expect(bodies.maxBytes).to.equal(BODIES);
  });

  it('are logged once a minute: little room, and the account that is refused most', async () => {
    const { id } = account('a', LIMITS.memoryBytes);
    const other = account('b', 0);
    for (let second = 0; second < 59; second += 1) {
      for (const refused of [id, id, other.id]) messages.noteRefused(refused);
      await time.advance(1010);
    }
    expect(lines('queue.memory-full')).to.have.length(1);
    expect(lines('queue.account-full')).to.have.length(1);
    expect(lines('queue.account-full')[0]?.fields).to.include({ account: id, refused: 2, accounts: 2 });
    await time.advance(5000);
    expect(lines('queue.memory-full')).to.have.length(2);
    expect(lines('queue.account-full')[1]?.fields).to.include({ account: id, refused: 116 });
  });
});
