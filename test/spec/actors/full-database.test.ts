import { expect } from 'chai';
import type { KvWork } from '../../../src/actors/kv-shard/index.js';
import type { ShardActor } from '../../../src/actors/runtime/index.js';
import { ERRORS, type ErrorReply, type Reply } from '../../../src/domain/kv/index.js';
import type { KvRequest } from '../../../src/messages/index.js';
import { KvShardStand, type Outcome } from '../../support/kv-shard-stand.js';

const CLIENT = { face: 'resp', protocol: 2, id: 'edge:1', address: '127.0.0.1:1', user: 'default' } as const;
const SET = "return redis.call('SET', 'a', '1')";

describe('a database that has no room', () => {
  let stand: KvShardStand;
  let actor: ShardActor<KvWork>;

  beforeEach(async () => {
    stand = new KvShardStand();
    actor = await stand.serving();
    stand.send(actor, ['SET there x', 'CONFIG SET maxmemory 1'], 'pipeline');
    await stand.settle();
  });

  async function ask(request: Partial<KvRequest>): Promise<Outcome> {
    const outcome = stand.ask(actor, { client: CLIENT, ...request });
    await stand.settle();
    return outcome;
  }

  async function run(...words: string[]): Promise<Reply | undefined> {
    return (await ask({ commands: [words] })).replies?.[0];
  }

  it('refuses what scripts would let grow, and lets them read', async () => {
    expect((await run('EVAL', SET, '0')) as ErrorReply)
      .to.have.property('text')
      .that.includes(ERRORS.databaseFull.text);
    expect(await run('EVAL', "return redis.call('GET', 'there')", '0')).to.equal('x');
    expect(await run('EVAL', `#!lua flags=allow-oom\n${SET}`, '0')).to.have.property('text', 'OK');
  });

  it('runs no script that says what it does, but does not say that it may grow', async () => {
    const refusal = "OOM allow-oom flag is not set on the script, can not run it when used memory > 'maxmemory'";
    expect(await run('EVAL', `#!lua\n${SET}`, '0')).to.have.property('text', refusal);
    expect(await run('EVAL', "#!lua flags=no-writes\nreturn redis.call('GET', 'there')", '0')).to.equal('x');
  });

  it('runs nothing of a transaction that could make it grow, and says why', async () => {
    const outcome = await ask({
      mode: 'transaction',
      commands: [
        ['DEL', 'there'],
        ['SET', 'a', '1'],
      ],
    });
    expect(outcome).to.include({ isAborted: true, isFull: true });
    expect(outcome.replies?.[0]).to.have.property(
      'text',
      "EXECABORT Transaction discarded because of: OOM command not allowed when used memory > 'maxmemory'.",
    );
    expect(await run('GET', 'there')).to.equal('x');
    const reading = await ask({ mode: 'transaction', commands: [['GET', 'there']] });
    expect(reading.replies).to.deep.equal(['x']);
  });

  it('says so with every answer, until it has', async () => {
    expect(await ask({ commands: [['GET', 'there']] })).to.include({ isFull: true });
    expect(await ask({ commands: [['CONFIG', 'SET', 'maxmemory', '0']] })).not.to.have.property('isFull', true);
  });

  it('lets keys go at once when the bound is lowered under a policy that may', async () => {
    await run('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-random');
    await run('CONFIG', 'SET', 'maxmemory', '2');
    expect(await run('DBSIZE')).to.equal(0);
  });
});
