/**
 * The file of the data key: its permissions, a rotation that is killed, and its match with the settings. Proves DKY1–DKY3.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { dataKeyOf } from '../../../../src/adapters/nats/installation/index.js';
import { type DataKey, DataKeyFile, NodeIndexFiles, NodeRandom } from '../../../../src/adapters/node/index.js';
import { loadConfig } from '../../../../src/config/index.js';
import type { ByteString, PartitionName } from '../../../../src/kernel/index.js';
import { directoryOf } from '../../../support/stand-hooks.js';

const PARTITION = 'kv:db-aaaaaaaaaaaaaaaa:0' as PartitionName;

const random = new NodeRandom();
const [FIRST, SECOND] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString('base64')) as [string, string];
const hex = (key: DataKey | undefined) => Buffer.from(key?.keyFor('indexes') ?? []).toString('hex');

describe('the data key', () => {
  const dir = directoryOf('each test');
  let file: DataKeyFile;
  beforeEach(() => {
    file = new DataKeyFile(dir.path, random);
  });

  const failure = (work: Promise<unknown>) =>
    work.then(
      () => 'none',
      (error: Error) => error.message,
    );

  it('is the same for two processes that make it at the same time (DKY1)', async () => {
    const made = await Promise.all(
      Array.from({ length: 8 }, () => new DataKeyFile(dir.path, random).openOrMake(FIRST)),
    );
    expect(new Set(made.map(hex)).size).to.equal(1);
    expect(readdirSync(dir.path)).to.deep.equal(['data.key']);
  });

  it('has another derived key for each part, and none of them is in the file (DKY3)', async () => {
    const key = await file.openOrMake(FIRST);
    const derived = (['nats-server', 'read models', 'indexes', 'credentials', 'backups'] as const).map((part) =>
      Buffer.from(key.keyFor(part)),
    );
    expect(new Set(derived.map((bytes) => bytes.toString('hex'))).size).to.equal(5);
    const stored = readFileSync(file.path);
    for (const bytes of [...derived, Buffer.from(FIRST, 'base64')]) {
      for (const form of ['hex', 'base64', 'base64url'] as const)
        expect(stored.includes(bytes.toString(form))).to.equal(false);
    }
  });

  it('stays the same through a rotation, which can be repeated and ends with retire (DKY2)', async () => {
    const before = hex(await file.openOrMake(FIRST));
    for (let times = 0; times < 2; times += 1) expect(await file.addKey(FIRST, SECOND)).to.have.length(2);
    expect([hex(await file.open(FIRST)), hex(await file.open(SECOND))]).to.deep.equal([before, before]);
    expect(await file.keepOnly(SECOND)).to.have.length(1);
    expect(hex(await file.open(SECOND))).to.equal(before);
    expect(await failure(file.open(FIRST))).to.contain('give that key');
  });

  it('is refused with one line for a changed file', async () => {
    await file.openOrMake(FIRST);
    const text = readFileSync(file.path, 'utf8');
    writeFileSync(file.path, `${text.slice(0, -3)}${text.at(-3) === 'A' ? 'B' : 'A'}\n`);
    expect(await failure(file.open(FIRST))).to.equal(`${file.path} cannot be used`);
    writeFileSync(file.path, 'something else\n');
    expect(await failure(file.open(FIRST))).to.contain('does not hold sealed data keys');
  });

  const opened = (settings: Record<string, string>) =>
    dataKeyOf(loadConfig({ MILLRACE_DATA_DIR: dir.path, ...settings }).config, random);

  it('is made for a new data directory with MILLRACE_ENCRYPTION_KEY, and is needed from then on', async () => {
    expect(await opened({})).to.equal(undefined);
    expect(hex(await opened({ MILLRACE_ENCRYPTION_KEY: FIRST }))).to.have.length(64);
    const asHex = Buffer.from(FIRST, 'base64').toString('hex');
    expect(hex(await opened({ MILLRACE_ENCRYPTION_KEY: asHex }))).to.equal(hex(await file.open(FIRST)));
    expect(await failure(opened({}))).to.match(/^the data in .* is encrypted: set MILLRACE_ENCRYPTION_KEY to key /);
  });

  it('is refused for a directory with data that is not encrypted', async () => {
    writeFileSync(join(dir.path, 'layout.json'), '{}');
    expect(await failure(opened({ MILLRACE_ENCRYPTION_KEY: FIRST }))).to.contain('make a backup and restore it');
    expect(readdirSync(dir.path)).to.deep.equal(['layout.json']);
  });

  it('encrypts indexes, which are read with the same key only', async () => {
    const [index, text] = ['FT.CREATE films' as ByteString, 'a text of an index'];
    const filesWith = (byte: number) => new NodeIndexFiles(dir.path, new Uint8Array(32).fill(byte));
    const draft = filesWith(1).write(PARTITION, index);
    for (const piece of [text, ' in two pieces']) await draft.append(Buffer.from(piece));
    await draft.complete();
    const read = async (byte: number) => Buffer.from((await filesWith(byte).read(PARTITION, index)) ?? []).toString();
    expect(await read(1)).to.equal(`${text} in two pieces`);
    expect(await read(2)).to.equal('');
    const [folder = ''] = readdirSync(dir.path);
    const [name = ''] = readdirSync(join(dir.path, folder));
    expect(readFileSync(join(dir.path, folder, name)).includes(text)).to.equal(false);
  });
});
