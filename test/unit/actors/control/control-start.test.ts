/** The conditions for a process to serve, and the errors that end its start. Proves CS1, CS2. */
import { expect } from 'chai';
import { ControlStart, type ControlStartPorts } from '../../../../src/actors/control/index.js';
import { MillraceError, type ShardName } from '../../../../src/kernel/index.js';
import { CONTROL_SHARD } from '../../../../src/protocol/index.js';
import { ManualTime } from '../../../support/memory/index.js';

const DAMAGE = new MillraceError('JOURNAL_DAMAGED', 'broken on purpose');

describe('the start of a process', () => {
  let time: ManualTime;
  let stopped: Map<ShardName, MillraceError>;
  let answers: boolean[];
  let holes: number;

  beforeEach(() => {
    time = new ManualTime();
    stopped = new Map();
    answers = [];
    holes = 0;
  });

  function startOf(isAlone: boolean): ControlStart {
    const ports = {
      clock: time,
      timers: time,
      client: { send: () => (answers.shift() ? Promise.resolve({}) : Promise.reject(DAMAGE)) },
      view: { damage: undefined, state: {} },
      host: { stoppedShards: () => stopped },
      journal: { tail: () => Promise.resolve({ last: 0, holes, createdAt: 'then' }) },
      leases: { get: () => Promise.resolve(undefined) },
      isAlone,
    };
    return new ControlStart(ports as unknown as ControlStartPorts);
  }

  async function codeOf(step: Promise<unknown>): Promise<string> {
    return step.then(
      () => 'served',
      ({ code }) => code as string,
    );
  }

  it('ends when the control shard was stopped, with a line that names the remedy', async () => {
    stopped.set(CONTROL_SHARD, DAMAGE);
    const error: MillraceError = await startOf(false)
      .refuseDamage()
      .then(
        () => DAMAGE,
        (cause) => cause,
      );
    expect(error.message).to.contain('broken on purpose').and.to.contain('restore a backup');
  });

  it('ends immediately when a single server shows damage, and after a while with several servers', async () => {
    holes = 1;
    expect(await codeOf(startOf(true).refuseDamage())).to.equal('JOURNAL_DAMAGED');
    const start = startOf(false);
    expect(await codeOf(start.refuseDamage())).to.equal('served');
    await time.advance(15_000);
    expect(await codeOf(start.refuseDamage())).to.equal('JOURNAL_DAMAGED');
  });

  it('ends when damage appears while it waits for the copy', async () => {
    const ended = codeOf(startOf(false).untilCopied(new Promise(() => {})));
    await time.advance(200);
    stopped.set(CONTROL_SHARD, DAMAGE);
    await time.advance(50);
    expect(await ended).to.equal('JOURNAL_DAMAGED');
  });

  it('asks the control actor until it answers', async () => {
    answers = [false, false, true];
    const start = startOf(false);
    void start.untilAnswered();
    await time.advance(15);
    expect(start.hasAnswered).to.equal(false);
    await time.advance(10);
    expect(start.hasAnswered).to.equal(true);
  });
});
