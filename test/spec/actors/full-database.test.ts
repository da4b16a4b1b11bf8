import { expect } from 'chai';
import type { KvWork } from '../../../src/actors/kv-shard/index.js';
import type { ShardActor } from '../../../src/actors/runtime/index.js';
import { ERRORS, type ErrorReply, type Reply } from '../../../src/domain/kv/index.js';
import type { KvRequest } from '../../../src/protocol/index.js';
import { KvShardStand, type Outcome } from '../../support/kv-shard-stand.js';

const CLIENT = { face: 'resp', protocol: 2, id: 'edge:1', address: '127.0.0.1:1', user: 'default' } as const;
const SET = "return redis.call('SET', 'a', '1')";

describe('a full database', () => {
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

  it('refuses writes of scripts that make it grow, and allows their reads', async () => {
    expect((await run('EVAL', SET, '0')) as ErrorReply)
      .to.have.property('text')
      .that.includes(ERRORS.databaseFull.text);
    expect(await run('EVAL', "return redis.call('GET', 'there')", '0')).to.equal('x');
    expect(await run('EVAL', `#!lua flags=allow-oom\n${SET}`, '0')).to.have.property('text', 'OK');
  });

  it('refuses a script with a shebang line that lacks the flag allow-oom', async () => {
    const refusal = "OOM allow-oom flag is not set on the script, can not run it when used memory > 'maxmemory'";
    expect(await run('EVAL', `#!lua\n${SET}`, '0')).to.have.property('text', refusal);
    expect(await run('EVAL', "#!lua flags=no-writes\nreturn redis.call('GET', 'there')", '0')).to.equal('x');
  });

  it('discards a transaction with a command that could make it grow, and names the reason', async () => {
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

  it('sets isFull in every answer while it is full', async () => {
    expect(await ask({ commands: [['GET', 'there']] })).to.include({ isFull: true });
    expect(await ask({ commands: [['CONFIG', 'SET', 'maxmemory', '0']] })).not.to.have.property('isFull', true);
  });

  it('evicts keys immediately when maxmemory is lowered under an evicting policy', async () => {
    await run('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-random');
    await run('CONFIG', 'SET', 'maxmemory', '2');
    expect(await run('DBSIZE')).to.equal(0);
  });
});
