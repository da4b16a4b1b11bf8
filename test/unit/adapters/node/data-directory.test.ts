/** What is wrong with a directory for data is said before anything is made there. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { directoryTrouble, refuseUnusableDirectory } from '../../../../src/adapters/node/index.js';
import { isMillraceError } from '../../../../src/kernel/index.js';

describe('a directory for data', () => {
  let dir = '';
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'millrace-directory-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  it('is fine where it is there, or can be made', async () => {
    expect(await directoryTrouble(dir)).to.equal(undefined);
    expect(await directoryTrouble(join(dir, 'not', 'yet'))).to.equal(undefined);
  });

  it('is none when it is a file, or lies below one', async () => {
    const file = join(dir, 'file');
    writeFileSync(file, '');
    expect(await directoryTrouble(file)).to.equal(`${file} is a file, not a directory`);
    expect(await directoryTrouble(join(file, 'data'))).to.equal(`${file} is a file, not a directory`);
  });

  it('is not kept where the kernel makes files up', async () => {
    for (const path of ['/proc', '/proc/self/millrace', '/proc/millrace/deeper']) {
      expect(await directoryTrouble(path)).to.equal(`${path} is on /proc, where nothing can be kept`);
    }
  });

  it('is not kept where this user may not write', async function () {
    // Whoever is root may.
    if (process.getuid?.() === 0) this.skip();
    const closed = join(dir, 'closed');
    mkdirSync(closed);
    chmodSync(closed, 0o500);
    expect(await directoryTrouble(join(closed, 'data'))).to.equal(`${closed} is not writable for this user`);
  });

  it('is refused with its setting and the cause, each once', async () => {
    const refused = await refuseUnusableDirectory('/proc/x', 'MILLRACE_DATA_DIR').catch((error: unknown) => error);
    expect(isMillraceError(refused, 'BAD_CONFIG')).to.equal(true);
    expect((refused as Error).message).to.equal('MILLRACE_DATA_DIR: /proc/x is on /proc, where nothing can be kept');
  });
});
