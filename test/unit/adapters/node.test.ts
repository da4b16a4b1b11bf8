/** Proves FL1, FL2. */
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  ensureDirectory,
  NodeRandom,
  NodeTimers,
  PRIVATE_FILE,
  ProcBootTime,
  readFileIfThere,
  SystemClock,
  writeFileAtomic,
} from '../../../src/adapters/node/index.js';
import { directoryOf } from '../../support/stand-hooks.js';

describe('files', () => {
  const directory = directoryOf('each test');

  it('are written with the given mode, also over a file with a wider one', async () => {
    const path = join(directory.path, 'credentials.env');
    await writeFile(path, 'old', { mode: 0o644 });
    await writeFileAtomic(path, 'new', PRIVATE_FILE);
    expect(await readFile(path, 'utf8')).to.equal('new');
    expect((await stat(path)).mode & 0o777).to.equal(0o600);
  });

  it('leave no temporary file when writing fails', async () => {
    const path = join(directory.path, 'taken');
    await ensureDirectory(join(path, 'full'));
    let failure: unknown;
    await writeFileAtomic(path, 'x', PRIVATE_FILE).catch((error: unknown) => {
      failure = error;
    });
    expect(failure).to.be.instanceOf(Error);
    expect(await readdir(directory.path)).to.deep.equal(['taken']);
  });

  it('are complete for a reader at any moment', async () => {
    const path = join(directory.path, 'state.json');
    await writeFileAtomic(path, 'a'.repeat(100_000), PRIVATE_FILE);
    const seen = new Set<number>();
    const writing = (async () => {
      for (let round = 0; round < 20; round += 1) {
        await writeFileAtomic(path, (round % 2 ? 'a' : 'b').repeat(100_000), PRIVATE_FILE);
      }
    })();
    for (let round = 0; round < 40; round += 1) seen.add((await readFile(path)).length);
    await writing;
    expect([...seen]).to.deep.equal([100_000]);
  });

  it('that do not exist read as undefined; unreadable ones throw', async () => {
    expect(await readFileIfThere(join(directory.path, 'none'))).to.equal(undefined);
    let failure: unknown;
    await readFileIfThere(directory.path).catch((error: unknown) => {
      failure = error;
    });
    expect(failure).to.be.instanceOf(Error);
  });

  it('are in directories that only the owner can enter', async () => {
    await ensureDirectory(join(directory.path, 'a', 'b'));
    expect((await stat(join(directory.path, 'a', 'b'))).mode & 0o777).to.equal(0o700);
  });
});

describe('clock, timers and randomness of the machine', () => {
  it('give the time in milliseconds', () => {
    const clock = new SystemClock();
    const [earliest, now, latest] = [Date.now(), clock.nowMs(), Date.now()];
    expect(now).to.be.within(earliest, latest + 1);
    const before = clock.monotonicMs();
    expect(clock.monotonicMs()).to.be.at.least(before);
  });

  it('give the time since boot as the kernel does, and the boot id', async () => {
    const boot = new ProcBootTime();
    const [before, sinceBootMs, after] = [uptime() * 1000, boot.sinceBootMs() as number, uptime() * 1000];
    expect(sinceBootMs).to.be.within(before - 100, after + 100);
    expect(boot.bootId).to.match(/^[0-9a-f-]{36}$/);
    expect(boot.bootId).to.equal(new ProcBootTime().bootId);
  });

  it('run tasks in the order of their due time, without cancelled ones', async () => {
    const timers = new NodeTimers();
    const order: string[] = [];
    await new Promise<void>((resolve) => {
      timers.after(5, () => order.push('cancelled')).cancel();
      timers.after(10, () => {
        order.push('after');
        resolve();
      });
      timers.soon(() => order.push('soon'));
    });
    expect(order).to.deep.equal(['soon', 'after']);
  });

  it('do not fire early for a delay above the maximum of Node', async () => {
    const timers = new NodeTimers();
    let hasFired = false;
    const timer = timers.after(2 ** 40, () => {
      hasFired = true;
    });
    await timers.pause(20);
    timer.cancel();
    expect(hasFired).to.equal(false);
  });

  it('give as many bytes as requested, and numbers in [0, 1)', () => {
    const random = new NodeRandom();
    expect(random.bytes(16)).to.be.instanceOf(Uint8Array).with.length(16);
    expect(Buffer.compare(random.bytes(16), random.bytes(16))).to.not.equal(0);
    const numbers = Array.from({ length: 5000 }, () => random.float());
    expect(numbers.every((number) => number >= 0 && number < 1)).to.equal(true);
    const mean = numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
    expect(mean).to.be.closeTo(0.5, 0.05);
  });
});
