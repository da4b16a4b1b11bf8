/** Recorded backups of earlier releases: each verifies and is restored, in every release. Files are only added. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { keptBackups } from '../../../src/journal/backup/index.js';
import type { ShardName } from '../../../src/kernel/index.js';
import { BACKUP_PLANES } from '../../../src/replay/backup-planes.js';
import { MemoryFiles, MemoryInstallation, verify } from './stand.js';

interface Recorded {
  readonly digests: Readonly<Record<string, string>>;
  /** Files in base64, by name. */
  readonly files: Readonly<Record<string, string>>;
}

function recorded(name: string): { files: MemoryFiles; digests: Recorded['digests'] } {
  const text = readFileSync(`${process.cwd()}/test/fixtures/backups/${name}.json`, 'utf8');
  const { files, digests } = JSON.parse(text) as Recorded;
  const memory = new MemoryFiles();
  for (const [file, bytes] of Object.entries(files)) memory.files.set(file, Buffer.from(bytes, 'base64'));
  return { files: memory, digests };
}

/** Digests of event states depend on the stored fields of a release, and fields may be added. */
const ofDatabases = (digests: Recorded['digests']) =>
  Object.entries(digests).filter(([name]) => name.startsWith('kv:'));

describe('a recorded backup of format 1', () => {
  it('verifies, and its databases have the recorded digests', async () => {
    const { files, digests } = recorded('format-1');
    const verified = await verify(files, BACKUP_PLANES, { release: 'a later one' });
    expect(Object.keys(verified)).to.deep.equal(Object.keys(digests));
    expect(ofDatabases(verified)).to.deep.equal(ofDatabases(digests));
    expect(ofDatabases(verified)).to.have.length(2);
  });

  it('is restored: every partition, logs, and the kept backup', async () => {
    const { files } = recorded('format-1');
    const target = new MemoryInstallation(3, 2, 'new-cluster');
    const verified = await verify(files, BACKUP_PLANES, { release: 'a later one' });
    expect((await target.restore(files, BACKUP_PLANES)).digests).to.deep.equal(verified);
    expect([...(await keptBackups(target.objects))]).to.deep.equal(['moment']);
    expect((await target.journal.tail('METER' as ShardName)).last).to.equal(3);
    expect((await target.journal.tail('INTAKE_0' as ShardName)).last).to.equal(2);
  });
});
