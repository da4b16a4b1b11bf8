/** The bytes of body segment indexes, and of manifests that name them. The fixture is added to, never edited. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import {
  type BodyIndex,
  decodeBodyIndex,
  decodeManifest,
  encodeBodyIndex,
  encodeManifest,
} from '../../../../src/codec/envelope/index.js';
import { isMillraceError } from '../../../../src/kernel/index.js';
import type { BodySegmentRef, Manifest, ManifestPartition } from '../../../../src/protocol/index.js';
import { repetitions } from '../../../support/depth.js';
import { goldenManifest } from './golden-values.js';

const golden = JSON.parse(readFileSync(`${process.cwd()}/test/fixtures/journals/body-segments.json`, 'utf8')) as {
  readonly index: string;
  readonly manifest: string;
};

const goldenIndex: BodyIndex = {
  numbers: Float64Array.of(5_000_000_000, 5_000_000_001, 5_000_070_000),
  ends: Uint32Array.of(12, 12, 4_194_304),
};
const object = (name: string, bytes: number, byte: number) => ({
  object: `QUEUE_1/segment/0000000000000301-0123456789abcdef-${name}`,
  bytes,
  sha256: new Uint8Array(32).fill(byte),
});
const goldenRefs: readonly BodySegmentRef[] = [
  {
    bodies: object('b0', 4_194_304, 5),
    index: object('i0', 77, 6),
    firstNumber: 5_000_000_000,
    lastNumber: 5_000_070_000,
  },
  { bodies: object('b1', 1, 7), index: object('i1', 55, 8), firstNumber: 5_000_070_001, lastNumber: 5_000_070_001 },
];
const [withBodies, without] = goldenManifest.partitions as [ManifestPartition, ManifestPartition];
const manifestWithBodies: Manifest = {
  ...goldenManifest,
  partitions: [{ ...withBodies, bodySegments: goldenRefs }, without],
};

describe('codec/envelope: body segments', () => {
  it('have an index with the bytes of version 1', () => {
    expect(hex(encodeBodyIndex(goldenIndex))).to.equal(golden.index);
    expect(decodeBodyIndex(Buffer.from(golden.index, 'hex'))).to.deep.equal(goldenIndex);
  });

  it('follow the segments of their partition in a manifest', () => {
    expect(hex(encodeManifest(manifestWithBodies))).to.equal(golden.manifest);
    const [first, second] = decodeManifest(Buffer.from(golden.manifest, 'hex')).partitions;
    expect(first?.bodySegments?.map(plain)).to.deep.equal(goldenRefs.map(plain));
    expect(second).not.to.have.property('bodySegments');
  });

  it('do not change the bytes of a manifest without them', () => {
    const partitions = goldenManifest.partitions.map((partition) => ({ ...partition, bodySegments: [] }));
    expect(hex(encodeManifest({ ...goldenManifest, partitions }))).to.equal(hex(encodeManifest(goldenManifest)));
  });

  it('have an index that is read back unchanged', () => {
    const gaps = fc.array(fc.tuple(fc.integer({ min: 1, max: 100_000 }), fc.nat(100_000)), { maxLength: 200 });
    fc.assert(
      fc.property(fc.nat(2 ** 40), gaps, (first, steps) => {
        let number = first;
        let end = 0;
        const rows = steps.map(([gap, length]) => {
          number += gap;
          end += length;
          return [number, end] as const;
        });
        const index = { numbers: Float64Array.from(rows, ([n]) => n), ends: Uint32Array.from(rows, ([, e]) => e) };
        expect(decodeBodyIndex(encodeBodyIndex(index))).to.deep.equal(index);
      }),
      { numRuns: repetitions(50) },
    );
  });

  it('have an index that is refused as damage when it is out of order or cut', () => {
    const unordered = { numbers: Float64Array.of(1, 3, 3), ends: Uint32Array.of(1, 2, 3) };
    const falling = { numbers: Float64Array.of(1, 2), ends: Uint32Array.of(2, 1) };
    const whole = encodeBodyIndex(goldenIndex);
    for (const bytes of [
      encodeBodyIndex(unordered),
      encodeBodyIndex(falling),
      whole.subarray(0, -1),
      Buffer.of(0x90),
    ]) {
      expect(() => decodeBodyIndex(bytes))
        .to.throw()
        .and.satisfy((e: unknown) => isMillraceError(e, 'JOURNAL_DAMAGED'));
    }
  });
});

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

function plain({ bodies, index, ...numbers }: BodySegmentRef) {
  return {
    ...numbers,
    bodies: { ...bodies, sha256: hex(bodies.sha256) },
    index: { ...index, sha256: hex(index.sha256) },
  };
}
