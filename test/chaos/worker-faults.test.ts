/** Workers that are frozen, held and ended in order. Proves SIW1 and WPO2. */
import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { signalPid } from '../support/millrace-process.js';
import { THIS_PROGRAM, WorkersStand } from '../support/workers-stand.js';

/** The shortest silence that is no garbage collection, and no turn of a busy machine. */
const SILENCE_MS = 6_000;
const ENDS_IN_ORDER = 3;
/** SIGUSR2 holds the event loop for ever. */
const HELD_PROGRAM = `process.on('SIGUSR2', () => { for (;;); });\n${THIS_PROGRAM}`;

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
