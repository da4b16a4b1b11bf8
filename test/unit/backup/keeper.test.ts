/**
 * Backups of databases for the management API: the reports to the control actor, and the remaining objects. Proves
 * DK1–DK3, KO2.
 */
import { expect } from 'chai';
import { DatabaseKeeper, type KeeperPorts } from '../../../src/actors/control/database-keeper.js';
import { RespCommandReader } from '../../../src/codec/resp/index.js';
import type { ControlCommand, ControlReply } from '../../../src/domain/control/index.js';
import { keepStates } from '../../../src/journal/backup/index.js';
import {
  type BackupId,
  type DatabaseId,
  type ErrorCode,
  isMillraceError,
  MillraceError,
} from '../../../src/kernel/index.js';
import { type KvRequest, kvPartition, shardOf } from '../../../src/protocol/index.js';
import { eventually } from '../../support/eventually.js';
import { realTime } from '../../support/real-time.js';
import { silentLog } from '../../support/silent-log.js';
import { BODY_PLANES, MemoryInstallation } from './stand.js';

const DATABASE = 'db-aaaaaaaaaaaaaaaa' as DatabaseId;
const PARTITIONS = 3;
const SHARDS = 2;
const MAX_BYTES = 10_000;
const id = (name: string) => name as BackupId;

type Ended = Extract<ControlCommand, { type: 'EndBackup' }>;

class World {
  readonly installation = new MemoryInstallation(SHARDS, 1);
  readonly ended: Ended[] = [];
  readonly requests: KvRequest[] = [];
  /** Errors to throw instead of an answer, in turn. */
  readonly controlFailures: ErrorCode[] = [];
  readonly gatewayFailures: ErrorCode[] = [];
  isDeleted = false;
  /** Undefined: the list of this process may be incomplete. */
  known: ReadonlySet<BackupId> | undefined;
  keeping: Promise<void> = Promise.resolve();
  underWay = 0;
  mostUnderWay = 0;
  readonly keeper: DatabaseKeeper;

  constructor(parts: Partial<KeeperPorts> = {}) {
    const { memoryJournal: journal, memoryObjects: objects, clock } = this.installation;
    const ports: KeeperPorts = {
      objects,
      clock,
      timers: realTime,
      log: silentLog,
      control: { send: (command) => this.#answer(command as Ended) },
      gateway: {
        execute: async (request) => {
          this.requests.push(request);
          const failure = this.gatewayFailures.shift();
          if (failure !== undefined) throw new MillraceError(failure, 'as the test wants');
          return { replies: [], syncToken: '1-0' };
        },
      },
      layoutOf: () => ({ partitions: PARTITIONS }),
      knownBackups: () => this.known,
      keep: async (request) => {
        this.underWay += 1;
        this.mostUnderWay = Math.max(this.mostUnderWay, this.underWay);
        await this.keeping;
        this.underWay -= 1;
        return keepStates({ journal, objects, clock, log: silentLog }, request, BODY_PLANES.fold);
      },
      ...parts,
    };
    const options = { clusterId: 'cluster', kvShards: SHARDS, maxPartitionBytes: MAX_BYTES, settleMs: 1, retryMs: 1 };
    this.keeper = new DatabaseKeeper(ports, options);
  }

  async #answer(command: Ended): Promise<ControlReply> {
    const failure = this.controlFailures.shift();
    if (failure !== undefined) throw new MillraceError(failure, 'as the test wants');
    this.ended.push(command);
    if (this.isDeleted) return { type: 'Rejected', reason: 'UNKNOWN_BACKUP', message: 'it is gone' } as ControlReply;
    return { type: 'OneBackup', backup: { ...command } } as unknown as ControlReply;
  }

  /** A value in each partition, and more commands after it. */
  async fill(bytes = 10, more: readonly string[] = []): Promise<this> {
    const histories = new Map<string, Awaited<ReturnType<MemoryInstallation['history']>>>();
    for (let index = 0; index < PARTITIONS; index += 1) {
      const partition = kvPartition(DATABASE, index);
      const shard = shardOf('kv', partition, SHARDS);
      const history = histories.get(shard) ?? this.installation.history(shard);
      if (!histories.has(shard)) await history.claim();
      histories.set(shard, history);
      await history.batch({ [partition]: [`SET key${index} ${'x'.repeat(bytes)}`, ...more] });
    }
    return this;
  }

  names(): Promise<string[]> {
    return this.installation.memoryObjects.list('backup/').then((found) => found.map(({ name }) => name));
  }

  async kept(name: string): Promise<readonly string[]> {
    this.keeper.start(DATABASE, id(name));
    const ended = await eventually(() => {
      const found = this.ended.find(({ backup }) => backup === name);
      if (found === undefined) throw new Error(`${name} has not ended`);
      return found;
    });
    return ended.manifests;
  }
}

describe('keeping backups of databases', () => {
  it('reports to the control actor the kept manifests, for every partition in order', async () => {
    const world = await new World().fill();
    world.known = new Set([id('one')]);
    const manifests = await world.kept('one');
    expect(manifests).to.deep.equal([0, 1, 2].map((index) => `backup/one/${index}/manifest`));
    expect(world.ended[0]).to.include({ state: 'completed', reason: '' });
    expect(world.ended[0]?.bytes).to.be.greaterThan(30);
    await world.keeper.close();
    expect(await world.names()).to.have.length(6);
    await world.keeper.delete(manifests);
    expect(await world.names()).to.deep.equal([]);
  });

  it('exports the kept keys of all partitions as commands, without parameters', async () => {
    const parameters = ['CONFIG SET maxmemory-policy allkeys-lru', 'SET between 1', 'CONFIG SET lfu-decay-time 7'];
    const world = await new World().fill(10, parameters);
    const manifests = await world.kept('one');
    let text = '';
    for await (const piece of world.keeper.commandsOf(manifests)) text += Buffer.from(piece).toString('latin1');
    const commands = [...new RespCommandReader(Buffer.from(text, 'latin1'))];
    expect(commands.map(([name, key]) => `${name} ${key}`).sort()).to.deep.equal([
      'SET between',
      'SET between',
      'SET between',
      'SET key0',
      'SET key1',
      'SET key2',
    ]);
    await world.keeper.delete(manifests);
    const gone = async () => {
      for await (const _ of world.keeper.commandsOf(manifests));
    };
    await gone().then(
      () => expect.fail('it is gone'),
      (error: unknown) => expect(isMillraceError(error, 'NOT_FOUND')).to.equal(true),
    );
  });

  it('repeats its report until the control actor has answered', async () => {
    const world = await new World().fill();
    world.controlFailures.push('SHARD_UNAVAILABLE', 'OUTCOME_UNKNOWN', 'TIMED_OUT');
    await world.kept('one');
    expect(world.controlFailures).to.deep.equal([]);
  });

  it('reports a failure, and leaves no object', async () => {
    const failing = new World({ keep: () => Promise.reject(new MillraceError('JOURNAL_DAMAGED', 'a hole')) });
    await failing.installation.memoryObjects.put('backup/one/0/0', Buffer.from('half'));
    expect(await failing.kept('one')).to.deep.equal([]);
    expect(failing.ended[0]).to.include({ state: 'failed', bytes: 0, reason: 'JOURNAL_DAMAGED' });
    await failing.keeper.close();
    expect(await failing.names()).to.deep.equal([]);
  });

  it('removes a backup that the control actor refuses because the database is gone', async () => {
    const world = await new World().fill();
    world.isDeleted = true;
    await world.kept('one');
    await world.keeper.close();
    expect(await world.names()).to.deep.equal([]);
  });

  it('removes objects without a known backup, and none while its list may be incomplete', async () => {
    const world = await new World().fill();
    await world.installation.memoryObjects.put('backup/orphan/0/0', Buffer.from('half'));
    for (const heard of [undefined, new Set<BackupId>()]) {
      world.known = heard;
      await world.kept(`one ${heard?.size}`);
      // The work that follows the first backup is done once the second one has ended.
      await world.kept(`two ${heard?.size}`);
      expect(await world.names()).to.include('backup/orphan/0/0');
    }
    world.known = new Set(['one undefined', 'two undefined', 'one 0', 'two 0', 'last'].map(id));
    await world.kept('last');
    await world.keeper.close();
    expect((await world.names()).filter((name) => name.includes('orphan'))).to.deep.equal([]);
    expect(await world.names()).to.have.length(30);
  });

  it('removes objects that were unknown at two checks, also when no backup is made', async () => {
    const world = await new World().fill();
    const put = (name: string) => world.installation.memoryObjects.put(`backup/${name}/0/0`, Buffer.from('half'));
    await put('orphan');
    await put('known');
    await put('late');
    expect(await world.keeper.sweepUnknown()).to.equal(0);
    world.known = new Set([id('known')]);
    expect(await world.keeper.sweepUnknown()).to.equal(0);
    // `late` became known between the sweeps, and `new` was started between them.
    world.known = new Set([id('known'), id('late')]);
    await put('new');
    expect(await world.keeper.sweepUnknown()).to.equal(1);
    const left = (await world.names()).filter((name) => name.endsWith('/0/0')).map((name) => name.split('/')[1]);
    expect(left.sort()).to.deep.equal(['known', 'late', 'new']);
  });

  it('runs one at a time', async () => {
    const world = await new World().fill();
    let open: () => void = () => {};
    world.keeping = new Promise((resolve) => {
      open = resolve;
    });
    world.known = new Set([id('one'), id('two')]);
    world.keeper.start(DATABASE, id('one'));
    world.keeper.start(DATABASE, id('two'));
    await eventually(() => expect(world.underWay).to.equal(1));
    open();
    await eventually(() => expect(world.ended).to.have.length(2));
    expect(world.mostUnderWay).to.equal(1);
  });
});

describe('restoring backups of databases', () => {
  async function refusal(world: World, manifests: readonly string[]): Promise<unknown> {
    const error = await world.keeper.restore(DATABASE, manifests).catch((cause: unknown) => cause);
    expect(world.requests).to.deep.equal([]);
    return isMillraceError(error) ? error.code : error;
  }

  it('asks the owner of each partition, and repeats after an unknown outcome', async () => {
    const world = await new World().fill();
    const manifests = await world.kept('one');
    world.gatewayFailures.push('OUTCOME_UNKNOWN');
    await world.keeper.restore(DATABASE, manifests);
    expect(world.requests.map(({ partition, mode, commands }) => [partition, mode, commands[0]?.[0]])).to.deep.equal(
      [0, 0, 1, 2].map((index) => [kvPartition(DATABASE, index), 'replace', manifests[index]]),
    );
    expect(world.requests.every(({ waiter }) => waiter !== undefined)).to.equal(true);
  });

  it('changes no data when a part is missing or does not fit', async () => {
    const world = await new World().fill();
    const manifests = await world.kept('one');
    expect(await refusal(world, manifests.slice(1))).to.equal('CONFLICT');
    expect(await refusal(world, [...manifests.slice(1), 'backup/none/0/manifest'])).to.equal('NOT_FOUND');
    await world.installation.memoryObjects.delete('backup/one/2/0');
    expect(await refusal(world, manifests)).to.equal('NOT_FOUND');
    const large = await new World().fill(MAX_BYTES + 1);
    expect(await refusal(large, await large.kept('one'))).to.equal('CONFLICT');
  });
});
