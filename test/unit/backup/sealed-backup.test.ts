/** An encrypted backup: its files show no contents, one key opens it, and damage is reported. Proves SBK1 and SBK2. */
import { expect } from 'chai';
import { NodeRandom, sealedForReading, sealedForWriting } from '../../../src/adapters/node/index.js';
import { ALPHA } from '../../spec/journal/shard-history.js';
import { MemoryFiles, MemoryInstallation, verify } from './stand.js';

const random = new NodeRandom();
const [KEY, OTHER] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString('base64')) as [string, string];
const NAME = 'KV_0/objects-00000';
/** Three blocks, the last of them short. */
const CONTENT = Buffer.from(Array.from({ length: 150_000 }, (_, at) => at % 251));

describe('backup: encryption', () => {
  let stored: MemoryFiles;
  beforeEach(() => {
    stored = new MemoryFiles();
  });

  async function* pieces(size: number): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < CONTENT.length; at += size) yield CONTENT.subarray(at, at + size);
  }

  const failure = (work: Promise<unknown>) =>
    work.then(
      () => 'none',
      (error: Error) => error.message,
    );

  async function read(key: string | undefined, name = NAME): Promise<Buffer> {
    const found: Uint8Array[] = [];
    for await (const piece of (await (await sealedForReading(stored, key, random)).read(name)) ?? []) found.push(piece);
    return Buffer.concat(found);
  }

  it('returns the same digests and bytes as without a key, from any place of a file (SBK1)', async () => {
    const clear = await new MemoryFiles().write(NAME, pieces(1000));
    for (const size of [777, 65_536, 100_000, CONTENT.length]) {
      stored = new MemoryFiles();
      const files = await sealedForWriting(stored, KEY, random);
      expect(await files.write(NAME, pieces(size))).to.deep.equal(clear);
      expect(Buffer.compare(await read(KEY), CONTENT)).to.equal(0);
    }
    const files = await sealedForReading(stored, KEY, random);
    for (const [offset, bytes] of [
      [0, 10],
      [65_530, 12],
      [65_536, 65_536],
      [1, 140_000],
      [149_990, 1000],
    ] as const) {
      const part = Buffer.from(await files.readAt(NAME, offset, bytes));
      expect(Buffer.compare(part, CONTENT.subarray(offset, offset + bytes)), `${offset}`).to.equal(0);
    }
  });

  it('verifies with the key, and shows no text of a database without it', async () => {
    const world = new MemoryInstallation(1, 1);
    const history = world.history('KV_0', 200);
    await history.claim();
    await history.batch({ [ALPHA]: ['SET canary canary-of-a-value'] });
    const [clear, files] = [new MemoryFiles(), await sealedForWriting(stored, KEY, random)];
    await world.backup(clear);
    await world.backup(files);
    expect(await verify(await sealedForReading(stored, KEY, random))).to.deep.equal(await verify(clear));
    const shows = ({ files: all }: MemoryFiles) => [...all.values()].filter((bytes) => bytes.includes('canary')).length;
    expect([shows(clear) > 0, shows(stored)]).to.deep.equal([true, 0]);
  });

  it('is refused with another key or without one, and names the key', async () => {
    await sealedForWriting(stored, KEY, random);
    for (const key of [OTHER, undefined]) {
      const line = await failure(sealedForReading(stored, key, random));
      expect(line).to.match(/^the backup is encrypted: set MILLRACE_ENCRYPTION_KEY to key [0-9a-f]{12}$/);
    }
    expect(await sealedForReading(new MemoryFiles(), KEY, random), 'a backup without encryption').to.not.equal(
      undefined,
    );
  });

  it('reports a block that was changed, moved or taken from another file (SBK2)', async () => {
    const files = await sealedForWriting(stored, KEY, random);
    await files.write(NAME, pieces(5000));
    await files.write('KV_1/objects-00000', pieces(5000));
    const bytes = stored.files.get(NAME) as Buffer;
    const block = 65_536 + 28;
    const changed = Buffer.from(bytes);
    changed[100] = (changed[100] as number) ^ 1;
    const swapped = Buffer.concat([
      bytes.subarray(block, 2 * block),
      bytes.subarray(0, block),
      bytes.subarray(2 * block),
    ]);
    for (const damaged of [changed, swapped, stored.files.get('KV_1/objects-00000') as Buffer]) {
      stored.files.set(NAME, damaged);
      expect(await failure(read(KEY))).to.equal(`${NAME} of the backup was changed after it was written`);
    }
  });
});
