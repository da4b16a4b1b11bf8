/** Proves DL1, DL3. */
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { lockDataDir } from '../../../src/adapters/nats/embedded/index.js';
import { describeError, isMillraceError } from '../../../src/kernel/index.js';
import { eventually } from '../../support/eventually.js';
import { endAllParents, startParent } from './parents.js';
import { freshDirs } from './test-server.js';

describe('embedded server: the lock of the data directory', () => {
  const fresh = freshDirs();
  afterEach(endAllParents);

  it("is refused to a second process, in one line with the holder's pid", async () => {
    const holder = await startParent('lock', fresh.dir);
    const error = await failureOf(lockDataDir(fresh.dir));
    expect(isMillraceError(error, 'CONFLICT')).to.equal(true);
    expect(describeError(error)).to.equal(`the data directory ${fresh.dir} is in use by process ${holder.pid}`);
    expect(await readFile(join(fresh.dir, 'lock'), 'utf8')).to.equal(`${holder.pid}\n`);
  });

  it('is released when its holder is killed', async () => {
    const holder = await startParent('lock', fresh.dir);
    await holder.kill();
    const lock = await lockDataDir(fresh.dir);
    expect(await readFile(lock.path, 'utf8')).to.equal(`${process.pid}\n`);
    lock.release();
  });

  it('is exclusive within one process too, and free again after release, with its file in place (DL3)', async () => {
    const lock = await lockDataDir(fresh.dir);
    expect(describeError(await failureOf(lockDataDir(fresh.dir)))).to.contain(`in use by process ${process.pid}`);
    const { ino } = await stat(lock.path);
    lock.release();
    (await lockDataDir(fresh.dir)).release();
    expect((await stat(lock.path)).ino).to.equal(ino);
  });

  it('is given to one of several processes that ask in parallel', async () => {
    const tries = await Promise.allSettled([1, 2, 3].map(() => startParent('lock', fresh.dir)));
    expect(tries.filter((result) => result.status === 'fulfilled')).to.have.length(1);
  });

  it('is refused on a machine without flock, and the error names its package', async () => {
    const error = await failureOf(lockDataDir(fresh.dir, 'flock-that-is-not-there'));
    expect(isMillraceError(error, 'BAD_CONFIG')).to.equal(true);
    expect(describeError(error)).to.contain('the program flock (package util-linux) is needed');
    const lock = await eventually(() => lockDataDir(fresh.dir));
    lock.release();
  });

  it('is refused in one line when the directory cannot be created', async () => {
    const file = join(fresh.dir, 'a-file');
    await writeFile(file, '');
    const error = await failureOf(lockDataDir(join(file, 'data')));
    expect(describeError(error)).to.contain(`MILLRACE_DATA_DIR: ${join(file, 'data')} cannot be used: ENOTDIR`);
  });
});

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.fail('it succeeded'),
    (error: unknown) => error,
  );
}
