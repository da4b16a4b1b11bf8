/**
 * The checks after a load with faults: histories and ledgers match the stored data, all runs have ended, every
 * process shows the same read models as a new process, and the journals verify.
 */
import { expect } from 'chai';
import { eventually } from '../eventually.js';
import { KvClient } from '../kv-client.js';
import type { MillraceProcess } from '../millrace-process.js';
import { ConservationClient } from '../queue-conservation-client.js';
import { ReadSide, type ReadSideState } from '../read-side.js';
import type { ClusterLoad } from './cluster-load.js';
import type { ClusterStand, LoadAccount } from './cluster-stand.js';

/** The wait for an election of the servers, which takes up to nine seconds on a quiet machine. */
const ELECTED = { timeoutMs: 60_000, everyMs: 500 };
/** The wait for rebuilt read models, on a machine that is busy with other programs. */
const FOLDED = { timeoutMs: 90_000, everyMs: 500 };

/** @throws an error that contains the failed check */
export async function judgeCluster(stand: ClusterStand, load: ClusterLoad): Promise<void> {
  await load.stop();
  expect(await load.violations()).to.deep.equal([]);
  const journal = await stand.cluster.reader();
  try {
    for (const { account, run } of load.accounts) {
      // A planned move of a busy process interrupts calls as well.
      run.everStarted.push(...stand.everStarted.map(({ process }) => process));
      const { queue: url } = processOf(stand, 'a').addresses as Record<'queue', string>;
      const client = new ConservationClient(new KvClient({ url, token: account.queueToken, connections: 32 }));
      await run.judge(client, journal, { shard: account.shard, account: account.id });
    }
  } finally {
    await journal.close();
  }
  for (const { account, workflows } of load.accounts) await expectEnded(stand, account, workflows.acked);
  await expectShownAlike(stand);
  expectNoWarnings(stand);
  await expectWholeJournals(stand);
}

/**
 * Verifies all journals, also while processes write to them. The command is repeated if the servers elect a leader
 * for longer than it waits: it then says that the journal does not answer.
 */
export async function expectWholeJournals(stand: ClusterStand): Promise<void> {
  const verified = await eventually(async () => {
    const result = await stand.cluster.run(['journal', 'verify', '--all']);
    if (result.stderr.includes('the journal does not answer')) throw new Error(result.stderr);
    return result;
  }, ELECTED);
  expect(verified.code, `${verified.stdout}${verified.stderr}`).to.equal(0);
}

/** Every run that was acknowledged succeeded. */
async function expectEnded(stand: ClusterStand, account: LoadAccount, acked: readonly string[]): Promise<void> {
  const shown = readSideOf(processOf(stand, 'a'), account);
  await eventually(async () => {
    const runs = await shown.list('/v2/workflows/logs', 'runs', 'count=50');
    const states = new Map(runs.map(({ workflowRunId, workflowState }) => [workflowRunId, workflowState]));
    const left = acked.filter((id) => states.get(id) !== 'RUN_SUCCESS').map((id) => `${id}: ${states.get(id)}`);
    expect(left, 'runs that did not succeed').to.deep.equal([]);
  }, FOLDED);
}

/** Checks that every process shows the same state as a new process with empty read models. */
async function expectShownAlike(stand: ClusterStand): Promise<void> {
  const fresh = await stand.cluster.start();
  const processes = [...stand.processes.values()];
  // Each process limits the reads of an account, so all are read at the same time.
  const isShownAlike = (account: LoadAccount) =>
    eventually(async () => {
      const [expected, ...shown] = await Promise.all([fresh, ...processes].map((process) => stateOf(process, account)));
      for (const state of shown) expect(state).to.deep.equal(expected);
    }, FOLDED);
  await Promise.all(stand.accounts.map(isShownAlike));
  await fresh.kill('SIGTERM');
}

/** Checks the log for warnings of Node.js about leaked listeners. These lines do not have Millrace's log format. */
function expectNoWarnings({ everStarted }: ClusterStand): void {
  const lines = everStarted.flatMap(({ process }) => process.stderr().split('\n'));
  expect(lines.filter((line) => line.includes('MaxListenersExceeded'))).to.deep.equal([]);
}

function stateOf(process: MillraceProcess, account: LoadAccount): Promise<ReadSideState> {
  return readSideOf(process, account).state();
}

function readSideOf({ addresses }: MillraceProcess, { queueToken, email, key }: LoadAccount): ReadSide {
  const [queueUrl, mgmtUrl] = [addresses.queue as string, addresses.mgmt as string];
  return new ReadSide({ queueUrl, mgmtUrl, queueToken, email, key });
}

function processOf(stand: ClusterStand, name: string): MillraceProcess {
  return stand.processes.get(name) as MillraceProcess;
}
