/** A lease and the ends of a journal show whether the journal is complete. Proves VJ1. */
import { expect } from 'chai';
import { encodeShardLease } from '../../../src/codec/leases/index.js';
import { type CompletenessPorts, requireComplete } from '../../../src/journal/index.js';
import { isMillraceError, type SessionId } from '../../../src/kernel/index.js';
import { WHAT_TO_DO } from '../../../src/ports/index.js';
import { SHARD, ShardHistory } from '../../spec/journal/shard-history.js';
import { MemoryJournal, MemoryLeaseStore } from '../../support/memory/index.js';
import { realTime } from '../../support/real-time.js';

describe('the completeness check of a journal', () => {
  let journal: MemoryJournal;
  let leases: MemoryLeaseStore;
  let history: ShardHistory;

  beforeEach(async () => {
    journal = new MemoryJournal({ clock: realTime, timers: realTime });
    journal.createStream(SHARD);
    leases = new MemoryLeaseStore();
    history = new ShardHistory(journal);
    for (let epoch = 1; epoch <= 3; epoch += 1) await history.claim();
  });

  async function vouchedFor(position: number, createdAt?: string): Promise<void> {
    const lease = encodeShardLease({
      epoch: 3,
      session: 'node-a' as SessionId,
      isReleased: true,
      needsQuiet: false,
      createdAt: createdAt ?? (await journal.tail(SHARD)).createdAt,
      highWater: { number: position, hash: new Uint8Array(32), position },
    });
    await leases.create(SHARD, lease);
  }

  async function damageOf(ports: CompletenessPorts = { journal, leases }): Promise<string | undefined> {
    try {
      await requireComplete(ports, SHARD);
      return undefined;
    } catch (error) {
      if (!isMillraceError(error, 'JOURNAL_DAMAGED')) throw error;
      expect(error.message).to.match(new RegExp(`^${SHARD}: `));
      expect(error.message.endsWith(WHAT_TO_DO)).to.equal(true);
      return error.message;
    }
  }

  it('passes without a lease, and at or after the position of the lease', async () => {
    expect(await damageOf()).to.equal(undefined);
    await vouchedFor(3);
    expect(await damageOf()).to.equal(undefined);
    await history.claim();
    expect(await damageOf()).to.equal(undefined);
  });

  it('fails one position before the position of the lease', async () => {
    await vouchedFor(4);
    expect(await damageOf()).to.contain('its lease recorded position 4, it ends at 3');
  });

  it('fails for another stream than that of the lease', async () => {
    await vouchedFor(3, 'long ago');
    expect(await damageOf()).to.contain('its lease says long ago');
  });

  it('fails when messages are missing in the middle, or the last one cannot be read', async () => {
    const tail = async () => ({ ...(await journal.tail(SHARD)), holes: 2 });
    const readAt = journal.readAt.bind(journal);
    expect(await damageOf({ journal: { tail, readAt }, leases })).to.contain('2 messages are missing in the middle');
    const whole = { tail: () => journal.tail(SHARD), readAt: async () => undefined };
    expect(await damageOf({ journal: whole, leases })).to.contain('its last message, at position 3, cannot be read');
  });
});
