/**
 * The log by message: each with its events, in pages, while further events are added; and shortened bodies. Proves
 * MGR1, MGR2.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import type { QueueEvent } from '../../../src/domain/queue/index.js';
import { isMillraceError } from '../../../src/kernel/index.js';
import type { LogQuery } from '../../../src/ports/index.js';
import type { ReadModels } from '../../../src/projections/index.js';
import {
  ACCOUNT,
  ANYTHING,
  accepted,
  bodyOf,
  deadLettered,
  delivered,
  failed,
  MessageLogStand,
  OTHER_ACCOUNT,
  PLAIN_ENVELOPE,
  PLAIN_SETTINGS,
  started,
  T0,
} from '../../support/message-log-stand.js';

const GROUPED: LogQuery = { ...ANYTHING, order: 'latestFirst', groupBy: 'message' };

describe('the message log grouped by message', () => {
  let stand: MessageLogStand;
  let log: ReadModels;

  beforeEach(() => {
    stand = new MessageLogStand();
    log = stand.open();
  });
  afterEach(() => stand.end());

  const ask = (query: Partial<LogQuery>, account = ACCOUNT) =>
    log.events(account, { ...GROUPED, ...query }, stand.history.head.position);

  /** `a: DELIVERED ACTIVE CREATED` for each message of a page, in the order of the answer. */
  async function told(query: Partial<LogQuery>): Promise<{ readonly messages: string[]; readonly cursor?: string }> {
    const { events, cursor } = await ask(query);
    const messages: string[] = [];
    let before: string | undefined;
    for (const { messageId, state } of events) {
      if (messageId === before) messages[messages.length - 1] += ` ${state}`;
      else messages.push(`${messageId}: ${state}`);
      before = messageId;
    }
    return { messages, ...(cursor !== undefined && { cursor }) };
  }

  /** Two messages with overlapping events, and one after them. */
  const interleaved = (): Promise<unknown> =>
    stand.store([
      accepted('a'),
      accepted('b', { atMs: T0 + 1 }),
      started('a', T0 + 2),
      started('b', T0 + 3),
      delivered('a', T0 + 4),
      delivered('b', T0 + 5),
      accepted('c', { atMs: T0 + 6 }),
    ]);

  it("has each message's events together, and messages in the order of their first events", async () => {
    await interleaved();
    const all = 'DELIVERED ACTIVE CREATED';
    expect((await told({})).messages).to.deep.equal(['c: CREATED', `b: ${all}`, `a: ${all}`]);
    const earliest = await told({ order: 'earliestFirst' });
    const way = 'CREATED ACTIVE DELIVERED';
    expect(earliest.messages).to.deep.equal([`a: ${way}`, `b: ${way}`, 'c: CREATED']);
    expect((await ask({}, OTHER_ACCOUNT)).events).to.deep.equal([]);
  });

  it('count limits the messages, and the next page starts after the last one', async () => {
    await interleaved();
    for (const order of ['latestFirst', 'earliestFirst'] as const) {
      const whole = (await told({ order })).messages;
      const pages: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await told({ order, count: 1, cursor });
        expect(page.messages.length).to.be.at.most(1);
        pages.push(...page.messages);
        cursor = page.cursor;
      } while (cursor !== undefined);
      expect(pages).to.deep.equal(whole);
    }
  });

  it('shows only matching events, of messages that have some', async () => {
    await interleaved();
    expect((await told({ states: ['DELIVERED'] })).messages).to.deep.equal(['b: DELIVERED', 'a: DELIVERED']);
    expect((await told({ filter: { messageId: ['a' as never] }, states: ['CREATED'] })).messages).to.deep.equal([
      'a: CREATED',
    ]);
    const since = await told({ filter: { fromMs: T0 + 3, toMs: T0 + 4 } });
    expect(since.messages).to.deep.equal(['a: DELIVERED', 'b: ACTIVE']);
    expect((await told({ filter: { url: ['https://nobody.example/'] } })).messages).to.deep.equal([]);
  });

  it('loses no message to events between two pages', async () => {
    await interleaved();
    const first = await told({ count: 1 });
    expect(first.messages).to.deep.equal(['c: CREATED']);
    await stand.store([started('c', T0 + 7), accepted('d', { atMs: T0 + 8 }), delivered('c', T0 + 9)]);
    await stand.store([failed('a', T0 + 10, undefined), deadLettered('a', `${T0 + 10}-1`, T0 + 10)]);
    const rest = await told({ cursor: first.cursor });
    expect(rest.messages.map((text) => text.slice(0, 2))).to.deep.equal(['b:', 'a:']);
    expect((await told({ count: 1 })).messages[0]).to.match(/^a: /);
  });

  it('refuses an invalid cursor', async () => {
    await interleaved();
    for (const cursor of ['x', '1-2-3', '1-2-3-4-5', '-']) {
      const refusal = await ask({ cursor }).catch((error: unknown) => error);
      expect(isMillraceError(refusal, 'INVALID'), cursor).to.equal(true);
    }
  });

  it('shows each message as a whole on one page, for random histories', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom(...names), fc.nat(3)), { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 1, max: 4 }),
        fc.constantFrom('latestFirst' as const, 'earliestFirst' as const),
        async (happened, count, order) => {
          stand.end();
          stand = new MessageLogStand();
          log = stand.open();
          let atMs = T0;
          const known = new Set<string>();
          const events = happened.flatMap(([name, passed]): QueueEvent[] => {
            atMs += passed;
            if (known.has(name)) return [started(name, atMs)];
            known.add(name);
            return [accepted(name, { atMs })];
          });
          await stand.store(events);
          const whole = (await told({ order })).messages;
          expect(new Set(whole.map(([name]) => name))).to.deep.equal(known);
          const pages: string[] = [];
          let cursor: string | undefined;
          do {
            const page = await told({ order, count, cursor });
            pages.push(...page.messages);
            cursor = page.cursor;
          } while (cursor !== undefined);
          expect(pages).to.deep.equal(whole);
        },
      ),
      { numRuns: 12 },
    );
  });

  describe('with trimmed bodies', () => {
    const shown = async (trimBytes: number | undefined) => {
      const { events } = await log.events(ACCOUNT, { ...ANYTHING, trimBytes }, stand.history.head.position);
      return events.map(({ body, response }) =>
        [body, response?.body].map((bytes) => bytes && Buffer.from(bytes).toString()),
      );
    };

    it('shows the requested bytes of bodies and responses, and none for 0 and less', async () => {
      await stand.store([accepted('a'), started('a', T0), failed('a', T0 + 5, T0 + 9)]);
      const body = 'body of a';
      const plain = (cut: string, response: string) => [
        [cut, undefined],
        [cut, undefined],
        [cut, response],
        [cut, undefined],
      ];
      expect(await shown(undefined)).to.deep.equal(plain(body, 'out of order'));
      expect(await shown(3)).to.deep.equal(plain('bod', 'out'));
      expect(await shown(0)).to.deep.equal(plain('', ''));
      expect(await shown(-1)).to.deep.equal(plain('', ''));
    });

    it('cuts no character in two, and no redacted body', async () => {
      const redact = { body: true, allHeaders: false, headers: [] };
      const hidden = { ...PLAIN_ENVELOPE, settings: { ...PLAIN_SETTINGS, redact } };
      await stand.store([
        accepted('a', { body: bodyOf('aü€😀') }),
        accepted('b', { atMs: T0 + 1, envelope: hidden, body: bodyOf('secret') }),
      ]);
      const bodies = async (trimBytes: number) => (await shown(trimBytes)).map(([body]) => body);
      expect(await bodies(2)).to.deep.equal(['a', 'secret']);
      expect(await bodies(3)).to.deep.equal(['aü', 'secret']);
      expect(await bodies(9)).to.deep.equal(['aü€', 'secret']);
      expect(await bodies(10)).to.deep.equal(['aü€😀', 'secret']);
      expect(await bodies(0)).to.deep.equal(['', '']);
    });
  });
});
