/** Continuous backups in a bucket: a process that is killed and loses its disk, and restores from the bucket alone. Proves SBU1, SBU2. */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { backup, type Lines, linesOf } from '../support/backup-stand.js';
import { eventually } from '../support/eventually.js';
import {
  type Environment,
  embeddedEnvironment,
  endEverything,
  type MillraceProcess,
  runMillrace,
  startMillrace,
  temporaryDirectory,
} from '../support/millrace-process.js';
import { S3Server } from '../support/s3-server.js';

const KEY = Buffer.alloc(32, 7).toString('base64');
const PREFIX = 'company/installation';

interface Write {
  readonly value: number;
  readonly atMs: number;
}

describe('continuous backups in a bucket', function () {
  this.timeout(120_000);
  let s3: S3Server;
  let env: Environment;
  let sealKey: string;
  let bucket: string;
  let folder: string;
  let middle: { readonly at: string; readonly value: number; readonly state: string };
  const writes: Write[] = [];
  /** The state at the end of each write that the copy is known to have. */
  let copied = 0;

  before(async () => {
    const place = await temporaryDirectory();
    bucket = join(place, 'objects');
    sealKey = join(place, 'kept.key');
    await mkdir(bucket);
    s3 = new S3Server(bucket);
    await s3.start();
    const dataDir = join(place, 'data');
    env = {
      ...(await embeddedEnvironment(dataDir)),
      ...s3.environment(PREFIX),
      MILLRACE_BACKUP_ROUND_MS: '500',
      MILLRACE_ENCRYPTION_KEY: KEY,
    };
    const millrace = await startMillrace({ dataDir, env });
    await countUp(millrace, 30);
    await eventually(async () => expect(await copiedUntil(millrace)).to.be.greaterThan(lastWrite().atMs));
    await unreachable(millrace);
    const at = new Date().toISOString();
    const { value } = lastWrite();
    await eventually(() => expect(Date.now()).to.be.greaterThan(Date.parse(at)));
    await countUp(millrace, 30);
    middle = { at, value, state: await replayedAt(at) };
    await eventually(async () => expect(await copiedUntil(millrace)).to.be.greaterThan(lastWrite().atMs));
    copied = lastWrite().value;
    await countUp(millrace, 5);
    await writeFile(sealKey, await readFile(join(dataDir, 'seal.key')));
    await millrace.kill('SIGKILL');
    await rm(dataDir, { recursive: true, force: true });
    [folder = ''] = await readdir(join(bucket, 'backups', PREFIX));
  });
  after(async () => {
    await s3?.stop();
    await endEverything();
  });

  function lastWrite(): Write {
    return writes.at(-1) ?? { value: 0, atMs: 0 };
  }

  async function countUp({ kv }: MillraceProcess, times: number): Promise<void> {
    for (let n = 0; n < times; n += 1) {
      const value = Number(await kv.ask('INCR', 'counter'));
      writes.push({ value, atMs: Date.now() });
    }
  }

  /** From the metrics of the process. */
  async function copiedUntil(millrace: MillraceProcess): Promise<number> {
    const age = await metric(millrace, 'millrace_backup_age_seconds');
    expect(await metric(millrace, 'millrace_backup_full_age_seconds')).to.not.equal(undefined);
    return Date.now() - Number(age) * 1000;
  }

  async function metric({ metricsUrl }: MillraceProcess, name: string): Promise<number | undefined> {
    const text = await (await fetch(`${metricsUrl}/metrics`)).text();
    const line = text.split('\n').find((each) => each.startsWith(`${name} `));
    return line === undefined ? undefined : Number(line.slice(name.length));
  }

  /** A bucket that does not answer delays no write, and is copied to again when it answers. */
  async function unreachable(millrace: MillraceProcess): Promise<void> {
    await s3.stop();
    await countUp(millrace, 10);
    await eventually(async () => {
      expect(await metric(millrace, 'millrace_backup_failures_total')).to.be.greaterThan(0);
    });
    const doctor = await runMillrace(['doctor'], env);
    expect(doctor.stdout.toString()).to.match(/fail +backups +s3:\/\/backups\/company\/installation: .*ECONNREFUSED/);
    await s3.start();
    await eventually(async () => expect(await copiedUntil(millrace)).to.be.greaterThan(lastWrite().atMs));
  }

  /** The state of the database at a moment, as its journal has it. */
  async function replayedAt(at: string): Promise<string> {
    const { stdout, stderr, code } = await runMillrace(
      ['journal', 'replay', '--database', 'default', '--at', at, '--json'],
      env,
    );
    if (code !== 0) throw new Error(stderr);
    const facts = stdout.toString().trim().split('\n');
    const part = facts.map((line) => JSON.parse(line) as { partition?: string; state?: string });
    return part.find(({ partition }) => partition?.startsWith('kv:'))?.state ?? 'none';
  }

  async function verifiedAt(...args: readonly string[]): Promise<Lines> {
    return linesOf(await backup(['verify', s3.place(PREFIX), ...args], env));
  }

  const databaseIn = (lines: Lines) => Object.entries(lines).find(([name]) => name.startsWith('kv:'))?.[1] ?? '';

  it('`millrace backup list` prints the moments of each full backup', async () => {
    const { stdout } = await backup(['list', '--json'], env);
    const { backups } = JSON.parse(stdout.toString()) as {
      readonly backups: readonly { readonly folder: string; readonly from: string; readonly to: string }[];
    };
    expect(backups.map((each) => each.folder)).to.deep.equal([folder]);
    const [{ from, to } = { from: '', to: '' }] = backups;
    expect(from < middle.at && middle.at < to, `${from} to ${to}`).to.equal(true);
  });

  it('`millrace backup restore` on a machine with an empty disk has every write older than the last round', async () => {
    const dataDir = join(await temporaryDirectory(), 'data');
    const fresh = { ...env, MILLRACE_DATA_DIR: dataDir, MILLRACE_BACKUP_TO: '' };
    const lines = linesOf(await backup(['restore', '--from', s3.place(PREFIX), '--key-from', sealKey], fresh));
    expect(lines).to.deep.equal(await verifiedAt());
    const restored = await startMillrace({ dataDir, env: fresh });
    const value = Number(await restored.kv.ask('GET', 'counter'));
    expect(value).to.be.within(copied, lastWrite().value);
    await restored.kill();
  });

  it('`--at` gives the state of that moment, equal to a replay of the journal', async () => {
    const lines = await verifiedAt('--at', middle.at);
    expect(databaseIn(lines)).to.contain(`digest=${middle.state}`);
  });

  it('with another key is refused with the name of the key', async () => {
    const other = { ...env, MILLRACE_ENCRYPTION_KEY: Buffer.alloc(32, 8).toString('base64') };
    const { code, stderr } = await runMillrace(['backup', 'verify', s3.place(PREFIX)], other);
    expect(code).to.equal(1);
    expect(stderr).to.match(/the backup is encrypted: set MILLRACE_ENCRYPTION_KEY to key [0-9a-f]{12}/);
  });

  it('shows no text of a database in any object', async () => {
    const names = await readdir(join(bucket, 'backups'), { recursive: true, withFileTypes: true });
    const files = names.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    expect(files.length).to.be.greaterThan(10);
    for (const file of files) expect((await readFile(file)).includes('counter'), file).to.equal(false);
  });

  it('`millrace backup verify` names an object that was changed', async () => {
    const objects = await readdir(join(bucket, 'backups', PREFIX, folder), { recursive: true });
    const ofJournal = /^(KV_[0-9]+\/later-.*)\._S3rver_object$/;
    const [key = ''] = objects.flatMap((name) => ofJournal.exec(name)?.[1] ?? []);
    const file = s3.fileOf(`${PREFIX}/${folder}/${key}`);
    const bytes = await readFile(file);
    bytes[20] = (bytes[20] ?? 0) ^ 1;
    await writeFile(file, bytes);
    const { code, stderr } = await runMillrace(['backup', 'verify', s3.place(PREFIX)], env);
    expect(code).to.equal(1);
    expect(stderr).to.contain(`${key} of the backup was changed after it was written`);
  });
});
