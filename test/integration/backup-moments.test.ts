/**
 * Moments of databases: they are stored while a real process serves, and restored into it, over NATS and in the thread.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { connect, JetStreamObjectStore, Names } from '../../src/adapters/nats/index.js';
import type { BackupId } from '../../src/kernel/index.js';
import { MomentsStand } from '../support/backup-moments-stand.js';
import { backup, linesOf, verified } from '../support/backup-stand.js';
import { eventually } from '../support/eventually.js';
import { embeddedEnvironment, startMillrace, temporaryDirectory } from '../support/millrace-process.js';
import { standOfAllTests } from '../support/stand-hooks.js';

const KEYS = 2000;
const BACKUP = '7b7c2a0e-2f6c-4c79-9d39-0d7c7f3d5a11' as BackupId;
const textOf = (n: number) => `value ${n} `.repeat(100);

describe('moments of databases', function () {
  this.timeout(120_000);
  const stand = standOfAllTests(() => MomentsStand.start({ MILLRACE_KV_SHARDS: '3', MILLRACE_SNAPSHOT_ENTRIES: '40' }));

  it('are restored whole, in one entry, while clients go on writing', async () => {
    const { kv } = stand.millrace;
    for (let n = 0; n < KEYS; n += 100) {
      const some = Array.from({ length: 100 }, (_, i) => ['SET', `key:${n + i}`, textOf(n + i)]);
      expect((await kv.pipeline(some)).kind).to.equal('done');
    }
    await kv.ask('RPUSH', 'list', 'a', 'b');
    const { bytes, database, manifests } = await stand.keep(BACKUP);
    expect(manifests).to.have.length(1);
    expect(bytes).to.be.greaterThan(KEYS * 1000);

    await kv.ask('FLUSHALL');
    await kv.ask('SET', 'new', 1);
    const stop = new AbortController();
    let answered = 0;
    const client = (async () => {
      for (; !stop.signal.aborted; answered += 1) await kv.ask('INCR', 'counter');
    })();
    await eventually(() => expect(answered).to.be.greaterThan(10));
    await stand.keeper.restore(database, manifests);
    const seen = answered;
    await eventually(() => expect(answered).to.be.greaterThan(seen + 10), { timeoutMs: 30_000 });
    stop.abort();
    await client;
    expect(await kv.ask('DBSIZE')).to.equal(KEYS + 2);
    expect(await kv.ask('GET', 'new')).to.equal(null);
    expect(await kv.ask('LRANGE', 'list', 0, -1)).to.deep.equal(['a', 'b']);
    for (let n = 0; n < KEYS; n += 101) expect(await kv.ask('GET', `key:${n}`)).to.equal(textOf(n));
  });

  it('are part of a backup of the installation, and of the installation restored from it', async () => {
    const { account } = await stand.defaultDatabase();
    const { manifests } = await stand.backup(account, BACKUP);
    const dir = await temporaryDirectory();
    const [directory, key] = [join(dir, 'backup'), join(dir, 'kept.key')];
    const made = await stand.cluster.run(['backup', 'create', '--to', directory, '--key-to', key]);
    expect(made.code, made.stderr).to.equal(0);
    const env = { ...(await embeddedEnvironment(join(dir, 'data'))), MILLRACE_KV_SHARDS: '2' };
    const lines = await verified(directory, env);
    expect(linesOf(await backup(['restore', '--from', directory, '--key-from', key], env))).to.deep.equal(lines);
    const again = await startMillrace({ dataDir: join(dir, 'data'), env });
    expect(await again.kv.ask('DBSIZE')).to.equal(KEYS + 2);
    const objects = await keptIn(again.dataDir);
    expect(objects).to.include.members([...manifests]);
    expect(objects).to.have.length(2);
    expect(await again.kv.ask('GET', 'key:1')).to.equal(textOf(1));
    await again.kill('SIGTERM');
  });

  it('can be deleted once they are restored: the next owner does not read them', async () => {
    const { account } = await stand.defaultDatabase();
    const { manifests } = await stand.backup(account, BACKUP);
    await stand.keeper.delete(manifests);
    expect(await stand.objects.list('backup/')).to.deep.equal([]);
    await stand.restart();
    const { kv } = stand.millrace;
    expect(await kv.ask('DBSIZE')).to.equal(KEYS + 2);
    expect(await kv.ask('GET', 'key:7')).to.equal(textOf(7));
    const { code, stdout } = await stand.cluster.run(['journal', 'verify', '--database', 'default']);
    expect(stdout.toString()).to.contain('ok\n');
    expect(code).to.equal(0);
  });
});

/** Names of the stored objects for moments, on the embedded server of a process. */
async function keptIn(dataDir: string): Promise<string[]> {
  const file = await readFile(join(dataDir, 'nats', 'client.json'), 'utf8');
  const { url, user, password } = JSON.parse(file) as Record<'url' | 'user' | 'password', string>;
  const connections = await connect({ servers: [url], user, password });
  try {
    const found = await new JetStreamObjectStore(connections, new Names('')).list('backup/');
    return found.map(({ name }) => name);
  } finally {
    await connections.close();
  }
}
