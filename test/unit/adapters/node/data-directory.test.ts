/** Problems of a data directory are reported before a file is created in it. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { directoryTrouble, refuseUnusableDirectory } from '../../../../src/adapters/node/index.js';
import { isMillraceError } from '../../../../src/kernel/index.js';

describe('the data directory', () => {
  let dir = '';
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'millrace-directory-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  it('is accepted where it exists or can be created', async () => {
    expect(await directoryTrouble(dir)).to.equal(undefined);
    expect(await directoryTrouble(join(dir, 'not', 'yet'))).to.equal(undefined);
  });

  it('is refused when it is a file, or lies below one', async () => {
    const file = join(dir, 'file');
    writeFileSync(file, '');
    expect(await directoryTrouble(file)).to.equal(`${file} is a file, not a directory`);
    expect(await directoryTrouble(join(file, 'data'))).to.equal(`${file} is a file, not a directory`);
  });

  it('is refused in a virtual file system of the kernel', async () => {
    for (const path of ['/proc', '/proc/self/millrace', '/proc/millrace/deeper']) {
      expect(await directoryTrouble(path)).to.equal(`${path} is on /proc, which cannot store files`);
    }
  });

  it('is refused where this user may not write', async function () {
    // Root may write to every directory.
    if (process.getuid?.() === 0) this.skip();
    const closed = join(dir, 'closed');
    mkdirSync(closed);
    chmodSync(closed, 0o500);
    expect(await directoryTrouble(join(closed, 'data'))).to.equal(`${closed} is not writable for this user`);
  });

  it('is refused with its setting and the cause, each once', async () => {
    const refused = await refuseUnusableDirectory('/proc/x', 'MILLRACE_DATA_DIR').catch((error: unknown) => error);
    expect(isMillraceError(refused, 'BAD_CONFIG')).to.equal(true);
    expect((refused as Error).message).to.equal('MILLRACE_DATA_DIR: /proc/x is on /proc, which cannot store files');
  });
});
