import { expect } from 'chai';
import type { KvWork } from '../../../src/actors/kv-shard/index.js';
import type { ShardActor } from '../../../src/actors/runtime/index.js';
import type { DataLimit } from '../../../src/ports/index.js';
import type { KvMode } from '../../../src/protocol/index.js';
import { KvShardStand, type Outcome } from '../../support/kv-shard-stand.js';

const CLIENT = { face: 'resp', protocol: 2, id: 'edge:1', address: '127.0.0.1:1', user: 'default' } as const;
const NONE: DataLimit | undefined = undefined;

describe('a partition at the data limit of its plan', () => {
  let stand: KvShardStand;
  let actor: ShardActor<KvWork>;
  let version = 1;
  let maxCommandBytes: number | undefined;
  const reached: string[] = [];

  beforeEach(async () => {
    stand = new KvShardStand();
    reached.length = 0;
    actor = await stand.serving();
    limitTo({ maxBytes: 1, isEvicting: false });
    await ask('SET there x');
    reached.length = 0;
  });

  function limitTo(limit: DataLimit | undefined): void {
    version += 1;
    stand.dataLimits = {
      version,
      limitOf: (partition) => (partition.startsWith('kv:') ? limit : undefined),
      maxCommandBytesOf: () => maxCommandBytes,
      reached: (partition) => reached.push(partition),
    };
  }

  async function ask(lines: string | string[], mode: KvMode = 'single'): Promise<Outcome> {
    const outcome = stand.ask(actor, { client: CLIENT, mode, commands: [lines].flat().map((line) => line.split(' ')) });
    await stand.settle();
    return outcome;
  }

  const replyTo = async (line: string) => (await ask(line)).replies?.[0];

  it('refuses growth, serves all other commands, and reports that the limit is reached', async () => {
    expect(await replyTo('SET a 1'))
      .to.have.property('text')
      .that.includes('OOM');
    expect(reached).to.deep.equal(['kv:db-aaaaaaaaaaaaaaaa:0']);
    expect(await replyTo('GET there')).to.equal('x');
    expect(await ask('GET there')).to.include({ isFull: true });
    expect(await replyTo('DEL there')).to.equal(1);
  });

  it('reports the limit as soon as it is exceeded, before it refuses a command', async () => {
    limitTo({ maxBytes: 1000, isEvicting: false });
    await ask(`SET a ${'x'.repeat(500)}`);
    expect(reached).to.deep.equal([]);
    expect(await replyTo(`SET b ${'x'.repeat(500)}`)).to.have.property('text', 'OK');
    expect(reached).to.have.length(1);
  });

  it('executes no command of a transaction that could make it grow', async () => {
    const outcome = await ask(['DEL there', 'SET a 1'], 'transaction');
    expect(outcome).to.include({ isAborted: true, isFull: true });
    expect(reached).to.have.length(1);
    expect(await replyTo('GET there')).to.equal('x');
  });

  it('refuses writes of scripts that make it grow', async () => {
    const outcome = stand.ask(actor, { client: CLIENT, commands: [['EVAL', "return redis.call('SET','a','1')", '0']] });
    await stand.settle();
    expect(outcome.replies?.[0]).to.have.property('text').that.includes('OOM');
  });

  it('limits strings to the current longest command', async () => {
    limitTo(NONE);
    expect(await replyTo('APPEND there xxxxxxxxx')).to.equal(10);
    maxCommandBytes = 10;
    limitTo(NONE);
    expect(await replyTo('APPEND there x'))
      .to.have.property('text')
      .that.includes('Limit: 10 bytes, Actual: 11 bytes');
    maxCommandBytes = undefined;
    limitTo(NONE);
    expect(await replyTo('APPEND there x')).to.equal(11);
  });

  it('applies a changed limit to the next command', async () => {
    limitTo({ maxBytes: 1_000_000, isEvicting: false });
    expect(await replyTo('SET a 1')).to.have.property('text', 'OK');
    limitTo({ maxBytes: 1, isEvicting: false });
    expect(await replyTo('SET a 1'))
      .to.have.property('text')
      .that.includes('OOM');
    limitTo(NONE);
    expect(await replyTo('SET a 1')).to.have.property('text', 'OK');
  });

  it('evicts keys instead when eviction is on, and journals that', async () => {
    limitTo({ maxBytes: 1, isEvicting: true });
    expect(await replyTo('SET a 1')).to.have.property('text', 'OK');
    expect(await replyTo('GET there')).to.equal(null);
    expect(reached).to.deep.equal([]);
    limitTo(NONE);
    const successor = await stand.serving();
    const outcome = stand.send(successor, ['EXISTS there a'], 'pipeline');
    await stand.settle();
    expect(outcome.replies).to.deep.equal([1]);
  });

  it('is bounded after its engine was rebuilt', async () => {
    const successor = await stand.serving();
    const outcome = stand.send(successor, 'SET b 2');
    await stand.settle();
    expect(outcome.replies?.[0]).to.have.property('text').that.includes('OOM');
  });
});
