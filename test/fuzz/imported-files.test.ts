/**
 * RDB files and append-only files that are damaged or made up. A read of such a file ends with keys or with an error
 * that names a byte of the file; memory follows the size of the file and ignores the lengths it claims.
 */
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readAof } from '../../src/cli/import/aof/aof-file.js';
import { DamagedFile, FileBytes } from '../../src/cli/import/file-bytes.js';
import { readRdb } from '../../src/cli/import/rdb/rdb-file.js';
import { encodeCommand } from '../../src/codec/resp/index.js';
import { KvBench } from '../support/kv-bench.js';
import { rdbFile, text } from '../support/rdb-writer.js';
import { type FuzzRandom, itHolds } from './fuzz-run.js';
import { FILLING } from './odd-words.js';

const FOOTER_BYTES = 10;
const MOST_VALUE_BYTES = 1024;

describe('fuzz: imported Redis files', () => {
  let dir: string;
  before(() => {
    dir = mkdtempSync(join(tmpdir(), 'millrace-fuzz-rdb-'));
  });
  after(() => rmSync(dir, { recursive: true, force: true }));

  function expectAnEnd(bytes: Buffer, read: (input: FileBytes) => Iterable<unknown> = parts): void {
    const path = join(dir, 'file');
    writeFileSync(path, bytes);
    const file = openSync(path, 'r');
    try {
      expect([...read(new FileBytes(file))].length).to.be.at.most(bytes.length);
    } catch (error) {
      if (!(error instanceof DamagedFile)) throw error;
      expect(error.offset).to.be.within(0, bytes.length);
    } finally {
      closeSync(file);
    }
  }

  function* parts(input: FileBytes): Iterable<unknown> {
    for (const part of readRdb(input, MOST_VALUE_BYTES)) {
      if (part.kind === 'key') {
        expect(part.key.payload?.length ?? 0).to.be.at.most(MOST_VALUE_BYTES + 1 + FOOTER_BYTES);
      }
      yield part;
    }
  }

  const REAL = realRecords();

  itHolds('with damaged real values are read to an end', 2000, (random) => {
    const whole = rdbFile(random.list(5, () => random.pick(REAL))).toString('latin1');
    expectAnEnd(Buffer.from(random.damaged(whole), 'latin1'));
  });

  itHolds('of damaged commands are read to an end', 2000, (random) => {
    const whole = random.list(5, () => encodeCommand(random.list(4, () => random.bytes(random.below(9))))).join('');
    expectAnEnd(Buffer.from(random.damaged(whole), 'latin1'), readAof);
  });

  itHolds('of random bytes after a valid header are read to an end', 2000, (random) => {
    expectAnEnd(Buffer.from(`REDIS0011${nonsense(random)}`, 'latin1'));
  });
});

function realRecords(): string[] {
  const bench = new KvBench();
  for (const line of FILLING) bench.run(line);
  const keys = [...new Set(FILLING.map((line) => line[1] as string))];
  return keys.flatMap((key) => {
    const payload = bench.run(['DUMP', key]).reply;
    if (typeof payload !== 'string') return [];
    return [payload[0] + text(key) + payload.slice(1, -FOOTER_BYTES)];
  });
}

function nonsense(random: FuzzRandom): string {
  const mark = String.fromCharCode(random.chance(0.7) ? random.below(28) : 243 + random.below(13));
  return mark + random.bytes(random.below(200)) + (random.chance(0.3) ? `\xff${random.bytes(8)}` : '');
}
