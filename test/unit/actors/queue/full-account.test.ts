/** An account at its limit, on a shard with its journal. */
import { expect } from 'chai';
import type { HeldLimits } from '../../../../src/actors/queue/index.js';
import { MillraceError } from '../../../../src/kernel/index.js';
import { ACCOUNT, OTHER_ACCOUNT, QueueShardStand } from '../../../support/queue-shard-stand.js';

const GB = 1_000_000_000;
const LATER = { settings: { delaySeconds: 3600 } };

function stand(limits: Partial<HeldLimits> = {}): QueueShardStand {
  const made = new QueueShardStand();
  made.heldLimits = { messages: 2, bytes: GB, memoryBytes: GB, ...limits };
  return made;
}

describe('a queue account at its limit', () => {
  it('is refused further messages while other accounts are not; the refusal is reported and counted', async () => {
    const shard = stand();
    const actor = await shard.serving();
    const both = shard.publish(actor, [shard.item('a', LATER), shard.item('a', LATER)]);
    const third = shard.publish(actor, [shard.item('a', LATER)]);
    const ofOther = shard.publish(actor, [shard.item('a', LATER)], OTHER_ACCOUNT);
    await shard.settle();
    expect(both.reply?.type).to.equal('Published');
    expect(third.reply).to.include({ type: 'Rejected', reason: 'FULL' });
    expect(ofOther.reply?.type).to.equal('Published');
    await shard.time.advance(1100);
    const told = shard.log.lines.filter(({ event }) => event === 'queue.account-full');
    expect(told.map(({ fields }) => fields)).to.deep.equal([{ account: ACCOUNT, refused: 1, accounts: 1 }]);
  });

  it('is still at its limit for the next owner, from the journal and from a snapshot', async () => {
    const shard = stand();
    const first = await shard.serving();
    shard.publish(first, [shard.item('a', LATER), shard.item('a', LATER)]);
    await shard.settle();
    const refusedBy = async (actor: typeof first) => {
      const outcome = shard.publish(actor, [shard.item('a', LATER)]);
      await shard.settle();
      return outcome.reply?.type === 'Rejected' && outcome.reply.reason;
    };
    const replaced = () => new MillraceError('FENCED', 'somebody else', { outcome: 'unknown' });
    first.end(replaced());
    const second = await shard.serving();
    expect(await refusedBy(second)).to.equal('FULL');
    const { manifest, manifestDigest, coveredNumber } = await shard.compact(second);
    await second.appendSnapshot(manifest, manifestDigest, coveredNumber);
    second.end(replaced());
    expect(await refusedBy(await shard.serving())).to.equal('FULL');
  });

  it('has its messages delivered, and accepts new ones after that', async () => {
    const shard = stand();
    const actor = await shard.serving();
    shard.publish(actor, [shard.item('a'), shard.item('b')]);
    await shard.settle();
    const refused = shard.publish(actor, [shard.item('c')]);
    await shard.settle();
    expect(refused.reply).to.include({ reason: 'FULL' });
    expect(shard.http.calls).to.have.length(2);
    shard.http.open[0]?.answer(200);
    await shard.settle();
    const accepted = shard.publish(actor, [shard.item('c')]);
    await shard.settle();
    expect(accepted.reply?.type).to.equal('Published');
    expect(shard.http.calls).to.have.length(3);
  });

  it('may take nine tenths of the memory for messages, which leaves room for other accounts', async () => {
    const shard = stand({ messages: GB, memoryBytes: 100_000 });
    const actor = await shard.serving();
    const many = (count: number) => Array.from({ length: count }, () => shard.item('a', LATER));
    const outcomes = Array.from({ length: 80 }, () => shard.publish(actor, many(10)));
    await shard.settle();
    const accepted = outcomes.filter(({ reply }) => reply?.type === 'Published').length * 10;
    expect(accepted * 143).to.be.within(75_000, 90_000);
    const ofOther = shard.publish(actor, many(1), OTHER_ACCOUNT);
    await shard.settle();
    expect(ofOther.reply?.type).to.equal('Published');
  });
});
