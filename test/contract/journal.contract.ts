/**
 * Promises of every journal adapter (src/ports/journal.ts, JN1–JN7). A harness gives two clients of one server, so that
 * each promise is also checked between processes. Titles carry the promise's number. Proves JJ2, JJ3.
 */
import { expect } from 'chai';
import { isMillraceError, type ShardName } from '../../src/kernel/index.js';
import type { AppendOutcome, Journal, StoredMessage } from '../../src/ports/index.js';
import { eventually } from '../support/eventually.js';
import { standOfAllTests } from '../support/stand-hooks.js';

export interface JournalHarness {
  readonly journal: Journal;
  /** A second client of the same server. */
  readonly other: Journal;
  /** A new shard with an empty stream. */
  freshShard(): Promise<ShardName>;
  /** A shard that has no stream. */
  readonly missingShard: ShardName;
  /** Makes the server stop answering until the returned function is called; absent where that cannot be. */
  stall?(): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** @param canStall its harness has a server that can fall silent */
export function journalContract(name: string, makeHarness: () => Promise<JournalHarness>, canStall = false): void {
  describe(`journal contract: ${name}`, () => {
    const harness = standOfAllTests(() => makeHarness());
    let journal: Journal;
    let shard: ShardName;

    before(async () => {
      journal = harness.journal;
    });

    beforeEach(async () => {
      shard = await harness.freshShard();
    });

    describe('append', () => {
      it('JN1 starts at position 1 and grows by one with every stored message', async () => {
        expect(await positionsOf(journal, shard, 5)).to.deep.equal([1, 2, 3, 4, 5]);
      });

      it('JN1 counts each shard separately', async () => {
        const second = await harness.freshShard();
        await fill(journal, shard, 3);
        expect(await journal.append(second, text('x'), 0)).to.deep.equal({ kind: 'stored', position: 1 });
      });

      it('JN2 refuses an expectation that is too low, and names the last position', async () => {
        await fill(journal, shard, 3);
        const outcome = await journal.append(shard, text('late'), 2);
        expect(outcome.kind).to.equal('conflict');
        expect((outcome as { last: number | undefined }).last).to.be.oneOf([3, undefined]);
      });

      it('JN2 refuses an expectation that is too high', async () => {
        await fill(journal, shard, 1);
        expect((await journal.append(shard, text('early'), 2)).kind).to.equal('conflict');
      });

      it('JN2 lets exactly one of many racing writers win each position', async () => {
        for (let expected = 0; expected < 10; expected += 1) {
          const tries = Array.from({ length: 8 }, (_, writer) =>
            (writer % 2 === 0 ? journal : harness.other).append(shard, text(`${expected}/${writer}`), expected),
          );
          const outcomes = await Promise.all(tries);
          expect(outcomes.filter((outcome) => outcome.kind === 'stored')).to.have.lengthOf(1);
          expect(outcomes.filter((outcome) => outcome.kind === 'conflict')).to.have.lengthOf(7);
        }
      });

      it('JN2 checks pipelined appends of one caller in the order of the calls', async () => {
        const outcomes = await Promise.all(
          Array.from({ length: 20 }, (_, index) => journal.append(shard, text(`chunk ${index}`), index)),
        );
        expect(outcomes).to.deep.equal(outcomes.map((_, index) => ({ kind: 'stored', position: index + 1 })));
        expect(texts(await all(journal.read(shard, 1, 20)))[19]).to.equal('chunk 19');
      });

      it('JN4 leaves no trace of a refused append', async () => {
        await fill(journal, shard, 2);
        await journal.append(shard, text('refused'), 0);
        await journal.append(shard, text('refused'), 7);
        expect(await journal.append(shard, text('third'), 2)).to.deep.equal({ kind: 'stored', position: 3 });
        expect(texts(await all(journal.read(shard, 1, 3)))).to.deep.equal(['message 1', 'message 2', 'third']);
      });

      it('JN4 rejects, and does not throw, when the shard has no stream', async () => {
        const outcome = await journal.append(harness.missingShard, text('lost'), 0);
        expect(outcome.kind).to.equal('rejected');
      });

      it('keeps every byte value, empty messages and messages of 512 KiB', async () => {
        const everyByte = Uint8Array.from({ length: 256 }, (_, value) => value);
        const large = new Uint8Array(512 * 1024).fill(0xa5);
        const messages = [everyByte, new Uint8Array(0), large];
        for (const [index, bytes] of messages.entries()) await stored(journal.append(shard, bytes, index));
        const read = await all(harness.other.read(shard, 1, 3));
        for (const [index, bytes] of messages.entries()) expectSameBytes(read[index]?.bytes, bytes);
      });

      it('JN6 keeps its own copy of the bytes', async () => {
        const bytes = text('before');
        await stored(journal.append(shard, bytes, 0));
        bytes.fill(0);
        const read = await eventually(async () => present(await journal.readAt(shard, 1)));
        expectSameBytes(read, text('before'));
        read.fill(0);
        expectSameBytes(await eventually(async () => present(await journal.readAt(shard, 1))), text('before'));
      });

      const whenSilent = canStall ? it : () => undefined;
      whenSilent(
        'JN5 resolves without throwing while the server does not answer, and a repetition gives a definite outcome',
        async function (this: Mocha.Context) {
          await fill(journal, shard, 1);
          const resume = (await harness.stall?.()) ?? (async () => {});
          let outcome: AppendOutcome;
          try {
            outcome = await journal.append(shard, text('in doubt'), 1);
          } finally {
            await resume();
          }
          expect(outcome.kind).to.be.oneOf(['unknown', 'rejected']);
          await eventually(
            async () => {
              const repeat = await journal.append(shard, text('in doubt'), 1);
              expect(repeat.kind).to.be.oneOf(['stored', 'conflict']);
            },
            { timeoutMs: 15_000 },
          );
          expectSameBytes(await eventually(async () => present(await journal.readAt(shard, 2))), text('in doubt'));
        },
      );
    });

    describe('readAt', () => {
      it('JN6 finds a stored message, also from another client', async () => {
        await fill(journal, shard, 3);
        const found = await eventually(async () => present(await harness.other.readAt(shard, 2)));
        expectSameBytes(found, text('message 2'));
      });

      it('answers undefined for a position beyond the end', async () => {
        await fill(journal, shard, 1);
        expect(await journal.readAt(shard, 2)).to.equal(undefined);
      });

      it('answers undefined for a position that was truncated', async () => {
        await fill(journal, shard, 3);
        await journal.truncateFront(shard, 3);
        expect(await eventually(async () => absent(await journal.readAt(shard, 1)))).to.equal(undefined);
      });
    });

    describe('read', () => {
      it('returns every position of the range in order', async () => {
        await fill(journal, shard, 10);
        const messages = await all(harness.other.read(shard, 3, 7));
        expect(messages.map((message) => message.position)).to.deep.equal([3, 4, 5, 6, 7]);
        expect(texts(messages)[0]).to.equal('message 3');
      });

      it('returns no message for an empty range', async () => {
        await fill(journal, shard, 2);
        expect(await all(journal.read(shard, 3, 2))).to.deep.equal([]);
      });

      it('shows when each message was stored, in order', async () => {
        await fill(journal, shard, 3);
        const times = (await all(journal.read(shard, 1, 3))).map((message) => message.storedAtMs);
        expect(times).to.deep.equal([...times].sort((a, b) => a - b));
        expect(times[0]).to.be.greaterThan(Date.parse('2020-01-01'));
      });

      it('can be left early and started again', async () => {
        await fill(journal, shard, 5);
        for await (const message of journal.read(shard, 1, 5)) if (message.position === 2) break;
        expect(await all(journal.read(shard, 1, 5))).to.have.lengthOf(5);
      });

      it('fails as damaged when the range begins before the first position', async () => {
        await fill(journal, shard, 5);
        await journal.truncateFront(shard, 4);
        await failsWith('JOURNAL_DAMAGED', all(journal.read(shard, 2, 5)));
      });

      it('fails as unavailable, in bounded time, when the last position does not appear', async () => {
        await fill(journal, shard, 2);
        await failsWith('JOURNAL_UNAVAILABLE', all(journal.read(shard, 1, 3)));
      });

      it('reads a thousand messages without a gap', async () => {
        await Promise.all(Array.from({ length: 1000 }, (_, index) => journal.append(shard, text(`${index}`), index)));
        const messages = await all(harness.other.read(shard, 1, 1000));
        expect(texts(messages)).to.deep.equal(Array.from({ length: 1000 }, (_, index) => `${index}`));
      });
    });

    describe('follow', () => {
      it('delivers existing messages and then new ones, in order and once each', async () => {
        await fill(journal, shard, 3);
        const seen: string[] = [];
        const follower = { onMessage: (m: StoredMessage) => void seen.push(textOf(m.bytes)), onAlive: () => {} };
        const subscription = harness.other.follow(shard, 2, follower);
        await eventually(() => expect(seen).to.have.lengthOf(2));
        await fill(journal, shard, 5);
        await eventually(() => expect(seen).to.deep.equal([2, 3, 4, 5].map((n) => `message ${n}`)));
        subscription.stop();
      });

      it('waits for a position that does not exist yet', async () => {
        const positions: number[] = [];
        const subscription = harness.other.follow(shard, 1, {
          onMessage: (message) => void positions.push(message.position),
          onAlive: () => {},
        });
        await fill(journal, shard, 2);
        await eventually(() => expect(positions).to.deep.equal([1, 2]));
        subscription.stop();
      });

      it('reports that the journal answers while no message arrives', async () => {
        let alive = 0;
        const onAlive = () => {
          alive += 1;
        };
        const subscription = journal.follow(shard, 1, { onMessage: () => {}, onAlive });
        await eventually(() => expect(alive).to.be.at.least(3));
        subscription.stop();
      });

      it('delivers no message after stop', async () => {
        const stoppedSaw: number[] = [];
        const otherSaw: number[] = [];
        const stopped = journal.follow(shard, 1, {
          onMessage: (message) => void stoppedSaw.push(message.position),
          onAlive: () => {},
        });
        const other = journal.follow(shard, 1, {
          onMessage: (message) => void otherSaw.push(message.position),
          onAlive: () => {},
        });
        await fill(journal, shard, 1);
        await eventually(() => expect([stoppedSaw, otherSaw]).to.deep.equal([[1], [1]]));
        stopped.stop();
        await fill(journal, shard, 3);
        await eventually(() => expect(otherSaw).to.deep.equal([1, 2, 3]));
        expect(stoppedSaw).to.deep.equal([1]);
        other.stop();
      });

      it('does not call back before follow has returned', async () => {
        await fill(journal, shard, 1);
        let returned = false;
        const calledBefore: boolean[] = [];
        const subscription = journal.follow(shard, 1, {
          onMessage: () => void calledBefore.push(!returned),
          onAlive: () => {},
        });
        returned = true;
        await eventually(() => expect(calledBefore).to.deep.equal([false]));
        subscription.stop();
      });
    });

    describe('tail', () => {
      it('shows an empty journal as last 0, first 1, without holes', async () => {
        const tail = await journal.tail(shard);
        expect([tail.first, tail.last, tail.bytes, tail.holes]).to.deep.equal([1, 0, 0, 0]);
      });

      it('JN7 shows the last position eventually', async () => {
        await fill(journal, shard, 4);
        await eventually(async () => {
          const tail = await harness.other.tail(shard);
          expect([tail.first, tail.last, tail.holes]).to.deep.equal([1, 4, 0]);
          expect(tail.bytes).to.be.at.least(4 * 'message 1'.length);
        });
      });

      it('shows the same creation time for the same stream', async () => {
        const before = (await journal.tail(shard)).createdAt;
        await fill(journal, shard, 2);
        expect((await harness.other.tail(shard)).createdAt).to.equal(before);
        expect(before).to.not.equal('');
      });

      it('fails as damaged when the stream is missing', async () => {
        await failsWith('JOURNAL_DAMAGED', journal.tail(harness.missingShard));
      });
    });

    describe('truncateFront', () => {
      it('removes the messages below the position only', async () => {
        await fill(journal, shard, 6);
        await journal.truncateFront(shard, 4);
        await eventually(async () => {
          const tail = await journal.tail(shard);
          expect([tail.first, tail.last, tail.holes]).to.deep.equal([4, 6, 0]);
        });
        expect(texts(await all(journal.read(shard, 4, 6)))).to.deep.equal(['message 4', 'message 5', 'message 6']);
      });

      it('JN1 does not change the counting of positions', async () => {
        await fill(journal, shard, 3);
        await journal.truncateFront(shard, 3);
        expect(await journal.append(shard, text('next'), 3)).to.deep.equal({ kind: 'stored', position: 4 });
      });

      it('may be repeated', async () => {
        await fill(journal, shard, 3);
        await journal.truncateFront(shard, 2);
        await journal.truncateFront(shard, 2);
        expect((await journal.tail(shard)).first).to.equal(2);
      });

      it('refuses a position that is not stored, and removes no message', async () => {
        await fill(journal, shard, 3);
        for (const keepFrom of [4, 100, 0, -1]) {
          await fails(journal.truncateFront(shard, keepFrom));
        }
        const tail = await journal.tail(shard);
        expect([tail.first, tail.last]).to.deep.equal([1, 3]);
      });

      it('refuses an empty journal', async () => {
        await fails(journal.truncateFront(shard, 1));
        expect(await journal.append(shard, text('first'), 0)).to.deep.equal({ kind: 'stored', position: 1 });
      });
    });
  });
}

/** Appends `message 1` … until the journal has `last` messages. */
async function fill(journal: Journal, shard: ShardName, last: number): Promise<void> {
  for (let position = 1; position <= last; position += 1) {
    const outcome = await journal.append(shard, text(`message ${position}`), position - 1);
    expect(outcome.kind).to.be.oneOf(['stored', 'conflict']);
  }
}

async function positionsOf(journal: Journal, shard: ShardName, count: number): Promise<number[]> {
  const positions: number[] = [];
  for (let index = 0; index < count; index += 1) positions.push(await stored(journal.append(shard, text('m'), index)));
  return positions;
}

async function stored(outcome: Promise<AppendOutcome>): Promise<number> {
  const settled = await outcome;
  expect(settled.kind).to.equal('stored');
  return (settled as { position: number }).position;
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

async function fails(promise: Promise<unknown>): Promise<unknown> {
  const outcome = await promise.then(
    () => 'it succeeded',
    (error: unknown) => error,
  );
  expect(isMillraceError(outcome), `expected a MillraceError, not: ${String(outcome)}`).to.equal(true);
  return outcome;
}

async function failsWith(code: string, promise: Promise<unknown>): Promise<void> {
  expect(((await fails(promise)) as { code: string }).code).to.equal(code);
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('nothing there yet');
  return value;
}

function absent<T>(value: T | undefined): undefined {
  if (value !== undefined) throw new Error('still there');
  return undefined;
}

function expectSameBytes(actual: Uint8Array | undefined, expected: Uint8Array): void {
  expect(actual === undefined ? 'nothing' : Buffer.compare(actual, expected)).to.equal(0);
}

const text = (value: string): Uint8Array => new TextEncoder().encode(value);
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const texts = (messages: StoredMessage[]): string[] => messages.map((message) => textOf(message.bytes));
