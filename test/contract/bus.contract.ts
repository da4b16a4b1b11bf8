/**
 * Promises of every bus (src/ports/bus.ts): at most once, in order from one sender, and distinct failures. Proves MB1.
 */
import { expect } from 'chai';
import { isMillraceError, MillraceError, type SessionId, type ShardName } from '../../src/kernel/index.js';
import type { Bus, Subscription, Topic } from '../../src/ports/index.js';
import { eventually } from '../support/eventually.js';

export interface BusHarness {
  /** Two processes on one network. */
  readonly bus: Bus;
  readonly other: Bus;
  close(): Promise<void>;
}

/** Long enough for a loaded machine; no test waits for it to pass. */
const PATIENT_MS = 5000;
const QUERY: Topic = { kind: 'query' };
/** Short, for the tests in which no answer is to come. */
const IMPATIENT_MS = 200;

export function busContract(name: string, makeHarness: () => Promise<BusHarness>): void {
  describe(`bus contract: ${name}`, () => {
    let harness: BusHarness;
    let bus: Bus;
    let other: Bus;
    let shard: ShardName;
    let made = 0;
    const open: Subscription[] = [];

    before(async () => {
      harness = await makeHarness();
      ({ bus, other } = harness);
    });
    after(async () => harness?.close());
    beforeEach(() => {
      made += 1;
      shard = `KV_${made}` as ShardName;
    });
    afterEach(() => {
      for (const subscription of open.splice(0)) subscription.stop();
    });

    const command = (): Topic => ({ kind: 'command', shard });
    const notice = (): Topic => ({ kind: 'notice', shard });

    function collect(on: Bus, topic: Topic): string[] {
      const seen: string[] = [];
      open.push(on.subscribe(topic, (payload) => void seen.push(textOf(payload))));
      return seen;
    }

    /** Publishing again is needed where a subscription takes a moment to become known; duplicates are harmless here. */
    async function heardBy(seen: string[], topic: Topic, payload: string): Promise<void> {
      await eventually(() => {
        if (!seen.includes(payload)) bus.publish(topic, text(payload));
        expect(seen).to.include(payload);
      });
    }

    async function serving(
      on: Bus,
      topic: Topic,
      handler: (payload: Uint8Array) => Promise<Uint8Array>,
    ): Promise<void> {
      let ready = false;
      open.push(
        on.serve(topic, async (payload) => {
          if (textOf(payload) === 'are you there') return text('yes');
          return handler(payload);
        }),
      );
      // If an earlier test served the same topic, a request may reach its server, which does not answer.
      await eventually(async () => {
        ready = textOf(await bus.request(topic, text('are you there'), IMPATIENT_MS)) === 'yes';
        expect(ready).to.equal(true);
      });
    }

    describe('publish and subscribe', () => {
      for (const kind of ['heartbeat', 'notice', 'session'] as const) {
        it(`carries a ${kind} to every subscriber, also of the publisher`, async () => {
          const topic: Topic =
            kind === 'heartbeat'
              ? { kind }
              : kind === 'notice'
                ? { kind, shard }
                : { kind, session: `node-${made}` as SessionId };
          const here = collect(bus, topic);
          const there = collect(other, topic);
          const thereToo = collect(other, topic);
          for (const seen of [here, there, thereToo]) await heardBy(seen, topic, `hello ${made}`);
        });
      }

      it('keeps the order of one publisher', async () => {
        const seen = collect(other, notice());
        await heardBy(seen, notice(), 'start');
        for (let index = 0; index < 100; index += 1) bus.publish(notice(), text(`n${index}`));
        await eventually(() =>
          expect(seen.filter((message) => message !== 'start')).to.deep.equal(
            Array.from({ length: 100 }, (_, index) => `n${index}`),
          ),
        );
      });

      it('keeps topics apart', async () => {
        const stranger = collect(other, { kind: 'notice', shard: `${shard}0` as ShardName });
        const seen = collect(other, notice());
        await heardBy(seen, notice(), 'mine');
        bus.publish(notice(), text('last'));
        await eventually(() => expect(seen).to.include('last'));
        expect(stranger).to.deep.equal([]);
      });

      it('delivers no message after stop', async () => {
        const stopped: string[] = [];
        const subscription = other.subscribe(notice(), (payload) => void stopped.push(textOf(payload)));
        const seen = collect(other, notice());
        await heardBy(seen, notice(), 'one');
        await eventually(() => expect(stopped).to.include('one'));
        subscription.stop();
        bus.publish(notice(), text('two'));
        await eventually(() => expect(seen).to.include('two'));
        expect(stopped).to.not.include('two');
      });

      it('carries a message larger than one NATS message', async () => {
        const large = 'x'.repeat(2 * 1024 * 1024);
        const seen = collect(other, notice());
        await heardBy(seen, notice(), 'start');
        bus.publish(notice(), text(large));
        await eventually(() => expect(seen.at(-1)?.length).to.equal(large.length));
      });

      it('accepts a message without subscribers', () => {
        bus.publish(notice(), text('into the void'));
        expect(bus.isConnected()).to.equal(true);
      });
    });

    describe('request and serve', () => {
      it('returns the answer of another process', async () => {
        await serving(other, command(), async (payload) => text(`echo ${textOf(payload)}`));
        expect(textOf(await bus.request(command(), text('a'), PATIENT_MS))).to.equal('echo a');
      });

      it('returns the answer of the same process', async () => {
        await serving(bus, command(), async (payload) => text(`echo ${textOf(payload)}`));
        expect(textOf(await bus.request(command(), text('b'), PATIENT_MS))).to.equal('echo b');
      });

      it('matches answers with their requests, in any order', async () => {
        const held: (() => void)[] = [];
        await serving(other, command(), async (payload) => {
          await new Promise<void>((resolve) => held.push(resolve));
          return payload;
        });
        const requests = Array.from({ length: 20 }, (_, n) => bus.request(command(), text(`${n}`), PATIENT_MS));
        await eventually(() => expect(held).to.have.lengthOf(20));
        for (const release of held.reverse()) release();
        const answers = (await Promise.all(requests)).map(textOf);
        expect(answers).to.deep.equal(Array.from({ length: 20 }, (_, n) => `${n}`));
      });

      it('carries empty, binary and large payloads both ways', async () => {
        await serving(other, command(), async (payload) => payload);
        const large = Uint8Array.from({ length: 2 * 1024 * 1024 + 3 }, (_, index) => (index * 7 + (index >> 8)) & 0xff);
        for (const payload of [new Uint8Array(0), Uint8Array.from([0, 255, 10, 13]), large]) {
          expect(Buffer.compare(await bus.request(command(), payload, PATIENT_MS), payload)).to.equal(0);
        }
      });

      it('fails as unavailable, without waiting, when the topic has no server', async () => {
        expect((await failureOf(bus.request(command(), text('x'), PATIENT_MS))).code).to.equal('SHARD_UNAVAILABLE');
      });

      it('fails as unavailable when the service was stopped', async () => {
        await serving(other, command(), async (payload) => payload);
        for (const subscription of open.splice(0)) subscription.stop();
        await eventually(async () =>
          expect((await failureOf(bus.request(command(), text('x'), IMPATIENT_MS))).code).to.equal('SHARD_UNAVAILABLE'),
        );
      });

      it('fails as timed out when the service does not answer', async () => {
        let received = 0;
        await serving(other, command(), () => {
          received += 1;
          return new Promise(() => {});
        });
        expect((await failureOf(bus.request(command(), text('x'), IMPATIENT_MS))).code).to.equal('TIMED_OUT');
        expect(received).to.equal(1);
      });

      it('returns a failure of the service with its code, message and details', async () => {
        await serving(other, command(), async () => {
          throw new MillraceError('MAILBOX_FULL', 'no room for more', { shard, commands: 7 });
        });
        const failure = await failureOf(bus.request(command(), text('x'), PATIENT_MS));
        expect([failure.code, failure.message, failure.details]).to.deep.equal([
          'MAILBOX_FULL',
          'no room for more',
          { shard, commands: 7 },
        ]);
      });

      it('returns the answer of any process with the read models', async () => {
        const asked: string[] = [];
        for (const on of [bus, other]) {
          await serving(on, QUERY, async (payload) => {
            asked.push(textOf(payload));
            return text(`answer to ${textOf(payload)}`);
          });
        }
        expect(textOf(await bus.request(QUERY, text('who'), PATIENT_MS))).to.equal('answer to who');
        expect(new Set(asked)).to.deep.equal(new Set(['who']));
      });

      it('delivers no query to a shard, and no command to the read models', async () => {
        const heard: string[] = [];
        const noting = (name: string) => async (payload: Uint8Array) => {
          heard.push(`${name}: ${textOf(payload)}`);
          return payload;
        };
        await serving(other, QUERY, noting('read models'));
        await serving(other, command(), noting('shard'));
        await bus.request(QUERY, text('question'), PATIENT_MS);
        await bus.request(command(), text('command'), PATIENT_MS);
        expect(heard).to.deep.equal(['read models: question', 'shard: command']);
      });

      it('fails a query as unavailable after the read models have stopped', async () => {
        await serving(other, QUERY, async (payload) => payload);
        for (const subscription of open.splice(0)) subscription.stop();
        await eventually(async () => {
          const { code, details } = await failureOf(bus.request(QUERY, text('x'), IMPATIENT_MS));
          expect([code, details.isUnserved]).to.deep.equal(['SHARD_UNAVAILABLE', true]);
        });
      });

      it('returns an unexpected error as a defect', async () => {
        await serving(other, command(), async () => {
          throw new TypeError('undefined is not a function');
        });
        expect((await failureOf(bus.request(command(), text('x'), PATIENT_MS))).code).to.equal('DEFECT');
      });
    });
  });
}

async function failureOf(promise: Promise<unknown>): Promise<MillraceError> {
  const outcome = await promise.then(
    () => 'it succeeded',
    (error: unknown) => error,
  );
  if (!isMillraceError(outcome)) throw new Error(`expected a MillraceError, not: ${String(outcome)}`);
  return outcome;
}

const text = (value: string): Uint8Array => new TextEncoder().encode(value);
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
