import { expect } from 'chai';
import fc from 'fast-check';
import { crc64 } from '../../../../src/domain/kv/types/crc64.js';
import { addLongDoubles } from '../../../../src/domain/kv/types/long-double.js';
import { decompressLzf } from '../../../../src/domain/kv/types/lzf.js';
import { bodyOf, decodeDump, isIntact } from '../../../../src/domain/kv/types/rdb/decode-dump.js';
import { encodeStringDump as dumpString } from '../../../../src/domain/kv/types/rdb/encode-dump.js';
import { BadFormat } from '../../../../src/domain/kv/types/rdb/rdb-reader.js';
import { xxh3 } from '../../../../src/domain/kv/types/xxh3.js';
import { repetitions } from '../../../support/depth.js';

const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array).toString('latin1'));

/** The string in a payload; undefined for a payload that cannot be read. */
function restoreString(payload: string, maxBytes: number): string | undefined {
  try {
    const [words] = decodeDump(bodyOf(payload), 'k', maxBytes);
    return words?.[0] === 'SET' ? words[2] : undefined;
  } catch (error) {
    if (error instanceof BadFormat) return undefined;
    throw error;
  }
}

describe('dump payloads', () => {
  it('have the checksum of the published check value', () => {
    expect(crc64(Buffer.from('123456789'), 9).readBigUInt64LE().toString(16)).to.equal('e9c6d914c4b8d9ca');
  });

  it('are restored unchanged, for all bytes', () => {
    fc.assert(fc.property(bytes, (value) => restoreString(dumpString(value), 1000) === value));
  });

  it('are restored unchanged for integers of every width', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
        (value) => restoreString(dumpString(value), 1000) === value,
      ),
    );
  });

  it('are invalid after any bit has changed', () => {
    const payload = dumpString('some value');
    for (let at = 0; at < payload.length; at += 1) {
      const changed = payload.slice(0, at) + String.fromCharCode(payload.charCodeAt(at) ^ 4) + payload.slice(at + 1);
      expect(isIntact(changed), `byte ${at}`).to.equal(false);
    }
  });

  it('with random contents are restored or refused, and never throw', () => {
    fc.assert(
      fc.property(bytes, (body) => {
        const value = restoreString(`\0${body}${'f'.repeat(10)}`, 1000);
        return value === undefined || value.length <= 1000;
      }),
      { numRuns: repetitions(3000) },
    );
  });

  it('that claim to expand above the limit are refused before an allocation', () => {
    const body = '\0\xc3\x02\x81\x00\x00\x00\x7f\xff\xff\xff\xff\x00a';
    expect(restoreString(body + 'f'.repeat(10), 100)).to.equal(undefined);
  });
});

describe('LZF', () => {
  it('repeats a short pattern that overlaps its output', () => {
    expect(decompressLzf(Buffer.from([1, 0x61, 0x62, 0xe0, 0, 1]), 11)?.toString()).to.equal('abababababa');
  });

  it('refuses references before the start, and wrong lengths', () => {
    expect(decompressLzf(Buffer.from([0, 0x61, 0x20, 5]), 4)).to.equal(undefined);
    expect(decompressLzf(Buffer.from([0, 0x61]), 2)).to.equal(undefined);
    expect(decompressLzf(Buffer.from([3, 0x61]), 4)).to.equal(undefined);
    expect(decompressLzf(Buffer.from([0, 0x61, 0x20]), 4)).to.equal(undefined);
  });

  it('never throws, for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.nat(100), (data, length) => {
        const plain = decompressLzf(data, length);
        return plain === undefined || plain.length === length;
      }),
    );
  });
});

describe('long doubles', () => {
  it('add integers exactly up to 64 bits', () => {
    const int = fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n });
    fc.assert(
      fc.property(int, int, (a, b) => {
        const sum = addLongDoubles(String(a), String(b));
        return sum?.kind === 'finite' && sum.text === String(a + b);
      }),
    );
  });

  it('add doubles with the precision of doubles', () => {
    const float = fc.double({ min: -1e12, max: 1e12, noNaN: true });
    fc.assert(
      fc.property(float, float, (a, b) => {
        const sum = addLongDoubles(String(a), String(b));
        return sum?.kind === 'finite' && Math.abs(Number(sum.text) - (a + b)) <= 2e-4 * Number.EPSILON * 1e16;
      }),
    );
  });

  it('are refused where the text is no number, for any length', () => {
    for (const text of ['', '.', 'e5', '1e', '--1', '1 ', ' 1', '0x10', 'nan', '1_0', '9'.repeat(6000), '1e99999999']) {
      expect(addLongDoubles(text, '1'), text.slice(0, 20)).to.equal(undefined);
    }
  });
});

describe('XXH3', () => {
  const rows: [string, string][] = [
    ['', '2d06800538d394c2'],
    ['hello', '9555e8555c62dcfd'],
  ];
  for (const [value, hash] of rows) {
    it(`of ${JSON.stringify(value)}`, () => expect(xxh3(value)).to.equal(hash));
  }

  it('hashes bytes, not text', () => {
    expect(xxh3('\xff')).not.to.equal(xxh3('\xc3\xbf'));
  });
});
