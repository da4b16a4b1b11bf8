/** Proves IW1, PIX1, PIX2: clients wait for indexes, which are made between commands. */
import { expect } from 'chai';
import type { KvWork } from '../../../src/actors/kv-shard/index.js';
import { IndexWaits } from '../../../src/actors/kv-shard/index-waits.js';
import type { ShardActor } from '../../../src/actors/runtime/index.js';
import { type CommandSpec, findCommand, KvEngine, type LiveIndex } from '../../../src/domain/kv/index.js';
import { seededRandom } from '../../support/kv-bench.js';
import { KvShardStand, type Outcome } from '../../support/kv-shard-stand.js';

const CREATE = 'SEARCH.CREATE i ON HASH PREFIX 1 h: SCHEMA t TEXT n I64 FAST';

describe('indexes of a shard', () => {
  let stand: KvShardStand;
  let actor: ShardActor<KvWork>;
  const send = (line: string): Outcome => stand.send(actor, line);
  const replyTo = async (line: string) => {
    const { replies } = send(line);
    expect(replies).to.equal(undefined);
    const outcome = send(line);
    await stand.settle();
    return outcome.replies?.[0];
  };

  beforeEach(async () => {
    stand = new KvShardStand();
    actor = await stand.serving();
  });

  it('have all changes of earlier commands when SEARCH.WAITINDEXING answers', async () => {
    send(CREATE);
    send('HSET h:1 t red');
    const waited = send('SEARCH.WAITINDEXING i');
    const counted = send('SEARCH.COUNT i {}');
    await stand.settle();
    expect(waited.replies).to.deep.equal([1]);
    expect(counted.replies).to.deep.equal([1]);
  });

  it('answer a query after they are built', async () => {
    for (let id = 0; id < 50; id += 1) send(`HSET h:${id} t red`);
    send(CREATE);
    const counted = send('SEARCH.COUNT i {"t":{"$eq":"red"}}');
    await stand.settle();
    expect(counted.replies).to.deep.equal([50]);
  });

  it('are made from the keys by the next owner, and answer the same', async () => {
    send(CREATE);
    send('SEARCH.ALIASADD a i');
    for (let id = 0; id < 20; id += 1) send(`HSET h:${id} t red n ${id}`);
    await stand.settle();
    const query = 'SEARCH.QUERY a {"n":{"$gte":18}} ORDERBY n ASC NOCONTENT';
    const before = await replyTo(query);
    actor.end(new Error('moved') as never);
    actor = await stand.serving();
    const after = send(query);
    await stand.settle();
    expect(after.replies?.[0]).to.deep.equal(before);
  });

  it('have no document after its key has expired', async () => {
    send(CREATE);
    send('HSET h:1 t red');
    send('PEXPIRE h:1 50');
    await stand.settle();
    await stand.time.advance(500);
    await stand.settle();
    const counted = send('SEARCH.COUNT i {}');
    await stand.settle();
    expect(counted.replies).to.deep.equal([0]);
  });
});

describe('requests that wait for an index', () => {
  let engine: KvEngine;
  const run = (line: string) => {
    const words = line.split(' ');
    engine.execute(findCommand(words) as CommandSpec, words, 1);
  };
  const work = () => ({ hasWaitedInVain: false, isUnwanted: false }) as KvWork;

  beforeEach(() => {
    engine = new KvEngine(seededRandom(1), { nowMicros: () => 0, info: () => new Map() });
    run('HSET h:1 t red');
    run(CREATE);
  });

  it('leave when it is ready', () => {
    const waits = new IndexWaits();
    const live = engine.searches.find('i') as LiveIndex;
    const request = work();
    expect(waits.add(request, 'i', live, 'built', 0)).to.equal(true);
    expect(waits.takeReady(engine.searches, 1)).to.deep.equal([]);
    engine.searches.workUntil(() => false);
    expect(waits.takeReady(engine.searches, 2)).to.deep.equal([request]);
    expect(waits.size).to.equal(0);
    expect(waits.add(request, 'i', live, 'built', 3)).to.equal(false);
  });

  it('wait for the changes before them, not for later ones', () => {
    engine.searches.workUntil(() => false);
    const waits = new IndexWaits();
    const live = engine.searches.find('i') as LiveIndex;
    run('HSET h:1 t blue');
    const first = work();
    expect(waits.add(first, 'i', live, 'changes', 0)).to.equal(true);
    run('HSET h:2 t blue');
    while (waits.takeReady(engine.searches, 1).length === 0) live.step();
    expect(live.pending).to.equal(1);
  });

  it('leave when the index is gone', () => {
    const waits = new IndexWaits();
    waits.add(work(), 'i', engine.searches.find('i') as LiveIndex, 'changes', 0);
    run('SEARCH.DROP i');
    expect(waits.takeReady(engine.searches, 1)).to.have.length(1);
  });

  it('leave with an error after their time', () => {
    const waits = new IndexWaits();
    const live = engine.searches.find('i') as LiveIndex;
    const [query, wait] = [work(), work()];
    waits.add(query, 'i', live, 'built', 0);
    waits.add(wait, 'i', live, 'changes', 0);
    expect(waits.takeReady(engine.searches, 3999)).to.deep.equal([]);
    expect(waits.takeReady(engine.searches, 4000)).to.deep.equal([query]);
    expect(waits.takeReady(engine.searches, 60_000)).to.deep.equal([wait]);
    expect([query.hasWaitedInVain, wait.hasWaitedInVain]).to.deep.equal([true, true]);
  });
});
