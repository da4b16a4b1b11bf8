/**
 * RESTORE payloads with a valid checksum and arbitrary content. They are refused without a change, or make a complete
 * value; time and memory stay in proportion to their bytes.
 */
import { expect } from 'chai';
import { ErrorReply } from '../../src/domain/kv/index.js';
import { sealPayload } from '../../src/domain/kv/types/rdb/encode-dump.js';
import { KvBench } from '../support/kv-bench.js';
import { type FuzzRandom, itHolds } from './fuzz-run.js';
import { FILLING } from './odd-words.js';

const FOOTER_BYTES = 10;
const TYPES = Array.from({ length: 40 }, (_, i) => i);
/** Lengths as Redis writes them: short, of 32 bits, of 64 bits. */
const HUGE = [
  '\x80\xff\xff\xff\xff',
  '\x81\xff\xff\xff\xff\xff\xff\xff\xff',
  '\x80\x7f\xff\xff\xff',
  '\x7f\xff',
  '\x81\x00\x00\x00\x01\x00\x00\x00\x00',
];

/** The payloads of keys of every kind. */
function realPayloads(): string[] {
  const bench = new KvBench();
  for (const line of FILLING) bench.run(line);
  const keys = [...new Set(FILLING.map((line) => line[1] as string))];
  return keys.map((key) => bench.run(['DUMP', key]).reply).filter((reply) => typeof reply === 'string');
}

function expectNoHarm(bench: KvBench, payload: string, random: FuzzRandom): void {
  const before = bench.engine.keyspace.size;
  bench.run(['SET', 'there', 'before']);
  const key = random.pick(['k', 'there']);
  const { reply, effects } = bench.run(['RESTORE', key, '0', payload, 'REPLACE']);
  const shown = JSON.stringify(payload.slice(0, 200));
  if (reply instanceof ErrorReply) {
    expect(reply.text, shown).to.match(/^ERR (Bad data format|DUMP payload|max single record)/);
    expect(effects, shown).to.deep.equal([]);
    expect(bench.engine.keyspace.peek('there'), shown).to.equal('before');
    expect(bench.engine.keyspace.size).to.be.at.most(before + 1);
  } else {
    expect(effects, shown).not.to.deep.equal([]);
    // What was made can be written again, and read.
    const again = bench.run(['DUMP', key]).reply as string | null;
    // A hash of which all fields have expired is removed when it is read.
    if (again === null)
      expect(
        effects.some((effect) => effect.startsWith('HPEXPIREAT')),
        shown,
      ).to.equal(true);
    else expect(bench.run(['RESTORE', 'copy', '0', again, 'REPLACE']).reply, shown).to.have.property('text', 'OK');
    bench.run(['DEL', 'copy']);
  }
  bench.expectReplayed();
  bench.expectRebuilt();
  bench.run(['DEL', key]);
}

describe('fuzz: dump payloads', () => {
  const REAL = realPayloads();

  itHolds('of damaged real values are refused or restored completely', 4000, (random) => {
    const payload = random.damaged(random.pick(REAL).slice(0, -FOOTER_BYTES));
    expectNoHarm(new KvBench(), sealPayload(payload), random);
  });

  itHolds('of random bytes after every type byte are refused or restored completely', 4000, (random) => {
    const body =
      String.fromCharCode(random.pick(TYPES)) +
      random.bytes(random.below(60), random.pick([undefined, '\x00\x01\x02\x03\x0b\xff']));
    expectNoHarm(new KvBench(), sealPayload(body), random);
  });

  itHolds('that claim more elements than they have bytes are refused quickly', 500, (random) => {
    const body = String.fromCharCode(random.pick(TYPES)) + random.pick(HUGE) + random.bytes(random.below(30));
    const start = process.cpuUsage();
    expectNoHarm(new KvBench(), sealPayload(body), random);
    expect(process.cpuUsage(start).user / 1000, 'milliseconds').to.be.lessThan(1000);
  });

  itHolds('with a wrong footer are refused', 500, (random) => {
    const real = random.pick(REAL);
    const at = random.below(real.length);
    const payload = `${real.slice(0, at)}${String.fromCharCode(real.charCodeAt(at) ^ (1 + random.below(255)))}${real.slice(at + 1)}`;
    const { reply, effects } = new KvBench().run(['RESTORE', 'k', '0', payload]);
    expect(reply).to.have.property('text', 'ERR DUMP payload version or checksum are wrong');
    expect(effects).to.deep.equal([]);
  });

  it('stay within the largest value after decompression', () => {
    // A literal byte, then references of 264 bytes to the byte before: 3 bytes each.
    const references = 60_000;
    const packed = `\x00a${'\xe0\xff\x00'.repeat(references)}`;
    const plainBytes = 1 + references * 264;
    const long = (value: number): string =>
      `\x80${String.fromCharCode((value >>> 24) & 255, (value >>> 16) & 255, (value >>> 8) & 255, value & 255)}`;
    const element = `\xc3${long(packed.length)}${long(plainBytes)}${packed}`;
    const reply = new KvBench().run(['RESTORE', 'k', '0', sealPayload(`\x01${long(10)}${element.repeat(10)}`)]).reply;
    expect(reply).to.have.property('text', 'ERR max single record size exceeded');
  });
});
