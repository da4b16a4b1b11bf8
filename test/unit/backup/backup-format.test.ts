/** The files of a backup: records are read back as they were written, and changed files are refused. Proves BMA1. */
import { expect } from 'chai';
import { readManifest } from '../../../src/journal/backup/index.js';
import { placesOf, readRecords, writeRecords } from '../../../src/journal/backup/record-files.js';
import { FORMAT_LEVEL, isMillraceError } from '../../../src/kernel/index.js';
import { repetitions } from '../../support/depth.js';
import { MemoryFiles, MemoryInstallation } from './stand.js';

interface Named {
  readonly name: string;
  readonly content: Uint8Array;
}

const RECORDS: readonly Named[] = [
  { name: 'empty', content: new Uint8Array() },
  { name: 'ż/1', content: Buffer.from('one') },
  { name: 'large', content: Buffer.alloc(100, 'x') },
  { name: 'last', content: Buffer.from([0, 255]) },
];

async function* each(records: readonly Named[]): AsyncGenerator<Named> {
  yield* records;
}

async function all(records: AsyncIterable<Named>): Promise<Named[]> {
  const read: Named[] = [];
  for await (const { name, content } of records) read.push({ name, content: Buffer.from(content) });
  return read;
}

const asBuffers = RECORDS.map(({ name, content }) => ({ name, content: Buffer.from(content) }));

describe('backup: files of records', () => {
  it('are read back in order, from files within the size limit unless one record is larger', async () => {
    const files = new MemoryFiles();
    const refs = await writeRecords(files, 'KV_0/objects-', each(RECORDS), 40);
    expect(refs.map(({ name }) => name)).to.deep.equal([
      'KV_0/objects-00000',
      'KV_0/objects-00001',
      'KV_0/objects-00002',
    ]);
    expect(await all(readRecords(files, refs))).to.deep.equal(asBuffers);
  });

  it('are found by name without reading the whole file', async () => {
    const files = new MemoryFiles();
    const refs = await writeRecords(files, 'KV_0/objects-', each(RECORDS), 60);
    const places = await placesOf(files, refs);
    for (const { name, content } of RECORDS) {
      const place = places.get(name);
      if (place === undefined) throw new Error(`${name} is not found`);
      expect(Buffer.from(await files.readAt(place.file, place.offset, place.bytes))).to.deep.equal(
        Buffer.from(content),
      );
    }
  });

  it('are absent without records', async () => {
    const files = new MemoryFiles();
    expect(await writeRecords(files, 'KV_0/entries-', each([]))).to.deep.equal([]);
    expect(files.files.size).to.equal(0);
  });

  it('are refused when one ends within a record, at any place', async () => {
    const files = new MemoryFiles();
    const refs = await writeRecords(files, 'x-', each(RECORDS.slice(1, 3)));
    const whole = files.files.get('x-00000') as Buffer;
    const endOfFirst = 8 + Buffer.byteLength('ż/1') + 3;
    for (let bytes = 1; bytes < whole.length; bytes += 1) {
      if (bytes === endOfFirst) continue;
      files.files.set('x-00000', whole.subarray(0, bytes));
      const error = await all(readRecords(files, refs)).catch((cause: unknown) => cause);
      expect(isMillraceError(error, 'JOURNAL_DAMAGED'), `cut at ${bytes}`).to.equal(true);
    }
  });
});

describe('backup: manifest', () => {
  it('is refused when any byte is changed', async () => {
    const files = new MemoryFiles();
    const world = new MemoryInstallation(1, 1);
    await world.history('KV_0').claim();
    const written = await world.backup(files);
    expect(await readManifest(files)).to.deep.equal(written);
    const whole = Buffer.from(files.files.get('manifest.json') as Buffer);
    // Only the newline follows the last brace.
    for (let at = 0; at < whole.length - 1; at += 1) {
      for (let step = 0; step < repetitions(8, 1); step += 1) {
        const bit = (at + step) % 8;
        const damaged = Buffer.from(whole);
        damaged[at] = (damaged[at] as number) ^ (1 << bit);
        files.files.set('manifest.json', damaged);
        const error = await readManifest(files).catch((cause: unknown) => cause);
        expect(isMillraceError(error, 'JOURNAL_DAMAGED'), `bit ${bit} of byte ${at}`).to.equal(true);
      }
    }
  });

  it('has the format level of its contents, and is refused by a program that reads a lower level', async () => {
    const world = new MemoryInstallation(1, 1);
    world.formatLevel = FORMAT_LEVEL;
    const files = new MemoryFiles();
    expect((await world.backup(files)).format).to.equal(FORMAT_LEVEL);
    expect((await readManifest(files)).format).to.equal(FORMAT_LEVEL);
    const refusalOf = async (format: number) => {
      world.formatLevel = format;
      await world.backup(files);
      return readManifest(files).catch((cause: unknown) => cause);
    };
    const newer = await refusalOf(FORMAT_LEVEL + 1);
    expect(isMillraceError(newer, 'NEWER_FORMAT')).to.equal(true);
    expect(String(newer)).to.contain(
      `the backup was written by a newer release (level ${FORMAT_LEVEL + 1}, this program reads up to ${FORMAT_LEVEL})`,
    );
    const unknown = await refusalOf(0);
    expect(isMillraceError(unknown, 'INVALID')).to.equal(true);
    expect(String(unknown)).to.contain('a backup of format 0, which this release cannot read');
  });

  it('marks a backup as complete: without it the backup is refused', async () => {
    const files = new MemoryFiles();
    const world = new MemoryInstallation(1, 1);
    await world.backup(files);
    files.files.delete('manifest.json');
    const error = await readManifest(files).catch((cause: unknown) => cause);
    expect(isMillraceError(error, 'INVALID')).to.equal(true);
    expect(String(error)).to.contain('no complete backup');
  });
});
