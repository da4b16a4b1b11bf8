/** Proves DWA1, DWA2. */
import { expect } from 'chai';
import { DiskWatch } from '../../../src/adapters/node/index.js';
import type { Log } from '../../../src/ports/index.js';
import { ManualTime } from '../../support/memory/index.js';

describe('disk watch', () => {
  const events: string[] = [];
  const note = (event: string) => void events.push(event);
  const log: Log = { debug: note, info: note, warn: note, error: note, with: () => log };
  let time: ManualTime;
  let free: number | Error;
  let watch: DiskWatch;

  beforeEach(async () => {
    events.length = 0;
    time = new ManualTime();
    free = 1000;
    const freeBytes = async () => {
      if (free instanceof Error) throw free;
      return free;
    };
    watch = new DiskWatch({ directory: '/', reserveBytes: 1000, timers: time, log, freeBytes });
    await watch.start();
  });

  afterEach(() => watch.stop());

  it('has room as long as the whole reserve is free', () => {
    expect(watch.isFull()).to.equal(false);
  });

  it('is full one byte below the reserve, and logs that once', async () => {
    free = 999;
    await time.advance(500);
    expect(watch.isFull()).to.equal(true);
    expect(events).to.deep.equal(['storage.full']);
  });

  it('has room again a tenth above the reserve, not before', async () => {
    free = 999;
    await time.advance(500);
    free = 1099;
    await time.advance(500);
    expect(watch.isFull()).to.equal(true);
    free = 1100;
    await time.advance(500);
    expect(watch.isFull()).to.equal(false);
    expect(events).to.deep.equal(['storage.full', 'storage.has-room']);
  });

  it('keeps its last result when the file system cannot be read, and logs that once', async () => {
    free = 999;
    await time.advance(500);
    free = new Error('no such file system');
    await time.advance(10_000);
    expect(watch.isFull()).to.equal(true);
    expect(events).to.deep.equal(['storage.full', 'storage.unknown']);
  });

  it('reads a real file system', async () => {
    const real = new DiskWatch({ directory: '.', reserveBytes: 1, timers: time, log });
    await real.start();
    expect(real.isFull()).to.equal(false);
    real.stop();
  });
});
