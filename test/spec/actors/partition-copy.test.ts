/**
 * The copy of a database's keys to the partitions of another layout: its steps at the owner, and the change as the owner
 * of the control shard makes it. Proves TRF1 to TRF4, PCO1 to PCO4, PCH1 to PCH3.
 */
import { expect } from 'chai';
import { MAX_PAUSE_MS, PartitionChanges } from '../../../src/actors/control/index.js';
import type { KvWork } from '../../../src/actors/kv-shard/index.js';
import type { ShardActor } from '../../../src/actors/runtime/index.js';
import { encodeCommand } from '../../../src/codec/resp/index.js';
import { type Database, evolve, type LayoutChange } from '../../../src/domain/control/index.js';
import { MapReply } from '../../../src/domain/kv/index.js';
import {
  type ByteString,
  LAYOUTS_FORMAT_LEVEL,
  MillraceError,
  type PartitionName,
  type ShardName,
  type TriggerId,
} from '../../../src/kernel/index.js';
import type { KvGateway } from '../../../src/ports/index.js';
import { type KvRequest, kvPartitions } from '../../../src/protocol/index.js';
import { KvShardStand, type Outcome } from '../../support/kv-shard-stand.js';
import { MemoryControl } from '../../support/memory-control.js';
import { silentLog } from '../../support/silent-log.js';
import { databaseCreated, db, INSTALLED } from '../control/given.js';
import { keyTrigger } from '../control/management-given.js';

const DATABASE = db('aaaaaaaaaaaaaaaa');
const OLD = kvPartitions(DATABASE, { partitions: 1 })[0] as PartitionName;
const NEW = kvPartitions(DATABASE, { firstPartition: 1, partitions: 3 });

const CREATED = ['ON', 'HASH', 'PREFIX', '1', 'doc:', 'LANGUAGE', 'english', 'SCHEMA', 'title', 'TEXT'];
const FOLLOWED = ['idx', JSON.stringify(CREATED)] as const;
const ENDS = [{ shard: 'KV_0' as ShardName, position: 77 }];
const CLIENT = { face: 'resp', protocol: 2, id: 'edge-1:1', address: '127.0.0.1:1', user: 'default' } as const;

describe('the copy of a database to other partitions', () => {
  let stand: KvShardStand;
  let actor: ShardActor<KvWork>;

  beforeEach(async () => {
    stand = new KvShardStand();
    actor = await stand.serving();
  });

  async function run(partition: PartitionName, ...lines: string[]): Promise<Outcome> {
    const commands = lines.map((line) => line.split(' '));
    const outcome = stand.ask(actor, { partition, mode: commands.length > 1 ? 'pipeline' : 'single', commands });
    await stand.settle();
    return outcome;
  }

  async function step(partition: PartitionName, ...words: string[]): Promise<Outcome> {
    const outcome = stand.ask(actor, { partition, mode: 'transfer', commands: [words] });
    await stand.settle();
    return outcome;
  }

  describe('at the owner of a partition', () => {
    it('refuses all commands while the partition is closed, also at a later owner (TRF2)', async () => {
      await run(OLD, 'SET a 1');
      await step(OLD, 'begin', '5');
      await step(OLD, 'close', '5');
      expect((await run(OLD, 'GET a')).failure).to.equal('PARTITION_CLOSED');
      actor = await stand.serving();
      expect((await run(OLD, 'SET a 2')).failure).to.equal('PARTITION_CLOSED');
      await step(OLD, 'open', '5');
      expect((await run(OLD, 'GET a')).replies).to.deep.equal(['1']);
    });

    it('refuses a waiting command when the partition is closed (TRF2)', async () => {
      const waiting = stand.ask(actor, {
        partition: OLD,
        client: CLIENT,
        commands: [['BLPOP', 'list', '0']],
        waiter: 'w',
      });
      await step(OLD, 'begin', '5');
      await step(OLD, 'close', '5');
      expect(waiting.failure).to.equal('PARTITION_CLOSED');
    });

    it('refuses the steps of an earlier attempt, also at a later owner (TRF1)', async () => {
      await step(OLD, 'begin', '5');
      await step(OLD, 'begin', '6');
      for (const late of ['begin', 'close', 'open', 'empty']) {
        expect((await step(OLD, late, '5')).failure, late).to.equal('CONFLICT');
      }
      await step(NEW[0] as PartitionName, 'empty', '6');
      actor = await stand.serving();
      expect((await step(OLD, 'close', '5')).failure).to.equal('CONFLICT');
      expect((await step(NEW[0] as PartitionName, 'fill', '5', '')).failure).to.equal('CONFLICT');
    });

    it('does not empty a partition that its own attempt has opened (TRF1)', async () => {
      const [partition] = NEW as [PartitionName];
      await step(partition, 'empty', '5');
      await step(partition, 'open', '5');
      expect((await step(partition, 'empty', '5')).failure).to.equal('CONFLICT');
    });

    it('refuses to name changes that it does not know: it is new, or everything has changed (TRF4)', async () => {
      await run(OLD, 'SET a 1');
      await step(OLD, 'begin', '5');
      await run(OLD, 'FLUSHALL');
      expect((await step(OLD, 'changed', '5', '1', '3')).failure).to.equal('CONFLICT');
      await step(OLD, 'begin', '6');
      actor = await stand.serving();
      expect((await step(OLD, 'changed', '6', '1', '3')).failure).to.equal('CONFLICT');
    });

    it('answers the same keys for the same number of a step', async () => {
      await step(OLD, 'begin', '5');
      await run(OLD, 'SET a 1');
      const once = (await step(OLD, 'changed', '5', '1', '3')).replies;
      expect((await step(OLD, 'changed', '5', '1', '3')).replies).to.deep.equal(once);
      expect((await step(OLD, 'changed', '5', '2', '3')).replies).to.deep.equal([[0, []]]);
    });

    it('removes no expired key of a closed partition (TRF3)', async () => {
      await run(OLD, 'SET a 1 PX 50');
      await step(OLD, 'begin', '5');
      await step(OLD, 'close', '5');
      await stand.time.advance(1000);
      expect((await step(OLD, 'head', '5')).replies).to.deep.equal([[1, '', [], []]]);
      await step(OLD, 'open', '5');
      await stand.time.advance(1000);
      expect((await run(OLD, 'DBSIZE')).replies).to.deep.equal([0]);
    });

    it('puts filled keys into the full-text indexes of a closed partition, also an earlier copy of a key (TRF5)', async () => {
      const [partition] = NEW as [PartitionName];
      const create = ['SEARCH.CREATE', 'idx', 'ON', 'HASH', 'PREFIX', '1', 'doc:', 'SCHEMA', 'title', 'TEXT'];
      const query = ['SEARCH.QUERY', 'idx', '{"title":"red"}', 'NOCONTENT'];
      await step(partition, 'empty', '5');
      await step(partition, 'fill', '5', encodeCommand(create as ByteString[]), 'idx');
      for (const title of ['red', 'blue', 'red']) {
        const words = ['HSET', 'doc:1', 'title', title] as ByteString[];
        await step(partition, 'fill', '5', encodeCommand(words), 'doc:1');
      }
      const { replies: [head] = [] } = await step(partition, 'head', '5');
      const [, , , [index]] = head as [number, string, string[][], string[][]];
      await stand.time.advance(1000);
      expect((await step(partition, 'index', '5', ...(index as string[]))).replies).to.deep.equal([0]);
      await step(partition, 'open', '5');
      const found = stand.ask(actor, { partition, commands: [query] });
      await stand.settle();
      expect(JSON.stringify(found.replies)).to.include('doc:1');
    });

    it('removes the aliases of a partition that is emptied', async () => {
      await run(OLD, 'SEARCH.ALIASADD other idx');
      await step(OLD, 'empty', '5');
      await step(OLD, 'open', '5');
      expect((await run(OLD, 'SEARCH.LISTALIASES')).replies).to.deep.equal([[]]);
    });
  });

  describe('by the owner of the control shard', () => {
    let control: MemoryControl;
    let changes: PartitionChanges;
    let isOwner: boolean;
    /** Called before each step. */
    let before: (request: KvRequest) => Promise<void>;
    let steps: string[];
    let hasReadFormer: boolean;

    const gateway: KvGateway = {
      async execute(request) {
        const [[name = ''] = []] = request.commands;
        steps.push(name);
        await before(request);
        const outcome = stand.ask(actor, request);
        while (outcome.replies === undefined && outcome.failure === undefined) await stand.settle();
        if (outcome.failure !== undefined) throw new MillraceError(outcome.failure as never, outcome.failure);
        return { replies: outcome.replies ?? [], syncToken: '' };
      },
    };

    beforeEach(async () => {
      control = new MemoryControl();
      isOwner = true;
      hasReadFormer = true;
      before = async () => undefined;
      steps = [];
      const { id: _, ...created } = databaseCreated('first') as Extract<
        ReturnType<typeof databaseCreated>,
        { type: 'DatabaseCreated' }
      >;
      const raised = { type: 'FormatRaised', level: LAYOUTS_FORMAT_LEVEL, by: 'root', atMs: 0 } as const;
      for (const event of [...INSTALLED.slice(0, 1), { ...created, id: DATABASE }, raised])
        evolve(control.state, event);
      const { time } = stand;
      changes = new PartitionChanges({
        gateway,
        control,
        triggers: { endsOf: async () => ENDS, hasReadFormer: async () => hasReadFormer },
        state: () => control.state,
        isOwner: () => isOwner,
        clock: time,
        timers: time,
        log: silentLog,
      });
      changes.start();
      for (let n = 0; n < 40; n += 1) await run(OLD, `SET k${n} v${n}`);
      await run(OLD, 'RPUSH list a b', 'HSET hash f 1', 'SET mortal v PX 100000', 'CONFIG SET slowlog-max-len 7');
      await control.send({ type: 'ChangePartitions', database: DATABASE, partitions: NEW.length });
    });
    afterEach(() => changes.stop());

    const changeNow = (): LayoutChange | undefined => control.state.databases.get(DATABASE)?.layoutChange;

    async function until(isSo: () => boolean): Promise<void> {
      for (let tries = 0; !isSo(); tries += 1) {
        if (tries > 2000) throw new Error(`it did not come to that: ${JSON.stringify(changeNow())}`);
        await stand.time.advance(50);
      }
    }

    async function sizes(partitions: readonly PartitionName[]): Promise<number> {
      const answers = await Promise.all(partitions.map((partition) => run(partition, 'DBSIZE')));
      return answers.reduce((sum, { replies, failure }) => sum + Number(replies?.[0] ?? (failure && 0)), 0);
    }

    it('gives the new partitions all keys, parameters and later changes, and empties the old one (PCO1, PCO2, PCH2)', async () => {
      let isChanged = false;
      before = async ({ commands: [words] }) => {
        if (words?.[0] !== 'changed' || isChanged) return;
        isChanged = true;
        await run(OLD, 'SET k1 changed', 'DEL k2', 'SET new 1');
      };
      await until(() => control.state.databases.get(DATABASE)?.partitions === 3 && changeNow() === undefined);
      expect(await sizes(NEW)).to.equal(43);
      const values = await Promise.all(NEW.map((partition) => run(partition, 'MGET k1 k2 new k3')));
      const found = [0, 1, 2, 3].map((at) =>
        values.map(({ replies }) => (replies as string[][])[0]?.[at]).filter(Boolean),
      );
      expect(found).to.deep.equal([['changed'], [], ['1'], ['v3']]);
      for (const partition of NEW) {
        expect((await run(partition, 'CONFIG GET slowlog-max-len')).replies).to.deep.equal([
          new MapReply(['slowlog-max-len', '7']),
        ]);
      }
      expect((await run(OLD, 'GET k1')).failure).to.equal('PARTITION_CLOSED');
    });

    it('builds the full-text indexes in the new partitions before it closes the old one, and divides the aliases (PCO5)', async () => {
      await run(OLD, 'SEARCH.CREATE idx ON HASH PREFIX 1 doc: SCHEMA title TEXT', 'SEARCH.ALIASADD other idx');
      for (let n = 0; n < 9; n += 1) await run(OLD, `HSET doc:${n} title red`);
      let unbuilt: unknown;
      before = async ({ commands: [words] }) => {
        if (words?.[0] !== 'close') return;
        const [name, text] = FOLLOWED;
        const asked = await Promise.all(
          NEW.map((partition) => step(partition, 'index', String(changeNow()?.attempt), name, text)),
        );
        unbuilt = asked.map(({ replies }) => replies?.[0]);
      };
      await until(() => control.state.databases.get(DATABASE)?.partitions === 3 && changeNow() === undefined);
      expect(unbuilt).to.deep.equal([0, 0, 0]);
      const counts = await Promise.all(
        NEW.map((partition) => run(partition, `SEARCH.SIZES ${FOLLOWED[1]} ${FOLLOWED[0]}`)),
      );
      expect(counts.reduce((sum, { replies }) => sum + (replies as number[][])[0]![0]!, 0)).to.equal(9);
      const aliases = await Promise.all(NEW.map((partition) => run(partition, 'SEARCH.LISTALIASES')));
      expect(aliases.flatMap(({ replies }) => (replies as unknown[][])[0])).to.deep.equal([['other', 'idx']]);
    });

    it('records the ends of the journals at the switch, before the new partitions are opened (PCH4)', async () => {
      await until(() => changeNow() === undefined);
      const { former } = control.state.databases.get(DATABASE) as Database;
      expect(former).to.deep.equal({ firstPartition: 0, partitions: 1, starts: [], ends: ENDS });
    });

    it('does not begin while a trigger has not read the layout before the present one (PCH4)', async () => {
      const trigger = keyTrigger('tr-behind' as TriggerId, { database: DATABASE });
      evolve(control.state, { type: 'TriggerSet', trigger, atMs: 0 });
      hasReadFormer = false;
      await until(() => changeNow()?.phase === 'failed');
      expect(changeNow()?.reason).to.include('tr-behind');
      expect(steps).to.not.include('begin');
    });

    it('makes one step after the other, and rests between them (PCO4)', async () => {
      let underWay = 0;
      let most = 0;
      before = async ({ commands: [words] }) => {
        if (words?.[0] !== 'scan') return;
        underWay += 1;
        most = Math.max(most, underWay);
        await stand.time.pause(40);
        underWay -= 1;
      };
      await until(() => changeNow() === undefined);
      expect(most).to.equal(1);
    });

    it('opens the old partitions when the pause takes too long, and begins again (PCO3)', async () => {
      let closings = 0;
      before = async ({ commands: [words] }) => {
        if (words?.[0] === 'close') closings += 1;
        if (words?.[0] === 'head' && closings === 1) await stand.time.pause(MAX_PAUSE_MS + 1);
      };
      await until(() => closings === 1);
      await until(() => changeNow() === undefined);
      expect(closings).to.equal(2);
      expect(steps.indexOf('open')).to.be.lessThan(steps.lastIndexOf('begin'));
      expect(await sizes(NEW)).to.equal(43);
    });

    it('begins again when the owner of a partition has ended (PCH1, TRF4)', async () => {
      let isOver = false;
      before = async ({ commands: [words] }) => {
        if (words?.[0] !== 'changed' || isOver) return;
        isOver = true;
        actor = await stand.serving();
      };
      await until(() => control.state.databases.get(DATABASE)?.partitions === 3 && changeNow() === undefined);
      expect(steps.filter((name) => name === 'begin')).to.have.length(2);
      expect(await sizes(NEW)).to.equal(43);
    });

    it('makes no step as a process that has lost the control shard; the next owner begins again (PCH1)', async () => {
      before = async ({ commands: [words] }) => {
        if (words?.[0] === 'close') isOwner = false;
      };
      await until(() => !isOwner);
      await stand.time.advance(2000);
      expect(changeNow()?.phase).to.equal('copying');
      before = async () => undefined;
      isOwner = true;
      await until(() => changeNow() === undefined);
      expect(await sizes(NEW)).to.equal(43);
    });

    it('abandons a change that cannot succeed: the old partitions stay in use, the new ones are empty (PCH2, PCH3)', async () => {
      before = async ({ commands: [words] }) => {
        if (words?.[0] === 'fill') throw new MillraceError('STORAGE_FULL', 'no memory for the keys');
      };
      await until(() => changeNow()?.phase === 'failed');
      expect(changeNow()?.reason).to.equal('no memory for the keys');
      expect((await run(OLD, 'GET k1')).replies).to.deep.equal(['v1']);
      expect(steps.slice(-4)).to.deep.equal(['open', 'empty', 'empty', 'empty']);
    });

    it('is cancelled before the switch: the old partitions stay in use', async () => {
      before = async ({ commands: [words] }) => {
        const attempt = changeNow()?.attempt ?? 0;
        const cancel = { type: 'AdvancePartitions', database: DATABASE, attempt, percent: 0 } as const;
        if (words?.[0] === 'close') await control.send({ ...cancel, to: 'abandoning', reason: 'cancelled' });
      };
      await until(() => changeNow()?.phase === 'failed');
      expect(changeNow()?.reason).to.equal('cancelled');
      expect((await run(OLD, 'GET k1')).replies).to.deep.equal(['v1']);
    });
  });
});
