/** Proves AWS1 and AWS2. */
import { expect } from 'chai';
import { AwaitedStart } from '../../../src/adapters/nats/installation/awaited-start.js';
import { MillraceError } from '../../../src/kernel/index.js';
import { MemoryLog } from '../../support/kv-endpoint.js';
import { ManualTime } from '../../support/memory/index.js';

describe('a start that waits for a dependency', () => {
  let time: ManualTime;
  let log: MemoryLog;
  let awaited: AwaitedStart;
  const stopping = new AbortController();

  beforeEach(() => {
    time = new ManualTime();
    log = new MemoryLog();
    awaited = new AwaitedStart({ log, timers: time });
  });

  const failing = (failures: MillraceError[]) => async () => {
    const failure = failures.shift();
    if (failure !== undefined) throw failure;
    return 'started';
  };
  const silent = () => new MillraceError('JOURNAL_UNAVAILABLE', 'no NATS server at a:1');
  const told = () => log.lines.filter(({ event }) => event === 'process.waiting');

  it('is tried again until it succeeds, and logs the reason once a second', async () => {
    const outcome = awaited.begin(failing(Array.from({ length: 14 }, silent)), stopping.signal);
    await time.advance(3_000);
    expect(told().map(({ fields }) => fields)).to.deep.equal(Array(3).fill({ for: 'no NATS server at a:1' }));
    expect(awaited.checks()).to.deep.equal({ start: { ok: false, detail: 'no NATS server at a:1' } });
    await time.advance(1_000);
    expect(await outcome).to.equal('started');
    await time.advance(10_000);
    expect(told().length).to.be.at.most(4);
  });

  it('logs no line when it succeeds immediately', async () => {
    expect(await awaited.begin(failing([]), stopping.signal)).to.equal('started');
    await time.advance(2_000);
    expect(told()).to.deep.equal([]);
  });

  it('ends immediately with an error that waiting cannot fix', async () => {
    for (const code of ['BAD_CONFIG', 'JOURNAL_DAMAGED', 'CONFLICT'] as const) {
      const outcome = awaited
        .begin(failing([new MillraceError(code, 'no')]), stopping.signal)
        .catch((error) => error.code);
      expect(await outcome).to.equal(code);
    }
  });

  it('ends when it is aborted', async () => {
    const asked = new AbortController();
    const outcome = awaited
      .begin(failing(Array.from({ length: 100 }, silent)), asked.signal)
      .catch((error) => error.code);
    await time.advance(1_000);
    asked.abort();
    expect(await outcome).to.equal('SHUTTING_DOWN');
  });
});
