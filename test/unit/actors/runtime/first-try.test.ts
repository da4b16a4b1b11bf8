/** The first try of a command to another process. Proves FT1, FT2, RC7. */
import { expect } from 'chai';
import { ShardCaller } from '../../../../src/actors/runtime/index.js';
import { decodeRemoteCommand, encodeAnswer, encodeFailure } from '../../../../src/codec/remote/index.js';
import { MillraceError } from '../../../../src/kernel/index.js';
import type { Bus, Reach } from '../../../../src/ports/index.js';
import { SHARD } from '../../../support/kv-shard-stand.js';
import { ManualTime } from '../../../support/memory/index.js';

const LIMITS = { deadlineMs: 2_000, tryMs: 500, pauseMs: 50, settleMs: 500, storingMs: 500 };
const bytes = (text: string) => Buffer.from(text);
const INSTANT = { epoch: 1, atMs: 0 };

describe('the first try of a command to an owner in another process', () => {
  let time: ManualTime;
  let timers: number;
  let caller: ShardCaller;
  let asked: { readonly reach: Reach | undefined; readonly id: string; answer(payload: Uint8Array): void }[];

  beforeEach(() => {
    [time, timers, asked] = [new ManualTime(), 0, []];
    const bus: Partial<Bus> = {
      request: (_topic, payload, _timeoutMs, reach) =>
        new Promise((answer) => asked.push({ reach, id: decodeRemoteCommand(payload).commandId, answer })),
    };
    const after = time.after.bind(time);
    time.after = (...args) => {
      timers += 1;
      return after(...args);
    };
    const random = { bytes: (count: number) => new Uint8Array(count), float: () => 0.5 };
    caller = new ShardCaller(bus as Bus, time, time, random, LIMITS);
  });
  const read = () => caller.call({ shard: SHARD, body: bytes('read'), isRead: true });
  const answered = (call: Promise<Uint8Array>) => call.then((reply) => Buffer.from(reply).toString());

  it('may reach one process; every later one reaches all, with the same id, until one is answered (FT1, RC7)', async () => {
    const call = answered(read());
    for (let ms = 0; ms < 700; ms += 10) await time.advance(10);
    expect(asked.map(({ reach }) => reach)).to.deep.equal(['one', 'all', 'all']);
    expect(new Set(asked.map(({ id }) => id)).size).to.equal(1);
    asked[2]?.answer(encodeAnswer(bytes('third'), INSTANT));
    expect(await call).to.equal('third');
  });

  it('counts when it is answered after it was repeated', async () => {
    const call = answered(read());
    for (let ms = 0; ms < 300; ms += 10) await time.advance(10);
    asked[0]?.answer(encodeAnswer(bytes('first'), INSTANT));
    expect(await call).to.equal('first');
  });

  it('is followed by one to all after a refusal that may change, and is final after another one', async () => {
    const call = answered(read());
    asked[0]?.answer(encodeFailure(new MillraceError('SHARD_UNAVAILABLE', 'loading'), INSTANT));
    for (let ms = 0; ms < 100; ms += 10) await time.advance(10);
    expect(asked.map(({ reach }) => reach)).to.deep.equal(['one', 'all']);
    asked[1]?.answer(encodeAnswer(bytes('later'), INSTANT));
    expect(await call).to.equal('later');
    const refused = read().catch(({ code }: MillraceError) => code);
    asked[2]?.answer(encodeFailure(new MillraceError('INVALID', 'no'), INSTANT));
    expect(await refused).to.equal('INVALID');
  });

  it('shares one timer with those of other commands (FT2)', async () => {
    const calls = Array.from({ length: 100 }, read);
    expect(timers).to.equal(1);
    for (const { answer } of asked) answer(encodeAnswer(bytes('ok'), INSTANT));
    await Promise.all(calls);
    expect(timers).to.equal(1);
  });
});
