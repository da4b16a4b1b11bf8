/**
 * Messages of every kind to destinations that fail, hang, drip, misreport and die, while processes and the nats-server
 * are killed, stopped and frozen. Every accepted message is delivered or kept, in order and within its limits, and no
 * other message appears. Proves IL1.
 */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { type JournalReader, openJournalReader } from '../support/journal-reader.js';
import { MillraceCluster, ownerOf } from '../support/millrace-cluster.js';
import {
  type Environment,
  embeddedEnvironment,
  endEverything,
  type MillraceProcess,
  signalPid,
  startMillrace,
  temporaryDirectory,
} from '../support/millrace-process.js';
import { type NatsServer, startNatsServer } from '../support/nats-server.js';
import { ConservationClient } from '../support/queue-conservation-client.js';
import { ConservationLoad } from '../support/queue-conservation-load.js';
import { BACK_TIMEOUT_MS, ConservationRun, QUEUE_SETTINGS, SHARD } from '../support/queue-conservation-run.js';
import { HostileSinks, NOWHERE } from '../support/queue-conservation-sinks.js';
import { QUEUE_TOKEN, SIGNING_KEYS } from '../support/queue-process.js';
import { countedStates, loggedCounts, ReadSide, type ReadSideState } from '../support/read-side.js';
import { MGMT_EMAIL, MGMT_KEY, SEARCH_ENVIRONMENT } from '../support/search-process.js';
import { replayLine, seededRandom, seedOfThisRun } from '../support/seeded-random.js';

/** One of each kind, for which CI has time; CHAOS_QUEUE_FAULTS and CHAOS_QUEUE_KILLS set more. */
const FAULTS = Number(process.env.CHAOS_QUEUE_FAULTS ?? '7');
const KILLS = Number(process.env.CHAOS_QUEUE_KILLS ?? '4');
const MS_FOR_A_FAULT = 25_000;
const ACCEPTED_BETWEEN_FAULTS = 40;
/** Long enough for a takeover. */
const SLEEP_MS = 2500;
const SHORT_SLEEP_MS = 700;

/** Time to rebuild the read models: the whole run is folded. */
const REBUILT = { timeoutMs: 2 * BACK_TIMEOUT_MS, everyMs: 250 };

/** The read models of a process, once its statistics have counted all events of its log. */
async function shownBy({ addresses }: MillraceProcess): Promise<ReadSideState> {
  const [queueUrl, mgmtUrl] = [addresses.queue as string, addresses.mgmt as string];
  const readSide = new ReadSide({ queueUrl, queueToken: QUEUE_TOKEN, mgmtUrl, email: MGMT_EMAIL, key: MGMT_KEY });
  return eventually(async () => {
    const path = `/v2/msgq/stats/${(await readSide.manage('GET', '/v2/msgq/user')).id}`;
    const state = await readSide.state([path]);
    expect(countedStates(state, path)).to.deep.equal(loggedCounts(state));
    return state;
  }, REBUILT);
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}

describe('messages of three processes on one nats-server', function () {
  this.timeout(120_000 + FAULTS * MS_FOR_A_FAULT);
  const seed = seedOfThisRun();
  const random = seededRandom(seed);
  const regions = ['EU-CENTRAL-1', 'US-EAST-1', NOWHERE];
  const ports = new Map<string, number>();
  const alive = new Map<string, MillraceProcess>();
  let nats: NatsServer;
  let cluster: MillraceCluster;
  let run: ConservationRun;
  let journal: JournalReader | undefined;

  before(async () => {
    const [password, systemPassword] = ['app-secret', 'sys-secret'];
    nats = await startNatsServer({ syncAlways: true, user: 'app', password, systemPassword });
    const facts = { url: nats.url, user: 'app', password, sysUser: 'sys', sysPassword: systemPassword };
    cluster = await MillraceCluster.prepare(
      { ...facts, stop: nats.stop },
      { ...QUEUE_SETTINGS, ...SEARCH_ENVIRONMENT },
    );
    for (const region of regions) ports.set(region, await freePort());
    const sinks = await HostileSinks.start(SIGNING_KEYS.current, random);
    const clients = [...ports.values()].map((port) => new ConservationClient(`http://127.0.0.1:${port}`));
    run = new ConservationRun(sinks, new ConservationLoad(clients, sinks, random));
    for (const region of regions) await start(region);
    journal = await cluster.reader();
    await eventually(() => run.load.prepare(), { timeoutMs: BACK_TIMEOUT_MS });
  });
  after(async () => {
    await run?.load.stop();
    run?.sinks.close();
    await journal?.close();
    await endEverything();
    await nats?.stop();
  });

  it(`are delivered or kept through ${FAULTS} faults`, async () => {
    console.log(replayLine(seed, 'queue-conservation'));
    const faults = [killOwner, freezeOwner, killEdge, killServer, stopOwner, freezeServer, loseSink];
    run.load.start();
    for (let fault = 0; fault < FAULTS; fault += 1) {
      await run.progress(random.below(ACCEPTED_BETWEEN_FAULTS) + 10);
      const strike = faults[fault] ?? random.pick(faults);
      await strike().catch((cause) => {
        const logs = [...alive.values()].map((each) => each.stderr().slice(-1500)).join('\n');
        throw new Error(`${strike.name}: ${(cause as Error).message}\n${logs}`, { cause });
      });
    }
    await run.progress(10);
    await run.judge(new ConservationClient(`http://127.0.0.1:${ports.get(NOWHERE)}`), journal as JournalReader);
  });

  it('are listed alike by all processes and by a process with empty read models', async () => {
    const [region, ...others] = regions as [string, ...string[]];
    const of = (name: string) => shownBy(alive.get(name) as MillraceProcess);
    // Both are read for each comparison: a message that waits for its next try may still change.
    const same = (one: string, other: string) =>
      eventually(async () => {
        const [shown, alike] = await Promise.all([of(one), of(other)]);
        expect(alike).to.deep.equal(shown);
      }, REBUILT);
    for (const other of others) await same(region, other);
    await gone(region, alive.get(region) as MillraceProcess, 'SIGKILL');
    await start(region);
    await same(others[0] as string, region);
  });

  async function start(region: string): Promise<void> {
    const started = await cluster.start({
      MILLRACE_QUEUE_PORT: String(ports.get(region)),
      ...(region === NOWHERE ? {} : { MILLRACE_REGION: region }),
    });
    alive.set(region, started);
    run.everStarted.push(started);
  }

  function owner(): readonly [string, MillraceProcess] {
    const millrace = ownerOf(SHARD, [...alive.values()]);
    return [regions.find((region) => alive.get(region) === millrace) as string, millrace];
  }

  async function killOwner(): Promise<void> {
    const [region, victim] = owner();
    await run.fault('killed', region, () => gone(region, victim, 'SIGKILL'));
    await start(region);
  }

  async function killEdge(): Promise<void> {
    const [ownersRegion] = owner();
    const region = random.pick(regions.filter((each) => each !== ownersRegion));
    await run.fault('killed', region, () => gone(region, alive.get(region) as MillraceProcess, 'SIGKILL'));
    await start(region);
  }

  async function stopOwner(): Promise<void> {
    const [region, victim] = owner();
    await run.fault('stopped', region, () => gone(region, victim, 'SIGTERM'));
    await start(region);
  }

  async function gone(region: string, victim: MillraceProcess, signal: NodeJS.Signals): Promise<void> {
    alive.delete(region);
    await victim.kill(signal);
  }

  async function freezeOwner(): Promise<void> {
    const [region, victim] = owner();
    await run.fault('frozen', region, async () => {
      await victim.freeze();
      await pause(SLEEP_MS);
      victim.thaw();
    });
  }

  async function killServer(): Promise<void> {
    await run.fault('server', undefined, async () => {
      await nats.kill();
      await nats.start();
    });
  }

  async function freezeServer(): Promise<void> {
    await run.fault('server', undefined, async () => {
      await nats.pause();
      await pause(random.pick([SHORT_SLEEP_MS, SLEEP_MS]));
      nats.resume();
    });
  }

  /** Breaks open calls to the sink and refuses later ones. */
  async function loseSink(): Promise<void> {
    run.sinks.closeGone();
    await run.progress(10);
    await run.sinks.reopenGone();
  }
});

describe('messages of the embedded default', function () {
  this.timeout(120_000 + KILLS * MS_FOR_A_FAULT);
  const seed = seedOfThisRun();
  const random = seededRandom(seed);
  let environment: Environment;
  let dataDir: string;
  let millrace: MillraceProcess;
  let run: ConservationRun;
  let journal: JournalReader | undefined;

  before(async () => {
    dataDir = await temporaryDirectory();
    environment = {
      ...(await embeddedEnvironment(dataDir)),
      ...QUEUE_SETTINGS,
      ...SEARCH_ENVIRONMENT,
      MILLRACE_QUEUE_PORT: String(await freePort()),
    };
    const sinks = await HostileSinks.start(SIGNING_KEYS.current, random);
    const client = new ConservationClient(`http://127.0.0.1:${environment.MILLRACE_QUEUE_PORT}`);
    run = new ConservationRun(sinks, new ConservationLoad([client], sinks, random));
    await start();
    await eventually(() => run.load.prepare(), { timeoutMs: BACK_TIMEOUT_MS });
  });
  after(async () => {
    await run?.load.stop();
    run?.sinks.close();
    await journal?.close();
    await endEverything();
  });

  it(`are delivered or kept through ${KILLS} kills`, async () => {
    console.log(replayLine(seed, 'queue-conservation'));
    run.load.start();
    for (let kill = 0; kill < KILLS; kill += 1) {
      await run.progress(random.below(ACCEPTED_BETWEEN_FAULTS) + 10);
      const victim = kill % 3;
      await run.fault(victim === 1 ? 'server' : 'killed', victim === 1 ? undefined : NOWHERE, async () => {
        const server = await millrace.natsPid();
        if (victim !== 0) signalPid(server, 'SIGKILL');
        if (victim === 1) return;
        await millrace.kill();
        await start();
      });
    }
    await run.progress(10);
    journal = await reader();
    await run.judge(new ConservationClient(millrace.addresses.queue as string), journal);
  });

  it('are listed alike after a rebuild of the read models', async () => {
    // Each try starts from the beginning: a message that waits for its next try may change in between.
    await eventually(async () => {
      const shown = await shownBy(millrace);
      await millrace.kill();
      await rm(join(dataDir, 'read-models'), { recursive: true });
      await start();
      expect(await shownBy(millrace)).to.deep.equal(shown);
    }, REBUILT);
  });

  async function start(): Promise<void> {
    millrace = await startMillrace({ dataDir, env: environment });
    run.everStarted.push(millrace);
  }

  async function reader(): Promise<JournalReader> {
    const text = await readFile(join(dataDir, 'nats/client.json'), 'utf8');
    const { url, user, password } = JSON.parse(text) as { url: string; user: string; password: string };
    return openJournalReader({ servers: [url], user, password });
  }
});
