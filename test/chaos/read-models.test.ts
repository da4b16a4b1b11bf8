/**
 * Read models whose process is killed repeatedly in the middle of its work, while messages, runs, commands and
 * documents arrive. In the end they show the acknowledged items, counted independently, and a process with empty read
 * models shows the same.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { KvClient } from '../support/kv-client.js';
import { WIRE_ALIAS } from '../support/millrace-clients.js';
import { MillraceCluster, type NatsFacts, startPlainNats } from '../support/millrace-cluster.js';
import {
  type Environment,
  endEverything,
  type MillraceProcess,
  startMillrace,
  temporaryDirectory,
} from '../support/millrace-process.js';
import { QUEUE_TOKEN, SIGNING_KEYS } from '../support/queue-process.js';
import { QueueSink } from '../support/queue-sink.js';
import { countedRuns, countedStates, ReadSide, type ReadSideState } from '../support/read-side.js';
import { foldedPosition, type JournalEnd, openJournalEnd, READ_MODEL_FILES } from '../support/read-side-files.js';
import { type Accepted, ReadSideLoad } from '../support/read-side-load.js';
import {
  createSearchDatabase,
  MGMT_EMAIL,
  MGMT_KEY,
  SEARCH_ENVIRONMENT,
  type SearchDatabase,
  searchCall,
} from '../support/search-process.js';
import { replayLine, seededRandom, seedOfThisRun } from '../support/seeded-random.js';

const KILLS = Number(process.env.CHAOS_READ_MODEL_KILLS ?? '10');
const MS_FOR_A_KILL = 10_000;
/** Accepted between the ready line and the kill, at most. */
const MAX_BETWEEN_KILLS = 40;
const SHARD = 'QUEUE_0';
const LONG = { timeoutMs: 60_000, everyMs: 250 };
const QUERIES = ['word1', 'document 7', 'word3 of number', 'numbr'];

describe('read models of a process that is killed repeatedly', function () {
  this.timeout(180_000 + KILLS * MS_FOR_A_KILL);
  const seed = seedOfThisRun();
  const random = seededRandom(seed);
  let nats: NatsFacts;
  let cluster: MillraceCluster;
  let journal: JournalEnd;
  let edge: MillraceProcess;
  let environment: Environment;
  let dataDir: string;
  let projection: MillraceProcess;
  let sink: QueueSink;
  let kv: KvClient;
  let readSide: ReadSide;
  let search: SearchDatabase;
  let load: ReadSideLoad;
  let paths: Record<'queue' | 'kv' | 'search', string>;

  before(async () => {
    nats = await startPlainNats();
    cluster = await MillraceCluster.prepare(nats, {
      ...WIRE_ALIAS,
      ...SEARCH_ENVIRONMENT,
      MILLRACE_ALLOW_PRIVATE_DESTINATIONS: 'true',
      MILLRACE_QUEUE_TOKEN: QUEUE_TOKEN,
      MILLRACE_SIGNING_KEY_CURRENT: SIGNING_KEYS.current,
      MILLRACE_SIGNING_KEY_NEXT: SIGNING_KEYS.next,
      // Only the process of the read models is killed; no other may be taken for dead.
      MILLRACE_TAKEOVER_SILENCE_MS: '15000',
    });
    journal = await openJournalEnd(cluster.natsOptions());
    dataDir = await temporaryDirectory();
    environment = await cluster.environment(dataDir, { MILLRACE_ROLES: 'projection' });
    [edge, projection] = await Promise.all([cluster.start({ MILLRACE_ROLES: 'edge,kv,queue' }), start()]);
    const { queue, mgmt } = edge.addresses as Record<'queue' | 'mgmt', string>;
    readSide = new ReadSide({
      queueUrl: queue,
      queueToken: QUEUE_TOKEN,
      mgmtUrl: mgmt,
      email: MGMT_EMAIL,
      key: MGMT_KEY,
    });
    const made = await eventually(
      () => readSide.manage('POST', '/v2/kv/database', { name: 'counted', region: 'eu-west-1', plan: 'payg' }),
      LONG,
    );
    const { id } = await readSide.manage('GET', '/v2/msgq/user');
    search = await createSearchDatabase(edge, 'counted');
    paths = {
      queue: `/v2/msgq/stats/${id}`,
      kv: `/v2/kv/stats/${made.database_id}`,
      search: `/v2/search/${search.id}/stats`,
    };
    kv = new KvClient({ url: edge.kvUrl, token: made.rest_token });
    // Commands that are refused before the database is open are not counted; only the command that succeeds is outside the
    // load.
    await eventually(() => kv.ask('SET', 'settled', 'yes'), LONG);
    sink = await QueueSink.listening();
    load = await ReadSideLoad.over({ queueUrl: queue, sink, kv, search });
    await eventually(() => load.prepare(), LONG);
  });
  after(async () => {
    await load?.stop();
    await load?.close();
    kv?.close();
    await sink?.close();
    await journal?.close();
    await endEverything();
    await nats?.stop();
  });

  const start = () => startMillrace({ dataDir, env: environment });
  const state = () => readSide.state([paths.queue, paths.kv]);
  const found = async () => {
    const answers = [];
    for (const query of QUERIES) {
      const { status, body } = await searchCall(search, 'search/notes', { query, topK: 20, includeData: true });
      if (status !== 200) throw new Error(`${query}: ${status} ${JSON.stringify(body)}`);
      answers.push(body.result);
    }
    return answers;
  };
  let foundBefore: unknown;
  let accepted: Accepted;

  it(`show each item once after ${KILLS} kills`, async () => {
    console.log(replayLine(seed, 'read-models'));
    load.start();
    const midway = Object.fromEntries(READ_MODEL_FILES.map((file) => [file, 0]));
    for (let kill = 0; kill < KILLS; kill += 1) {
      const wanted = load.count + random.below(MAX_BETWEEN_KILLS);
      await eventually(() => expect(load.count).to.be.at.least(wanted), LONG);
      const end = await journal.position(SHARD);
      await projection.kill('SIGKILL');
      for (const file of READ_MODEL_FILES) {
        if ((await foldedPosition(dataDir, file, SHARD)) < end) midway[file] = (midway[file] ?? 0) + 1;
      }
      projection = await start();
    }
    accepted = await load.stop();
    console.log(`      ${JSON.stringify({ ...accepted, ids: undefined, runs: accepted.runs.length, midway })}`);
    for (const file of READ_MODEL_FILES) expect(midway[file], `kills midway of ${file}`).to.be.greaterThan(0);
    await eventually(
      async () =>
        expect(statesOf(await readSide.list('/v2/events', 'events', 'count=1000'))).to.deep.equal(expected(accepted)),
      LONG,
    );
    await eventually(async () => checkCounts(await state()), LONG);
  });

  function checkCounts({ dlq, runs, statistics }: ReadSideState): void {
    const { good, bad } = accepted.ids;
    expect(dlq.map(({ messageId }) => messageId).sort()).to.deep.equal([...bad].sort());
    const all = good.length + bad.length;
    const states = { created: all, active: all, delivered: good.length, error: bad.length, failed: bad.length };
    expect(countedStates({ statistics }, paths.queue)).to.deep.equal({ ...states, retry: 0, cancelled: 0 });
    expect(runs.map(({ workflowRunId }) => workflowRunId).sort()).to.deep.equal([...accepted.runs].sort());
    for (const run of runs) {
      expect(run.workflowState, String(run.workflowRunId)).to.equal('RUN_SUCCESS');
      expect(stepsOf(run), String(run.workflowRunId)).to.deep.equal(['init', 'one', 'two']);
    }
    const queue = statistics[`${paths.queue}?period=12h`] as Counted;
    const whole = accepted.runs.length;
    const ends = { started: whole, success: whole, failed: 0, canceled: 0 };
    expect(countedRuns({ statistics }, paths.queue)).to.deep.equal(ends);
    expect(queue.dlq_message_count).to.equal(bad.length);
    const commands = statistics[`${paths.kv}?period=12h`] as Counted;
    expect(commands.daily_net_commands).to.equal(accepted.commands + 1);
  }

  it('find each document once, also after a restart', async () => {
    const info = () =>
      eventually(async () => {
        const { body } = await searchCall(search, 'info');
        expect(body.result.namespaces.notes).to.deep.equal({ vectorCount: accepted.documents, pendingVectorCount: 0 });
        return body.result;
      }, LONG);
    await info();
    foundBefore = await eventually(found, LONG);
    const ids = (foundBefore as { id: string }[][]).map((hits) => hits.map(({ id }) => id));
    expect(ids.map((each) => new Set(each).size)).to.deep.equal(ids.map(({ length }) => length));
    expect(ids[0]?.length).to.equal(20);
    await countedDocuments();
  });

  async function countedDocuments(): Promise<void> {
    await eventually(async () => {
      const { daily_update_count: updates, current_vector_count: documents } = await readSide.manage(
        'GET',
        paths.search,
      );
      expect([updates, documents]).to.deep.equal([accepted.documents, accepted.documents]);
    }, LONG);
  }

  it('show the same after a rebuild from the journal', async () => {
    const end = await journal.position(SHARD);
    // Sizes of a database are updated some seconds after its commands, so the current state is compared.
    const shown = await state();
    checkCounts(shown);
    await projection.kill('SIGKILL');
    for (const file of READ_MODEL_FILES) expect(await foldedPosition(dataDir, file, SHARD), file).to.be.at.least(end);
    await rm(join(dataDir, 'read-models'), { recursive: true });
    projection = await start();
    const { statistics, ...lists } = shown;
    await eventually(async () => {
      const now = await state();
      // Each list has its own assertion: the difference of the whole state is too long to be printed.
      for (const path of Object.keys(statistics)) expect(now.statistics[path], path).to.deep.equal(statistics[path]);
      for (const name of Object.keys(lists) as (keyof typeof lists)[]) {
        expect(now[name], name).to.deep.equal(lists[name]);
      }
    }, LONG);
    await eventually(async () => expect(await found()).to.deep.equal(foundBefore), LONG);
    await countedDocuments();
  });
});

/** Counted values of an account, and of a database. */
interface Counted {
  readonly dlq_message_count: number;
  readonly daily_net_commands: number;
}

/** Names of a run's steps, in their order. */
function stepsOf(run: Readonly<Record<string, unknown>>): unknown[] {
  const { steps } = run as { readonly steps: readonly { readonly steps: readonly { readonly stepName: string }[] }[] };
  return steps.flatMap((group) => group.steps.map(({ stepName }) => stepName));
}

/** Each message's states, in the order in which they came about. */
function statesOf(events: readonly Readonly<Record<string, unknown>>[]): Record<string, string> {
  const states: Record<string, string[]> = {};
  for (const { messageId, state } of [...events].reverse()) {
    const own = states[String(messageId)] ?? [];
    own.push(String(state));
    states[String(messageId)] = own;
  }
  return Object.fromEntries(Object.entries(states).map(([id, all]) => [id, all.join(' ')]));
}

function expected({ ids: { good, bad } }: Accepted): Record<string, string> {
  return Object.fromEntries([
    ...good.map((id) => [id, 'CREATED ACTIVE DELIVERED']),
    ...bad.map((id) => [id, 'CREATED ACTIVE ERROR FAILED']),
  ]);
}
