/** Recorded bytes decode in every release: the files in test/fixtures/journals are added to, never edited. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import {
  decodeManifest,
  decodeMessage,
  EntryAssembler,
  encodeEntry,
  encodeForJournal,
  encodeManifest,
  hashSection,
  sha256,
} from '../../../../src/codec/envelope/index.js';
import type { Entry } from '../../../../src/protocol/index.js';
import { goldenEntries, goldenManifest } from './golden-values.js';

interface GoldenFile {
  readonly entries: Readonly<Record<string, string>>;
  readonly chunkSet: { readonly chunkBytes: number; readonly messages: readonly string[]; readonly hash: string };
  readonly sectionHashes: readonly string[];
  readonly manifest: string;
}

const golden = JSON.parse(
  readFileSync(`${process.cwd()}/test/fixtures/journals/envelope-v1.json`, 'utf8'),
) as GoldenFile;

describe('codec/envelope: golden files', () => {
  for (const [name, entry] of Object.entries(goldenEntries)) {
    it(`writes a ${name} to the bytes of version 1`, () => {
      expect(hex(encodeEntry(entry))).to.equal(golden.entries[name]);
    });
    it(`reads a ${name} from the bytes of version 1`, () => {
      const message = decodeMessage(unhex(golden.entries[name]));
      expect(plain(message)).to.deep.equal(plain({ kind: 'entry', entry }));
    });
  }

  it('cuts an entry into the chunk set of version 1, and joins it again', () => {
    const { chunkBytes, messages, hash } = golden.chunkSet;
    const encoded = encodeForJournal(goldenEntries.batch as Entry, chunkBytes);
    expect(encoded.messages.map(hex)).to.deep.equal(messages);
    expect(hex(encoded.hash)).to.equal(hash);
    const assembler = new EntryAssembler();
    const read = messages.map((message, i) => assembler.add(i + 5, unhex(message))).at(-1);
    expect(plain(read?.entry)).to.deep.equal(plain(goldenEntries.batch));
    expect(hex(read?.hash as Uint8Array)).to.equal(hash);
    expect([read?.firstPosition, read?.position]).to.deep.equal([5, 4 + messages.length]);
  });

  it('hashes the whole bytes of an entry, chunked or not', () => {
    expect(golden.chunkSet.hash).to.equal(hex(sha256(unhex(golden.entries.batch))));
  });

  it('hashes sections like version 1', () => {
    const body = (goldenEntries.batch as Entry).body;
    const hashes = body.kind === 'batch' ? body.sections.map((section) => hex(hashSection(section))) : [];
    expect(hashes).to.have.length(2);
    expect(hashes).to.deep.equal(golden.sectionHashes);
  });

  it('writes and reads the manifest of version 1', () => {
    expect(hex(encodeManifest(goldenManifest))).to.equal(golden.manifest);
    expect(plain(decodeManifest(unhex(golden.manifest)))).to.deep.equal(plain(goldenManifest));
  });
});

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

function unhex(text: string | undefined): Uint8Array {
  return Buffer.from(text ?? '', 'hex');
}

/** Buffers and Uint8Arrays in one form, for comparison. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return hex(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
  }
  return value;
}
