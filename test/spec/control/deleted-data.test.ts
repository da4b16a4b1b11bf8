import { expect } from 'chai';
import { DeletedData } from '../../../src/actors/control/index.js';
import { evolve } from '../../../src/domain/control/index.js';
import { ManualTime } from '../../support/memory/index.js';
import { MemoryControl } from '../../support/memory-control.js';
import { db } from './given.js';
import { PEOPLE } from './management-given.js';

const DAY_MS = 86_400_000;

describe('control: data of deleted databases', () => {
  async function given() {
    const control = new MemoryControl();
    for (const event of PEOPLE) evolve(control.state, event);
    const asked: string[] = [];
    const parts = { isOwner: true };
    const create = () =>
      new DeletedData({
        removal: { remove: (id, partitions) => void asked.push(`${id} ${partitions}`) },
        state: () => control.state,
        isOwner: () => parts.isOwner,
        clock: { nowMs: () => control.nowMs, monotonicMs: () => 0 },
        timers: new ManualTime(),
      });
    await control.send({ type: 'DeleteDatabase', database: db('first') });
    return { control, asked, create, parts };
  }

  it('is removed once by each process that becomes owner of the control shard', async () => {
    const { asked, create, control } = await given();
    const partitions = control.state.databases.get(db('first'))?.partitions;
    const first = create();
    first.look();
    first.look();
    expect(asked).to.deep.equal([`${db('first')} ${partitions}`]);
    create().look();
    expect(asked).to.have.length(2);
  });

  it('is removed by the owner alone, and for a week after the deletion', async () => {
    const { asked, create, control, parts } = await given();
    parts.isOwner = false;
    create().look();
    parts.isOwner = true;
    control.nowMs += 8 * DAY_MS;
    create().look();
    expect(asked).to.deep.equal([]);
  });
});
