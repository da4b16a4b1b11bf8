/**
 * A real process with its own nats-server. The code that stores and restores backups of databases runs in the test
 * process.
 */
import { expect } from 'chai';
import { DatabaseKeeper } from '../../src/actors/control/database-keeper.js';
import { ControlGateway } from '../../src/actors/control/index.js';
import { KvShardGateway } from '../../src/actors/kv-shard/index.js';
import { ShardCaller } from '../../src/actors/runtime/index.js';
import {
  connect,
  JetStreamObjectStore,
  Names,
  NatsBus,
  type NatsConnections,
  readLayout,
} from '../../src/adapters/nats/index.js';
import { JobProcesses, NodeRandom } from '../../src/adapters/node/index.js';
import type { ThreadTask } from '../../src/composition/thread-tasks.js';
import type { Backup, Database } from '../../src/domain/control/index.js';
import type { KeepRequest, KeptState } from '../../src/journal/backup/index.js';
import type { AccountId, BackupId } from '../../src/kernel/index.js';
import type { KvGateway } from '../../src/ports/index.js';
import { eventually } from './eventually.js';
import { MillraceCluster, type NatsFacts, startPlainNats } from './millrace-cluster.js';
import { type Environment, endEverything, type MillraceProcess } from './millrace-process.js';
import { realTime } from './real-time.js';
import { silentLog } from './silent-log.js';

export class MomentsStand {
  private constructor(
    private readonly nats: NatsFacts,
    readonly cluster: MillraceCluster,
    public millrace: MillraceProcess,
    private readonly connections: NatsConnections,
    readonly keeper: DatabaseKeeper,
    readonly control: ControlGateway,
    /** A gateway with one try and a short time limit. */
    readonly hasty: KvGateway,
    readonly objects: JetStreamObjectStore,
  ) {}

  static async start(settings: Environment): Promise<MomentsStand> {
    const nats = await startPlainNats();
    const cluster = await MillraceCluster.prepare(nats, settings);
    const millrace = await cluster.start();
    const connections = await connect(cluster.natsOptions());
    const { clusterId = '', kvShards = 0 } = (await readLayout(connections, '')) ?? {};
    const names = new Names('');
    const bus = new NatsBus(connections, names, { log: silentLog });
    const limits = { deadlineMs: 5000, tryMs: 1000, pauseMs: 50, settleMs: 1000, storingMs: 10_000 };
    const caller = new ShardCaller(bus, realTime, realTime, new NodeRandom(), limits);
    const control = new ControlGateway(caller, undefined);
    const objects = new JetStreamObjectStore(connections, names);
    const entry = new URL('../../src/composition/backup-keeper-worker.js', import.meta.url);
    const thread = new JobProcesses<ThreadTask, KeepRequest, KeptState>({
      entry,
      installation: { nats: cluster.natsOptions(), prefix: '' },
      log: silentLog,
      lost: 'nothing was kept',
      detailsOf: ({ backup }) => ({ backup }),
    });
    const routes = { clock: realTime, timers: realTime, caller, host: undefined };
    const gateway = new KvShardGateway(routes, { holdMs: 5000, retryEveryMs: 50 }, kvShards);
    const once = { deadlineMs: 250, tryMs: 250, pauseMs: 50, settleMs: 1, storingMs: 1 };
    const hastyCaller = new ShardCaller(bus, realTime, realTime, new NodeRandom(), once);
    const hasty = new KvShardGateway({ ...routes, caller: hastyCaller }, { holdMs: 250, retryEveryMs: 250 }, kvShards);
    const ports = {
      objects,
      gateway,
      control,
      clock: realTime,
      timers: realTime,
      log: silentLog,
      layoutOf: () => ({ partitions: 1 }),
      knownBackups: () => undefined,
      keep: (request: KeepRequest) => thread.run(request),
    };
    const options = { clusterId, kvShards, maxPartitionBytes: 10 ** 9, settleMs: 1, retryMs: 100 };
    const keeper = new DatabaseKeeper(ports, options);
    return new MomentsStand(nats, cluster, millrace, connections, keeper, control, hasty, objects);
  }

  async stop(): Promise<void> {
    await this.keeper.close();
    await this.connections.close();
    await endEverything();
    await this.nats.stop();
  }

  /** Kills the process and starts another. Resolves when the new process answers for the database */
  async restart(): Promise<void> {
    await this.millrace.kill('SIGKILL');
    this.millrace = await this.cluster.start();
    await eventually(() => this.millrace.kv.ask('PING'), { timeoutMs: 30_000, everyMs: 100 });
  }

  async defaultDatabase(): Promise<Database> {
    const reply = await this.control.send({ type: 'ListDatabases' });
    if (reply.type !== 'Databases') throw new Error(reply.type);
    const found = reply.databases.find(({ database }) => database.name === 'default');
    if (found === undefined) throw new Error('there is no default database');
    return found.database;
  }

  /** Makes a backup as the management API does. @returns the backup's record in the control state */
  async keep(backup: BackupId): Promise<Backup> {
    const { id: database, account } = await this.defaultDatabase();
    const command = { type: 'StartBackup', account, database, backup, name: 'moment', isDaily: false } as const;
    expect((await this.control.send(command)).type).to.equal('OneBackup');
    this.keeper.start(database, backup);
    return eventually(
      async () => {
        const kept = await this.backup(account, backup);
        expect(kept.state).to.equal('completed');
        return kept;
      },
      { timeoutMs: 30_000, everyMs: 50 },
    );
  }

  async backup(account: AccountId, backup: BackupId): Promise<Backup> {
    const reply = await this.control.send({ type: 'GetBackup', account, backup });
    if (reply.type !== 'OneBackup') throw new Error(JSON.stringify(reply));
    return reply.backup;
  }
}
