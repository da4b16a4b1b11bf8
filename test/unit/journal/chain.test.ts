import { expect } from 'chai';
import { encodeEntry, hashSection, NO_HASH, type ReadEntry, sha256 } from '../../../src/codec/envelope/index.js';
import { Chain, EMPTY_HEAD } from '../../../src/journal/index.js';
import { isMillraceError, type PartitionName, type ShardName } from '../../../src/kernel/index.js';
import type { Entry, EntryBody, Section } from '../../../src/protocol/index.js';

const SHARD = 'KV_0' as ShardName;
const ALPHA = 'kv:db-aaaaaaaaaaaaaaaa:0' as PartitionName;
const BETA = 'kv:db-bbbbbbbbbbbbbbbb:0' as PartitionName;

const claim: EntryBody = { kind: 'claim', clusterId: 'c' };
const section = (partition: PartitionName, index: number, before?: Section): Section => ({
  partition,
  index,
  previousHash: before === undefined ? NO_HASH : hashSection(before),
  effects: Uint8Array.of(index),
});
const batch = (...sections: Section[]): EntryBody => ({ kind: 'batch', commandIds: [], sections });

/** The next valid entry after `before`, except for `changes`. */
function next(before: ReadEntry | undefined, body: EntryBody, changes: Partial<Entry> = {}): ReadEntry {
  const entry: Entry = {
    shard: SHARD,
    epoch: before?.entry.epoch ?? 1,
    writer: new Uint8Array(16),
    number: (before?.entry.number ?? 0) + 1,
    previousHash: before?.hash ?? NO_HASH,
    clockMs: before?.entry.clockMs ?? 1000,
    body,
    ...changes,
  };
  const bytes = encodeEntry(entry);
  const position = (before?.position ?? 0) + 1;
  return { entry, hash: sha256(bytes), totalBytes: bytes.length, position, firstPosition: position };
}

describe('journal: the chain', () => {
  const first = next(undefined, claim);
  const one = section(ALPHA, 1);
  const second = next(first, batch(one, section(BETA, 1)));

  function followed(...reads: ReadEntry[]): Chain {
    const chain = new Chain(SHARD, EMPTY_HEAD);
    for (const read of reads) chain.follow(read);
    return chain;
  }

  it('follows entries and each partition separately, and reports its position', () => {
    const two = section(ALPHA, 2, one);
    const third = next(second, batch(two));
    const chain = followed(first, second, third);
    expect(chain.head).to.deep.equal({ number: 3, hash: third.hash, epoch: 1, clockMs: 1000, position: 3 });
    expect(chain.sectionLink(ALPHA)).to.deep.equal({ number: 2, hash: hashSection(two) });
    expect(chain.sectionLink(BETA).number).to.equal(1);
    expect(chain.sectionLink('kv:db-cccccccccccccccc:0' as PartitionName)).to.deep.equal({ number: 0, hash: NO_HASH });
  });

  it('lets the epoch rise with a claim, and the clock stand still or rise', () => {
    const third = next(second, claim, { epoch: 5, clockMs: 1000 });
    expect(followed(first, second, third, next(third, batch(), { clockMs: 1001 })).head.epoch).to.equal(5);
  });

  const breaks: Readonly<Record<string, ReadEntry>> = {
    'an entry of another shard': next(second, batch(), { shard: 'KV_1' as ShardName }),
    'a number that is left out': next(second, batch(), { number: 4 }),
    'a number that comes twice': next(second, batch(), { number: 2 }),
    'an entry that does not name the one before': next(second, batch(), { previousHash: first.hash }),
    'an epoch that falls': next(second, claim, { epoch: 0 }),
    'an epoch that begins without a claim': next(second, batch(), { epoch: 2 }),
    'a clock that falls': next(second, batch(), { clockMs: 999 }),
    'a section whose index is left out': next(second, batch(section(ALPHA, 3, one))),
    'a section whose index comes twice': next(second, batch(section(ALPHA, 1))),
    'a section that does not name the one before': next(second, batch(section(ALPHA, 2))),
    'a partition that does not begin at one': next(second, batch(section('kv:new:0' as PartitionName, 2))),
  };
  for (const [fault, read] of Object.entries(breaks)) {
    it(`finds ${fault}`, () => {
      const chain = followed(first, second);
      expectDamage(() => chain.follow(read));
    });
  }

  it('finds a journal without its first entry', () => {
    expectDamage(() => followed(second));
  });

  it('trusts the first entry, and the first section of each partition, when configured to', () => {
    const chain = new Chain(SHARD, undefined);
    const seventh = next(undefined, batch(section(ALPHA, 7, one)), { number: 70 });
    chain.follow(seventh);
    expect(chain.head.number).to.equal(70);
    expectDamage(() => chain.follow(next(seventh, batch(), { number: 72 })));
  });

  it('verifies every link after a snapshot', () => {
    const links = [[ALPHA, { number: 1, hash: hashSection(one) }]] as const;
    const head = { number: 2, hash: second.hash, epoch: 1, clockMs: 1000, position: 2 };
    const good = next(second, batch(section(ALPHA, 2, one), section(BETA, 1)));
    const chain = new Chain(SHARD, head, links);
    chain.follow(good);
    expect(chain.head.number).to.equal(3);
    expectDamage(() => new Chain(SHARD, head, links).follow(next(second, batch(section(BETA, 2)))));
    expectDamage(() => new Chain(SHARD, head, links).follow(next(first, batch())));
  });
});

function expectDamage(act: () => unknown): void {
  try {
    act();
  } catch (error) {
    expect(isMillraceError(error, 'JOURNAL_DAMAGED'), String(error)).to.equal(true);
    return;
  }
  expect.fail('nothing was found');
}
