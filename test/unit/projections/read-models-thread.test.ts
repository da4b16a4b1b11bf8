/** The death and restart of the read models' thread. */
import { expect } from 'chai';
import { AnsweringThread } from '../../../src/adapters/node/index.js';
import { READ_MODELS_WORKER } from '../../../src/projections/index.js';
import { eventually } from '../../support/eventually.js';
import { silentLog } from '../../support/silent-log.js';
import { timersOf } from '../../support/timers-of.js';

const DYING = new URL('data:text/javascript,process.exit(3)');
const TASK = {
  nats: { servers: [] },
  prefix: '',
  file: '',
  statsFile: '',
  options: { clusterId: '', shards: [], snapshots: {} },
};

describe('the thread of the read models', () => {
  it('is restarted after pauses that do not grow, and reports each start', async () => {
    const pauses: number[] = [];
    let begun = 0;
    const mostPauses = 4;
    const timers = timersOf({
      after: (delayMs, action) => {
        pauses.push(delayMs);
        if (pauses.length < mostPauses) setImmediate(action);
        return { cancel() {} };
      },
      soon: (action) => void setImmediate(action),
    });
    const onBegun = () => {
      begun += 1;
    };
    const dying = new AnsweringThread(
      { entry: DYING, task: TASK, log: silentLog, timers, onBegun },
      READ_MODELS_WORKER,
    );
    dying.start();
    await eventually(() => expect(pauses).to.have.length(mostPauses));
    expect(pauses).to.deep.equal([1000, 1000, 1000, 1000]);
    expect(begun).to.equal(mostPauses);
    expect(dying.status).to.equal(undefined);
    await dying.stop();
  });
});
