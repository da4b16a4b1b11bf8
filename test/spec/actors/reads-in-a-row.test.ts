/** Proves CR7. */
import { expect } from 'chai';
import type { KvWork } from '../../../src/actors/kv-shard/index.js';
import type { ShardActor } from '../../../src/actors/runtime/index.js';
import { ERRORS, OK, VerbatimReply } from '../../../src/domain/kv/index.js';
import { KvShardStand } from '../../support/kv-shard-stand.js';

describe('consecutive quick reads with the same command', () => {
  let stand: KvShardStand;
  let actor: ShardActor<KvWork>;

  beforeEach(async () => {
    stand = new KvShardStand();
    actor = await stand.serving();
    stand.send(actor, ['SET a 1', 'SET c 3', 'LPUSH list x'], 'pipeline');
    await stand.settle();
  });

  it('are each answered, with their errors, also with other commands in between', async () => {
    const lines = ['GET a', 'GET list', 'GET b', 'GET c', 'EXISTS a', 'EXISTS b', 'SET b 2', 'GET b', 'GET a'];
    const { replies } = await answered(lines);
    expect(replies).to.deep.equal(['1', ERRORS.wrongType, null, '3', 1, 0, OK, '2', '1']);
  });

  it('are each counted, including those that failed', async () => {
    await answered(['GET a', 'GET list', 'GET b', 'GET c']);
    const { replies = [] } = await answered(['INFO commandstats', 'INFO stats']);
    const [commands = '', stats = ''] = replies.map((reply) => (reply instanceof VerbatimReply ? reply.text : reply));
    expect(commands).to.match(/cmdstat_get:calls=4,.*failed_calls=1/);
    expect(stats)
      .to.match(/keyspace_hits:3/)
      .and.match(/keyspace_misses:1/);
  });

  it('all wait for the entry of an uncommitted write that one of them has seen', async () => {
    stand.journal.isOpen = false;
    stand.send(actor, 'SET b 2');
    await stand.settle();
    const seeing = stand.send(actor, ['GET a', 'GET b', 'GET c'], 'pipeline');
    const others = stand.send(actor, ['GET a', 'GET c'], 'pipeline');
    await stand.settle();
    expect(seeing).to.deep.equal({});
    expect(others.replies).to.deep.equal(['1', '3']);
    stand.journal.isOpen = true;
    await stand.journal.held[0]?.ack();
    await stand.settle();
    expect(seeing.replies).to.deep.equal(['1', '2', '3']);
  });

  it('stop at the answer bound of the request', async () => {
    const some = stand.ask(actor, { mode: 'pipeline', commands: Array(5).fill(['GET', 'a']), maxAnswerBytes: 1 });
    await stand.settle();
    expect(some.replies).to.deep.equal(['1', '1']);
  });

  it('are each logged as slow when slowlog-log-slower-than is 0', async () => {
    await stand.time.advance(1);
    await answered(['CONFIG SET slowlog-log-slower-than 0', 'SLOWLOG RESET', 'GET a', 'GET b', 'GET c']);
    const { replies } = await answered(['SLOWLOG LEN']);
    // The three GETs, and perhaps the CONFIG SET or SLOWLOG RESET before them.
    expect(Number(replies?.[0])).to.be.at.least(3);
  });

  async function answered(lines: string[]) {
    const outcome = stand.send(actor, lines, 'pipeline');
    await stand.settle();
    return outcome;
  }
});
