/**
 * Workers that are frozen, held and ended in order; and killed, frozen and starved under load. Proves SIW1 and WPO2.
 * WORKER_FAULTS=20 has as many random faults after one of each kind.
 */
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { signalPid } from '../support/millrace-process.js';
import { QUEUE_SETTINGS } from '../support/queue-conservation-run.js';
import { replayLine, seededRandom, seedOfThisRun } from '../support/seeded-random.js';
import { WorkerFaultLoad } from '../support/worker-fault-load.js';
import { WorkerSubscribers } from '../support/worker-subscribers.js';
import { THIS_PROGRAM, WorkersStand } from '../support/workers-stand.js';

/** The shortest silence that is no garbage collection, and no turn of a busy machine. */
const SILENCE_MS = 8_000;
const ENDS_IN_ORDER = 2;
/** SIGUSR2 holds the event loop for ever. */
const HELD_PROGRAM = `process.on('SIGUSR2', () => { for (;;); });\n${THIS_PROGRAM}`;

/** The faults, in the words of the ledger of messages. */
const FAULTS = { kill: 'killed', freeze: 'killed', pause: 'frozen', end: 'stopped', starve: 'frozen' } as const;
type Fault = keyof typeof FAULTS;
const KINDS = ['kill', 'freeze', 'pause', 'end', 'starve'] as const satisfies readonly Fault[];
const MORE_FAULTS = Number(process.env.WORKER_FAULTS ?? '0');
const FAULT_MS = 60_000;
const JUDGEMENT_MS = 180_000;
/** Starved processes stand still in bursts, which are shorter than the silence of a frozen worker. */
const BURSTS = 6;
const BURST_MS = { least: 300, more: 1_700 };

describe('a worker', () => {
  let stand: WorkersStand;

  before(async () => {
    stand = await WorkersStand.start({ MILLRACE_WORKER_SILENCE_MS: `${SILENCE_MS}` });
  });
  after(() => stand?.end());

  /** The lines about ended workers since a position of the log. */
  function endsAfter(position: number): Record<string, unknown>[] {
    const lines = stand.installation.stderr().slice(position).split('\n');
    return lines.filter((line) => line.includes('"event":"worker.ended"')).map((line) => JSON.parse(line));
  }

  /** Both workers serve, and all shards have owners. */
  async function serveWithout(victim: number): Promise<void> {
    await eventually(
      async () =>
        expect(await stand.workers())
          .to.have.length(2)
          .and.not.include(victim),
      {
        timeoutMs: 60_000,
      },
    );
    await stand.serveWithBoth();
    expect(await stand.rest.set('key', victim)).to.equal('OK');
  }

  it('that is frozen is ended and started again', async () => {
    const from = stand.installation.stderr().length;
    const [frozen = 0] = await stand.workers();
    signalPid(frozen, 'SIGSTOP');
    await serveWithout(frozen);
    expect(endsAfter(from).map(({ level, reason }) => [level, reason])).to.deep.equal([
      ['error', `no report for ${SILENCE_MS / 1_000} s`],
    ]);
  });

  it('that SIGTERM ends is started again after 100 ms each time, because an end in order is no failure', async () => {
    await stand.install(HELD_PROGRAM);
    const from = stand.installation.stderr().length;
    for (let count = 0; count < ENDS_IN_ORDER; count += 1) {
      const [victim = 0] = await stand.workers();
      signalPid(victim, 'SIGTERM');
      await serveWithout(victim);
    }
    const ends = endsAfter(from).map(({ level, reason, startsAgainInMs }) => [level, reason, startsAgainInMs]);
    expect(ends).to.deep.equal(Array.from({ length: ENDS_IN_ORDER }, () => ['info', 'exit code 0', 100]));
  });

  it('whose event loop is held is ended and started again', async () => {
    const from = stand.installation.stderr().length;
    // The one that was started last.
    const held = (await stand.workers()).at(-1) ?? 0;
    signalPid(held, 'SIGUSR2');
    await serveWithout(held);
    expect(endsAfter(from)[0]?.reason).to.match(/^no report for \d+ s$/);
  });
});

describe('workers that are killed, frozen and starved under load', function () {
  this.timeout(JUDGEMENT_MS + (KINDS.length + MORE_FAULTS) * FAULT_MS);
  const seed = seedOfThisRun();
  const random = seededRandom(seed);
  let stand: WorkersStand;
  let load: WorkerFaultLoad | undefined;

  before(async () => {
    console.log(replayLine(seed, 'worker-faults'));
    stand = await WorkersStand.start({
      ...QUEUE_SETTINGS,
      // The destinations read the neutral headers, and the published workflow client the others.
      MILLRACE_WIRE_ALIAS_DELIVER: 'both',
      MILLRACE_WORKER_SILENCE_MS: `${SILENCE_MS}`,
    });
    load = await WorkerFaultLoad.start(stand, seed + 1);
  });
  after(async () => {
    await load?.close();
    await stand?.end();
  });

  it('lose no write, delivery or run, keep the order of queues, and end no subscription of the other worker', async () => {
    for (const kind of KINDS) await fault(kind);
    for (let count = 0; count < MORE_FAULTS; count += 1) await fault(random.pick(KINDS));
    await load?.judge();
  });

  async function fault(kind: Fault): Promise<void> {
    const startedAt = performance.now();
    const before = await stand.workers();
    const victim = random.pick(before);
    const subscribers = await WorkerSubscribers.begin(stand);
    await load?.during(FAULTS[kind], () => STRIKES[kind](victim));
    await stand.serveWithBoth();
    const after = await stand.workers();
    const kept = before.filter((pid) => after.includes(pid));
    expect(kept).to.include.members(before.filter((pid) => kind === 'starve' || pid !== victim));
    await subscribers.end(kept);
    console.log(`      ${kind}: ${Math.round(performance.now() - startedAt)} ms`);
  }

  const STRIKES: Readonly<Record<Fault, (victim: number) => Promise<void>>> = {
    kill: (victim) => replaced(victim, 'SIGKILL'),
    freeze: (victim) => replaced(victim, 'SIGSTOP'),
    end: (victim) => replaced(victim, 'SIGTERM'),
    /** Until the other worker has its shards. On a busy machine its silence may last long enough for its end. */
    pause: async (victim) => {
      signalPid(victim, 'SIGSTOP');
      await stand.ownAll();
      signalPid(victim, 'SIGCONT');
    },
    starve: async () => {
      const pids = [...(await stand.workers()), stand.installation.pid, await stand.installation.natsPid()];
      for (let burst = 0; burst < BURSTS; burst += 1) {
        const starved = pids.filter(() => random.below(2) === 0);
        for (const pid of starved) signalPid(pid, 'SIGSTOP');
        await setTimeout(BURST_MS.least + random.below(BURST_MS.more));
        for (const pid of starved) signalPid(pid, 'SIGCONT');
      }
    },
  };

  async function replaced(victim: number, signal: NodeJS.Signals): Promise<void> {
    signalPid(victim, signal);
    await eventually(async () => expect(await stand.workers()).not.to.include(victim), { timeoutMs: FAULT_MS });
  }
});
