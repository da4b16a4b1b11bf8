/** Proves IXF1 and IXF2: the files of indexes. */
import { spawnSync } from 'node:child_process';
import { readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { NodeIndexFiles } from '../../../../src/adapters/node/index.js';
import type { PartitionName } from '../../../../src/kernel/index.js';
import { directoryOf } from '../../../support/stand-hooks.js';

const PARTITION = 'kv:db-aaaaaaaaaaaaaaaa:0' as PartitionName;

describe('files of indexes', () => {
  let files: NodeIndexFiles;
  const root = directoryOf('each test');

  beforeEach(() => {
    files = new NodeIndexFiles(join(root.path, 'indexes'));
  });

  async function written(index: string, ...pieces: string[]): Promise<string> {
    const draft = files.write(PARTITION, index);
    for (const piece of pieces) await draft.append(Buffer.from(piece));
    await draft.complete();
    return join(root.path, 'indexes', 'kv_db-aaaaaaaaaaaaaaaa_0');
  }

  it('return the pieces as one, and replace an earlier file', async () => {
    expect(await files.read(PARTITION, 'a')).to.equal(undefined);
    await written('a', 'old');
    await written('a', 'one', '', 'two');
    expect(String(await files.read(PARTITION, 'a'))).to.equal('onetwo');
  });

  it('are not read when a byte is changed or the end is missing', async () => {
    const directory = await written('a', 'one', 'two');
    const [name = ''] = await readdir(directory);
    const whole = await readFile(join(directory, name));
    for (let at = 0; at < whole.length; at += 1) {
      const damaged = Buffer.from(whole);
      damaged[at] = (damaged[at] as number) ^ 1;
      await writeFile(join(directory, name), damaged);
      expect(await files.read(PARTITION, 'a'), `byte ${at}`).to.equal(undefined);
      await writeFile(join(directory, name), whole.subarray(0, at));
      expect(await files.read(PARTITION, 'a'), `${at} bytes`).to.equal(undefined);
    }
  });

  it('are removed with their partition', async () => {
    await written('a', 'one');
    await files.keepOnlyOf([PARTITION]);
    expect(String(await files.read(PARTITION, 'a'))).to.equal('one');
    await files.keepOnlyOf([]);
    expect(await readdir(join(root.path, 'indexes'))).to.deep.equal([]);
  });

  it('are removed with their index', async () => {
    const directory = await written('a', 'one');
    await written('b', 'two');
    await files.keepOnly(PARTITION, ['b']);
    expect(await readdir(directory)).to.have.length(1);
    expect(String(await files.read(PARTITION, 'b'))).to.equal('two');
    await files.keepOnly(PARTITION, []);
    expect(await readdir(join(root.path, 'indexes'))).to.deep.equal([]);
  });

  it('are not removed while they are being written, by this process or another one', async () => {
    const draft = files.write(PARTITION, 'c');
    await draft.append(Buffer.from('half'));
    const directory = await written('b', 'two');
    const ofOther = join(directory, `${process.ppid}-other.draft`);
    await writeFile(ofOther, 'half');
    await files.keepOnly(PARTITION, []);
    expect(await readdir(directory)).to.have.length(2);
    await draft.complete();
    expect(String(await files.read(PARTITION, 'c'))).to.equal('half');
  });

  it('are removed unfinished after a kill of their process, even if its id is used again', async () => {
    const directory = await written('a', 'one');
    const ended = spawnSync(process.execPath, ['--version']).pid;
    const longAgo = new Date(Date.now() - 3_600_000);
    for (const id of [ended, process.pid, process.ppid]) await writeFile(join(directory, `${id}-old.draft`), 'half');
    await utimes(join(directory, `${process.ppid}-old.draft`), longAgo, longAgo);
    await files.keepOnly(PARTITION, ['a']);
    expect(await readdir(directory)).to.have.length(1);
  });
});
