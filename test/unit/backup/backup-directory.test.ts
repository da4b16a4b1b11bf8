/** The directory of a backup: accepted ones and refused ones. Proves BD1, BD2, BF1. */
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { BackupDirectory } from '../../../src/adapters/node/index.js';
import { type ErrorCode, isMillraceError } from '../../../src/kernel/index.js';

describe('backup: directory', () => {
  let path: string;

  beforeEach(async () => {
    path = join(await mkdtemp(join(tmpdir(), 'millrace-backup-')), 'backup');
  });
  afterEach(() => rm(join(path, '..'), { recursive: true, force: true }));

  async function* pieces(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
    for (const text of texts) yield Buffer.from(text);
  }

  async function refusal(step: Promise<unknown>): Promise<ErrorCode | undefined> {
    const error = await step.catch((cause: unknown) => cause);
    return isMillraceError(error) ? error.code : undefined;
  }

  it('is created, and its files are complete and private', async () => {
    const directory = new BackupDirectory(path);
    await directory.begin();
    const ref = await directory.write('KV_0/objects-00000', pieces('one', 'two'));
    expect(ref).to.deep.include({ name: 'KV_0/objects-00000', bytes: 6 });
    expect((await stat(join(path, 'KV_0/objects-00000'))).mode & 0o777).to.equal(0o600);
    expect((await stat(join(path, 'KV_0'))).mode & 0o777).to.equal(0o700);
    expect(Buffer.from(await directory.readAt('KV_0/objects-00000', 2, 100)).toString()).to.equal('etwo');
    const read: Uint8Array[] = [];
    for await (const piece of (await directory.read('KV_0/objects-00000')) ?? []) read.push(piece);
    expect(Buffer.concat(read).toString()).to.equal('onetwo');
    expect(await directory.read('KV_0/objects-00001')).to.equal(undefined);
  });

  it('has no part of a file that could not be read completely', async () => {
    const directory = new BackupDirectory(path);
    await directory.begin();
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('half');
      throw new Error('no more');
    }
    const error = await directory.write('KV_0/entries-00000', failing()).catch((cause: unknown) => cause);
    expect(String(error)).to.contain('no more');
    expect(await readdir(join(path, 'KV_0'))).to.deep.equal([]);
  });

  it('is started again after an interrupted attempt, also one that had just begun', async () => {
    for (const left of ['incomplete', '.incomplete.7e0c']) {
      await mkdir(join(path, 'KV_0'), { recursive: true });
      await writeFile(join(path, left), '');
      if (left === 'incomplete') await writeFile(join(path, 'KV_0', 'entries-00000.part'), 'half');
      else await rm(join(path, 'KV_0'), { recursive: true });
      await new BackupDirectory(path).begin();
      expect(await readdir(path)).to.deep.equal(['incomplete']);
      await new BackupDirectory(path).end();
      expect(await readdir(path)).to.deep.equal([]);
    }
  });

  it('is refused when it has other files, or a backup', async () => {
    await mkdir(path);
    await writeFile(join(path, 'mine'), '');
    expect(await refusal(new BackupDirectory(path).begin())).to.equal('CONFLICT');
    await rm(join(path, 'mine'));
    await writeFile(join(path, 'manifest.json'), '');
    await writeFile(join(path, 'incomplete'), '');
    expect(await refusal(new BackupDirectory(path).begin())).to.equal('CONFLICT');
  });

  it('opens no file outside of it, for any name in a manifest', async () => {
    const directory = new BackupDirectory(path);
    await directory.begin();
    for (const name of ['../outside', '/etc/hostname', 'KV_0/../../outside', 'a/b/c', '']) {
      expect(await refusal(directory.read(name)), name).to.equal('JOURNAL_DAMAGED');
      expect(await refusal(directory.readAt(name, 0, 1)), name).to.equal('JOURNAL_DAMAGED');
    }
  });
});
