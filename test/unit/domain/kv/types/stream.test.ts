/** Proves STM3, STM4, SG1, SG2. */
import { expect } from 'chai';
import { PARAMETER_DEFAULTS } from '../../../../../src/domain/kv/parameters.js';
import { Settings } from '../../../../../src/domain/kv/settings.js';
import { Stream } from '../../../../../src/domain/kv/types/stream.js';
import type { ConsumerGroup } from '../../../../../src/domain/kv/types/stream-group.js';
import { packId } from '../../../../../src/domain/kv/types/stream-id.js';
import { UndoLog } from '../../../../../src/domain/kv/undo-log.js';
import { seededRandom } from '../../../../support/kv-bench.js';

const SETTINGS = new Settings(PARAMETER_DEFAULTS);
const id = (number: number) => packId(number, 0);

describe('streams', () => {
  it('share the field names of an entry with the entry before, when they are the same (STM3)', () => {
    const stream = new Stream();
    stream.append(id(1), ['a', '1', 'b', '2'], SETTINGS);
    stream.append(id(2), ['a', '3', 'b', '4'], SETTINGS);
    stream.append(id(3), ['b', '5', 'a', '6'], SETTINGS);
    stream.append(id(4), ['b', '7'], SETTINGS);
    const names = [1, 2, 3, 4].map((number) => stream.entry(id(number))?.names);
    expect(names).to.deep.equal([['a', 'b'], ['a', 'b'], ['b', 'a'], ['b']]);
    expect(names[1]).to.equal(names[0]);
    expect(stream.entry(id(2))?.values).to.deep.equal(['3', '4']);
  });

  it('are equal when an entry of very many fields is added in slices, and show it only at the end (STM3, STM4)', () => {
    const fields = (last: string) =>
      Array.from({ length: 5000 }, (_, at) => [`name${at}`, `value${at}`])
        .flat()
        .with(-2, last);
    const [inSlices, atOnce] = [new Stream(), new Stream()];
    for (const [at, words] of [fields('a'), fields('a'), fields('b'), ['c', 'd']].entries()) {
      atOnce.append(id(at + 1), words, SETTINGS);
      const slices = inSlices.appendInSlices(id(at + 1), words, SETTINGS);
      while (slices.next().done !== true) expect(inSlices.has(id(at + 1))).to.equal(false);
    }
    expect([...inSlices.entries()]).to.deep.equal([...atOnce.entries()]);
    expect([inSlices.bytes, inSlices.blockCount]).to.deep.equal([atOnce.bytes, atOnce.blockCount]);
    const names = [1, 2, 3].map((number) => inSlices.entry(id(number))?.names);
    expect([names[1] === names[0], names[2] === names[1]]).to.deep.equal([true, false]);
  });

  it('count bytes that follow from their contents alone, with names shared or not (STM4)', () => {
    const { float } = seededRandom(16);
    const below = (limit: number): number => Math.floor(float() * limit);
    const stream = new Stream();
    for (let i = 1; i <= 3000; i += 1) {
      const undo = sometimesUndone(stream, float);
      const words = Array.from({ length: 1 + below(3) }, (_, at) => [`name${at}`, 'v'.repeat(below(40))]).flat();
      stream.append(id(i), words, SETTINGS);
      if (float() < 0.3) stream.delete(id(1 + below(i)));
      if (float() < 0.02) stream.shiftBlock();
      if (stream.undo !== undefined) undo.revertCollections();
      if (i % 100 > 0) continue;
      // An entry with other names comes before each one, so that no names are shared.
      const again = new Stream();
      for (const [entryId, { names, values }] of stream.entries()) {
        again.append(entryId, ['other', ''], SETTINGS);
        again.remove(entryId);
        again.append(
          entryId,
          names.flatMap((name, at) => [name, values[at] as string]),
          SETTINGS,
        );
      }
      for (const other of [again, stream.clone()]) {
        expect([other.bytes, other.payloadBytes]).to.deep.equal([stream.bytes, stream.payloadBytes]);
      }
    }
  });
});

describe('groups of a stream', () => {
  it('hold a pending entry once for the group and once for its consumer, and count it consistently (SG1, SG2)', () => {
    const { float } = seededRandom(17);
    const below = (limit: number): number => Math.floor(float() * limit);
    const stream = new Stream();
    let taken = 0;
    for (let i = 1; i <= 4000; i += 1) {
      const undo = sometimesUndone(stream, float);
      const name = `group${below(3)}`;
      const group = stream.group(name) ?? stream.addGroup(name, id(0), 0);
      changePending(group, below);
      if (float() < 0.01) stream.removeGroup(group);
      if (stream.undo !== undefined) {
        undo.revertCollections();
        taken += 1;
      }
      if (i % 10 > 0) continue;
      for (const one of stream.groups()) expectOnePending(one);
      expect(rebuilt(stream).bytes).to.equal(stream.bytes);
      expect(stream.clone().bytes).to.equal(stream.bytes);
    }
    expect(taken).to.be.greaterThan(100);
    for (const group of stream.groups()) stream.removeGroup(group);
    expect(stream.bytes).to.equal(new Stream().bytes);
  });
});

function sometimesUndone(stream: Stream, float: () => number): UndoLog {
  const undo = new UndoLog();
  if (float() < 0.2) undo.follow(stream);
  return undo;
}

function changePending(group: ConsumerGroup, below: (limit: number) => number): void {
  const name = `consumer${below(4)}`;
  const consumer = group.consumer(name) ?? group.addConsumer(name);
  const entry = id(below(30));
  const choice = below(10);
  if (choice < 6) group.assign(entry, consumer, below(1000), 1);
  else if (choice < 9) group.acknowledge(entry);
  else for (const _ of group.removeConsumer(consumer));
}

function expectOnePending(group: ConsumerGroup): void {
  const ofConsumers = group.consumers().flatMap((consumer) => [...consumer.pending.entries()]);
  expect(ofConsumers.length).to.equal(group.pending.size);
  for (const [entry, pending] of ofConsumers) expect(group.pending.get(entry)).to.equal(pending);
  for (const consumer of group.consumers()) {
    for (const [, pending] of consumer.pending.entries()) expect(pending.consumer).to.equal(consumer);
  }
}

/** The present groups, consumers and pending entries, each added once. */
function rebuilt(stream: Stream): Stream {
  const again = new Stream();
  for (const group of stream.groups()) {
    const copy = again.addGroup(group.name, group.lastId, group.entriesRead);
    for (const consumer of group.consumers().toReversed()) {
      const another = copy.addConsumer(consumer.name);
      for (const [entry, { deliveredAtMs, deliveries }] of consumer.pending.entries()) {
        copy.assign(entry, another, deliveredAtMs, deliveries);
      }
    }
  }
  return again;
}
