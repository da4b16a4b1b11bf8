/**
 * The server is killed while many clients trigger runs, append to them, wait, notify, store events, finish, cancel and
 * resume. Acknowledged operations are present afterwards, and repeated requests took effect once.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { QueueProcess } from '../support/queue-process.js';
import { replayLine, seededRandom, seedOfThisRun } from '../support/seeded-random.js';
import { type AckingEndpoint, startAckingEndpoint } from '../support/workflow-chaos-acking-endpoint.js';
import { AckingClient, judgeAcks } from '../support/workflow-chaos-acks.js';
import { verifyAccountJournal } from '../support/workflow-chaos-journal.js';
import {
  KILLED_ENVIRONMENT,
  restartKilled,
  restartWithJournal,
  snapshotMade,
} from '../support/workflow-chaos-restart.js';

const KILLS = 5;
const CLIENTS = 12;
const ACKED_BETWEEN_KILLS = 200;
const MAX_PAUSE_MS = 300;
/** Too short for a takeover. */
const MAX_STOPPED_MS = 500;
const PROGRESS_TIMEOUT_MS = 60_000;
const LOGGED_TIMEOUT_MS = 20_000;
const KINDS = [
  'trigger',
  'append',
  'wait',
  'notify',
  'stored event',
  'finish',
  'cancel',
  'failure',
  'delete',
  'resume',
];

describe('a workflow server that is killed under load', function () {
  this.timeout(300_000);
  const seed = seedOfThisRun();
  let queue: QueueProcess;
  let endpoint: AckingEndpoint;
  before(async () => {
    console.log(replayLine(seed, 'workflow-crash-points'));
    endpoint = await startAckingEndpoint();
    queue = await QueueProcess.start(KILLED_ENVIRONMENT);
  });
  after(async () => {
    await queue?.stop();
    await endpoint?.close();
  });

  it('keeps every acknowledged operation and executes repeated requests once', async () => {
    const random = seededRandom(seed);
    const { url, failingUrl } = endpoint;
    const clients = Array.from(
      { length: CLIENTS },
      (_, at) => new AckingClient(`c${at}`, queue, { url, failingUrl }, random),
    );
    const load = new AbortController();
    const working = clients.map((client) => client.work(load.signal));
    const acked = (): number => clients.reduce((sum, { counts }) => sum + counts.acked, 0);
    const killing = async (): Promise<void> => {
      for (let kill = 0; kill < KILLS; kill += 1) {
        const wanted = acked() + ACKED_BETWEEN_KILLS;
        await eventually(() => expect(acked()).to.be.at.least(wanted), { timeoutMs: PROGRESS_TIMEOUT_MS });
        // The next process starts with runs from a snapshot.
        if (kill % 2 === 1) await snapshotMade(queue);
        await pause(random.below(MAX_PAUSE_MS));
        if (kill % 2 === 0) await restartWithJournal(queue, random.below(MAX_STOPPED_MS));
        else await restartKilled(queue);
      }
    };
    // An error of a client fails the test immediately.
    await Promise.race([killing(), Promise.all(working)]).finally(() => load.abort());
    await Promise.all(working);
    const runs = clients.flatMap((client) => client.runs);
    const unknown = clients.reduce((sum, { counts }) => sum + counts.unknown, 0);
    console.log(`      ${JSON.stringify({ runs: runs.length, acked: acked(), unknown, ...kindsOf(clients) })}`);
    expect(kindsOf(clients)).to.include.keys(KINDS);
    expect(unknown, 'calls that a kill left without an answer').to.be.at.least(KILLS);
    expect((await judgeAcks(runs, queue)).slice(0, 10)).to.deep.equal([]);
    await restartKilled(queue);
    expect((await judgeAcks(runs, queue)).slice(0, 10), 'after another restart').to.deep.equal([]);
    for (const { id, end, response } of runs) {
      if (end === undefined) continue;
      await eventually(
        async () => {
          const { json } = await queue.get(`/v2/workflows/logs?workflowRunId=${id}`);
          const [logged] = (json as { runs: { workflowState: string; workflowRunResponse?: string }[] }).runs;
          expect(logged?.workflowState, id).to.equal(end);
          expect(logged?.workflowRunResponse, id).to.equal(response);
        },
        { timeoutMs: LOGGED_TIMEOUT_MS },
      );
    }
    await verifyAccountJournal(queue);
  });
});

function kindsOf(clients: readonly AckingClient[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { kinds } of clients)
    for (const [kind, count] of Object.entries(kinds)) sums[kind] = (sums[kind] ?? 0) + count;
  return sums;
}
