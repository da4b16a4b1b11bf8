/** Writes of documents at the owner of a search database: one step, one entry, and internal commands only. */
import { expect } from 'chai';
import type { KvWork } from '../../../src/actors/kv-shard/index.js';
import type { ShardActor } from '../../../src/actors/runtime/index.js';
import {
  AclUser,
  admit,
  allCommands,
  ErrorReply,
  findCommand,
  notAvailable,
  type Reply,
  RuleError,
} from '../../../src/domain/kv/index.js';
import { DOCUMENT_WRITES } from '../../../src/domain/search/index.js';
import { searchDocuments } from '../../../src/edge/search/document-store.js';
import { type DatabaseId, isMillraceError } from '../../../src/kernel/index.js';
import type { KvRequest } from '../../../src/protocol/index.js';
import { KvShardStand, type Outcome } from '../../support/kv-shard-stand.js';

const { upsert, removeIds, deleteName, resetAll } = DOCUMENT_WRITES;

describe('writes of documents at their owner', () => {
  let stand: KvShardStand;
  let actor: ShardActor<KvWork>;
  beforeEach(async () => {
    stand = new KvShardStand();
    actor = await stand.serving();
  });

  async function ask(...commands: string[][]): Promise<Outcome> {
    const outcome = stand.ask(actor, { mode: 'pipeline', commands });
    await stand.settle();
    return outcome;
  }

  async function run(...words: string[]): Promise<Reply | undefined> {
    return (await ask(words)).replies?.[0];
  }

  it('are one entry each, for all keys that they change', async () => {
    const before = actor.head?.position ?? 0;
    expect(await run(upsert.name, 'a', '9', '1', 'one', '2', 'two')).to.deep.equal(['done', 2, 2, 8]);
    expect(actor.head?.position).to.equal(before + 1);
    expect(await run('HGETALL', 'c'))
      .to.have.property('items')
      .that.includes.members(['documents', '2', 'bytes', '8']);
  });

  it('are answered when the state that they were judged by is stored', async () => {
    stand.journal.isOpen = false;
    const first = stand.ask(actor, { commands: [[upsert.name, 'a', '1', '1', 'one']] });
    await stand.settle();
    const refused = stand.ask(actor, { commands: [[upsert.name, 'b', '1', '2', 'two']] });
    await stand.settle();
    expect([first.replies, refused.replies]).to.deep.equal([undefined, undefined]);
    for (let held = stand.journal.held.shift(); held !== undefined; held = stand.journal.held.shift()) {
      await held.ack();
      await stand.settle();
    }
    expect(refused.replies).to.deep.equal([['documents', 1, 1, 4]]);
  });

  it('are restored when another owner has replayed the journal', async () => {
    const texts = Array.from({ length: 1500 }, (_, at) => [`id${at}`, 'text']).flat();
    await run(upsert.name, 'a', '2000', ...texts);
    await run(removeIds.name, 'a', 'id0');
    actor = await stand.serving();
    expect(await run('HLEN', 'd:a')).to.equal(1499);
    expect(await run('ZCARD', 'o:a')).to.equal(1499);
    expect(await run(resetAll.name)).to.deep.equal([0, 0]);
    expect(await run('EXISTS', 'd:a', 'o:a', 'b')).to.equal(0);
  });

  it('are refused in a full database, unless they free space', async () => {
    await run(upsert.name, 'a', '9', '1', 'one');
    await run('CONFIG', 'SET', 'maxmemory', '1');
    expect(((await run(upsert.name, 'a', '9', '2', 'two')) as ErrorReply).text).to.match(/^OOM/);
    expect(await run(removeIds.name, 'a', '1')).to.deep.equal([1, 0, 0]);
    expect(await run(deleteName.name, 'a')).to.deep.equal([1, 0, 0]);
  });

  it('change no key when one of their keys has another type', async () => {
    await run('SET', 'o:a', 'no sorted set');
    expect(await run(upsert.name, 'a', '9', '1', 'one')).to.be.instanceOf(ErrorReply);
    expect(await run('EXISTS', 'd:a', 'i', 'b', 'c')).to.equal(0);
    expect(await run('GET', 'o:a')).to.equal('no sorted set');
  });

  describe('writes of documents are internal commands', () => {
    for (const { name } of Object.values(DOCUMENT_WRITES)) {
      it(`${name} is no command to a client, a script, a user’s rules or COMMAND`, async () => {
        for (const typed of [name, name.toLowerCase()]) {
          expect((admit([typed, 'a', 'b', 'c', 'd']) as ErrorReply).text).to.contain('unknown command');
          const script = `return redis.call('${typed}', 'a')`;
          expect(((await run('EVAL', script, '0')) as ErrorReply).text).to.contain('Unknown Redis command');
        }
        expect(allCommands().filter((row) => row.name === name)).to.deep.equal([]);
        expect(await run('COMMAND', 'INFO', name)).to.deep.equal([null]);
        expect(() => AclUser.of(`+${name.toLowerCase()}`)).to.throw(RuleError);
        // Owners find the command.
        expect(findCommand([name])?.name).to.equal(name);
      });
    }
  });

  it('are refused by an owner of an earlier version with a clear error and without changes', async () => {
    const earlier = { execute: async ({ commands }: KvRequest) => ({ replies: commands.map(refused), syncToken: '' }) };
    const refused = ([name = '']: readonly string[]) => notAvailable(name);
    const store = searchDocuments(earlier, 'db-bbbbbbbbbbbbbbbb' as DatabaseId);
    const failure = await store.reset('a').catch((thrown: unknown) => thrown);
    expect(isMillraceError(failure, 'SHARD_UNAVAILABLE')).to.equal(true);
    expect((failure as Error).message).to.contain('earlier version');
  });
});
