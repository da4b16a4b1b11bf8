/** Plans, limits, suspension and budgets of databases, as they act on clients of a running process. */
import 'reflect-metadata';
import { expect } from 'chai';
import { newDatabaseCredentials, sealDatabaseCredentials } from '../../src/actors/control/index.js';
import { type ReachedInstallation, reachInstallation } from '../../src/cli/reached-installation.js';
import { loadConfig } from '../../src/config/index.js';
import type { Database, DatabaseChange } from '../../src/domain/control/index.js';
import type { DatabaseId } from '../../src/kernel/index.js';
import { newDatabaseId } from '../../src/protocol/index.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { describeOutcome, KvClient } from '../support/kv-client.js';
import {
  embeddedEnvironment,
  endEverything,
  type MillraceProcess,
  startMillrace,
} from '../support/millrace-process.js';
import { RespClient } from '../support/resp-client.js';
import { runningMs, withinASecond } from '../support/within-a-second.js';

const SUSPENDED = 'NOPERM this database is suspended, nothing was executed';
const NOT_FROM_HERE = 'NOPERM this database may not be used from 127.0.0.1, nothing was executed';
const FULL = 'ERR DB capacity quota exceeded';
/** Ten dollars a command. */
const KV_PRICE_CENTS = 100_000_000;
const SLOWED_COMMANDS_PER_SECOND = 10;
/** The meter writes once a second, and a plan that was just set stays for some seconds. */
const PATIENCE = { timeoutMs: 30_000 };
/** Time of some commands that are not slowed down; slowed ones take longer. */
const QUICK_MS = 2000;

describe('limits of databases on a running process', function () {
  this.timeout(90_000);
  let millrace: MillraceProcess;
  let installation: ReachedInstallation;
  let respPort: number;
  const kvClients: KvClient[] = [];
  const respClients: RespClient[] = [];

  before(async () => {
    respPort = await freePort();
    millrace = await startMillrace({
      env: { MILLRACE_RESP_PORT: String(respPort), MILLRACE_KV_PRICE_CENTS: String(KV_PRICE_CENTS) },
    });
    installation = await reachInstallation(loadConfig(await embeddedEnvironment(millrace.dataDir)).config, true);
  });
  after(async () => {
    for (const client of [...kvClients, ...respClients]) client.close();
    await installation.close();
    await endEverything();
  });

  /** A new database, with methods that use and change it. */
  class Tenant {
    readonly kv: KvClient;
    private constructor(
      readonly id: DatabaseId,
      readonly password: string,
      token: string,
    ) {
      this.kv = new KvClient({ url: millrace.kvUrl, token });
      kvClients.push(this.kv);
    }

    static async create(name: string, partitions = 1): Promise<Tenant> {
      const { client, parts } = installation;
      const credentials = newDatabaseCredentials(parts.random);
      const secrets = sealDatabaseCredentials(credentials, await installation.sealing());
      const id = newDatabaseId(parts.random);
      const limits = { maxCommandBytes: 1_000_000, maxRequestsPerDay: 0 };
      const reply = await client.send({
        type: 'CreateDatabase',
        database: { id, name, account: undefined, partitions, limits, secrets },
      });
      expect(reply.type, JSON.stringify(reply)).to.equal('OneDatabase');
      const tenant = new Tenant(id, credentials.password, credentials.standardToken);
      await eventually(() => tenant.kv.ask('PING'));
      return tenant;
    }

    async record(): Promise<Database> {
      const reply = await installation.client.send({ type: 'ListDatabases' });
      if (reply.type !== 'Databases') throw new Error(reply.type);
      const found = reply.databases.find(({ database }) => database.id === this.id);
      if (found === undefined) throw new Error(`no database ${this.id}`);
      return found.database;
    }

    async change(change: DatabaseChange): Promise<void> {
      const { id, account } = await this.record();
      const reply = await installation.client.send({ type: 'ChangeDatabase', account, database: id, change });
      expect(reply.type, JSON.stringify(reply)).to.equal('OneDatabase');
    }

    async answer(...words: string[]): Promise<string> {
      return describeOutcome(await this.kv.command(...words));
    }

    async connect(): Promise<RespClient> {
      const client = await RespClient.connect({ port: respPort, host: '127.0.0.1' });
      respClients.push(client);
      return client;
    }

    async signedIn(): Promise<RespClient> {
      const client = await this.connect();
      expect(await client.call(['AUTH', this.password])).to.equal('+OK\r\n');
      return client;
    }

    /** The time of so many concurrent commands, one connection for each. */
    async timeOf(commands: number): Promise<number> {
      const startedAtMs = performance.now();
      const outcomes = await Promise.all(Array.from({ length: commands }, () => this.kv.command('GET', 'a')));
      for (const outcome of outcomes) expect(outcome.kind, describeOutcome(outcome)).to.equal('done');
      return performance.now() - startedAtMs;
    }
  }

  async function expectQuick(tenant: Tenant, commands: number): Promise<void> {
    expect(await runningMs([millrace], () => tenant.timeOf(commands))).to.be.below(QUICK_MS);
  }

  const closings: Readonly<Record<string, [DatabaseChange, DatabaseChange]>> = {
    [SUSPENDED]: [{ settings: { isSuspended: true } }, { settings: { isSuspended: false } }],
    [NOT_FROM_HERE]: [{ settings: { allowedIps: ['203.0.113.0/24'] } }, { settings: { allowedIps: ['127.0.0.0/8'] } }],
  };
  for (const [text, [close, open]] of Object.entries(closings)) {
    it(`a database is closed on both ports and opened again: ${text}`, async () => {
      const tenant = await Tenant.create(`closed-${text.length}`);
      const [asking, waiting] = [await tenant.signedIn(), await tenant.signedIn()];
      expect(await asking.call(['SET', 'a', '1'])).to.equal('+OK\r\n');
      const unserved = waiting.call(['BLPOP', 'list', '0']).catch((error: Error) => error.message);
      await tenant.change(close);
      await withinASecond([millrace], async () => expect(await tenant.answer('GET', 'a')).to.contain(text));
      expect(await unserved).to.equal('the server ended the connection');
      const late = await tenant.connect();
      expect(await late.call(['AUTH', tenant.password])).to.equal(`-${text}\r\n`);
      await tenant.change(open);
      await withinASecond([millrace], async () => expect(await tenant.kv.ask('GET', 'a')).to.equal('1'));
      expect(await late.call(['AUTH', tenant.password])).to.equal('+OK\r\n');
      expect(await late.call(['GET', 'a'])).to.equal('$1\r\n1\r\n');
    });
  }

  it("commands beyond the plan's rate wait without an error, on REST and RESP together", async () => {
    const tenant = await Tenant.create('rated');
    await expectQuick(tenant, 150);
    await tenant.change({ limits: { maxCommandsPerSecond: 50 } });
    const native = await tenant.signedIn();
    const timeOfNative = async () => {
      const startedAtMs = performance.now();
      for (let i = 0; i < 5; i += 1) {
        const replies = await native.callAll(Array.from({ length: 15 }, () => ['GET', 'a']));
        for (const reply of replies) expect(reply).to.equal('$-1\r\n');
      }
      return performance.now() - startedAtMs;
    };
    // A busy machine may be slow in one try, but not in each.
    await eventually(async () => {
      const times = await Promise.all([tenant.timeOf(75), timeOfNative()]);
      expect(Math.max(...times)).to.be.within(2300, 6000);
    }, PATIENCE);
    await tenant.change({ limits: { maxCommandsPerSecond: 10_000 } });
    await expectQuick(tenant, 150);
  });

  it("writes beyond the plan's data limit are refused, or evict keys if eviction is on, over all partitions", async () => {
    const tenant = await Tenant.create('sized', 2);
    await tenant.change({ limits: { maxDataBytes: 20_000 } });
    let stored = 0;
    let refusal = '';
    for (let i = 0; i < 60; i += 1) {
      const outcome = await tenant.kv.command('SET', `key:${i}`, 'x'.repeat(1000));
      if (outcome.kind === 'done') stored += 1;
      else refusal = describeOutcome(outcome);
    }
    expect(refusal).to.contain(FULL);
    expect(stored).to.be.within(12, 22);
    expect(await tenant.kv.ask('DBSIZE')).to.equal(stored);
    const native = await tenant.signedIn();
    const refused = await native.callAll(['p', 'q', 'r', 's'].map((key) => ['SET', key, 'y']));
    expect(refused.some((reply) => reply.startsWith('-OOM'))).to.equal(true);
    await tenant.change({ settings: { isEvicting: true } });
    await withinASecond([millrace], async () => {
      for (const key of ['p', 'q', 'r', 's']) expect(await tenant.answer('SET', key, 'y')).not.to.contain(FULL);
    });
    for (let i = 60; i < 120; i += 1) await tenant.kv.ask('SET', `key:${i}`, 'x'.repeat(1000));
    expect(await tenant.kv.ask('DBSIZE')).to.be.within(12, 24);
    await tenant.change({ settings: { isEvicting: false }, limits: { maxDataBytes: 0 } });
    await withinASecond([millrace], async () => expect(await tenant.answer('SET', 'last', 'y')).not.to.contain(FULL));
    const size = (await tenant.kv.ask('DBSIZE')) as number;
    for (let i = 0; i < 40; i += 1) await tenant.kv.ask('SET', `more:${i}`, 'x'.repeat(1000));
    expect(await tenant.kv.ask('DBSIZE')).to.equal(size + 40);
  });

  it("connections beyond the plan's limit are refused by AUTH on RESP", async () => {
    const tenant = await Tenant.create('connected');
    await tenant.change({ limits: { maxConnections: 2 } });
    const [first] = [await tenant.signedIn(), await tenant.signedIn()];
    const third = await tenant.connect();
    await withinASecond([millrace], async () =>
      expect(await third.call(['AUTH', tenant.password])).to.equal('-ERR max number of clients reached\r\n'),
    );
    first.close();
    await withinASecond([millrace], async () =>
      expect(await third.call(['AUTH', tenant.password])).to.equal('+OK\r\n'),
    );
  });

  it('a full database with auto-upgrade moves to its next plan once', async () => {
    const tenant = await Tenant.create('growing');
    await tenant.change({ settings: { plan: 'fixed_250mb', isAutoUpgrading: true }, limits: { maxDataBytes: 5_000 } });
    await eventually(async () => {
      for (let i = 0; i < 10; i += 1) await tenant.kv.ask('SET', `key:${i}`, 'x'.repeat(1000));
    }, PATIENCE);
    const { settings, limits } = await tenant.record();
    expect(settings).to.include({ plan: 'fixed_1gb', isAutoUpgrading: true });
    expect(limits.maxDataBytes).to.equal(1024 ** 3);
    const { account } = await tenant.record();
    const audit = await installation.client.send({ type: 'ListAudit', account, count: 100 });
    const upgrades = audit.type === 'AuditEntries' ? audit.entries.filter(({ actor }) => actor === 'auto-upgrade') : [];
    expect(upgrades).to.have.length(1);
    expect(upgrades[0]).to.include({ entity: 'growing', secondaryEntity: 'fixed_1gb' });
  });

  /** The time of 40 commands, without the burst, at the rate of databases that have used up a limit. */
  const SLOW_MS = (1000 * 25) / SLOWED_COMMANDS_PER_SECOND;

  it('a database that has used its monthly bandwidth is slowed down', async () => {
    const tenant = await Tenant.create('wide');
    await tenant.change({ limits: { maxBytesPerMonth: 50_000 } });
    await tenant.kv.ask('SET', 'a', 'x'.repeat(60_000));
    await eventually(async () => expect(await tenant.timeOf(40)).to.be.greaterThan(SLOW_MS), PATIENCE);
    await tenant.change({ limits: { maxBytesPerMonth: 1_000_000_000 } });
    await withinASecond([millrace], async () => expect(await tenant.timeOf(1)).to.be.below(500));
    await expectQuick(tenant, 40);
  });

  it("a database that has used its monthly budget, at the operator's prices, is slowed down", async () => {
    const tenant = await Tenant.create('dear');
    await tenant.change({ settings: { budgetDollars: 1000 } });
    await expectQuick(tenant, 50);
    await expectQuick(tenant, 49);
    await tenant.kv.ask('PING');
    await eventually(async () => expect(await tenant.timeOf(40)).to.be.greaterThan(SLOW_MS), PATIENCE);
    await tenant.change({ settings: { budgetDollars: 100_000 } });
    await withinASecond([millrace], async () => expect(await tenant.timeOf(1)).to.be.below(500));
    await expectQuick(tenant, 40);
  });
});
