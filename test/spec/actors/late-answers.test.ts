/** An owner's answer that arrives after its successor was asked. Proves RC6. */
import { expect } from 'chai';
import { ShardCaller } from '../../../src/actors/runtime/index.js';
import {
  decodeRemoteCommand,
  encodeAnswer,
  encodeFailure,
  type RemoteCommand,
} from '../../../src/codec/remote/index.js';
import { MillraceError } from '../../../src/kernel/index.js';
import type { Bus } from '../../../src/ports/index.js';
import { SHARD } from '../../support/kv-shard-stand.js';
import { ManualTime } from '../../support/memory/index.js';

const LIMITS = { deadlineMs: 2_000, tryMs: 200, pauseMs: 50, settleMs: 500, storingMs: 500 };
const bytes = (text: string) => Buffer.from(text);

describe('the answer of an old owner that arrives after its successor was asked', () => {
  let time: ManualTime;
  let caller: ShardCaller;
  /** The requests to each activation that wait for an answer of the test. */
  let asked: { readonly command: RemoteCommand; answer(payload: Uint8Array): void }[];
  let epoch: number;
  let said: string | undefined;

  beforeEach(async () => {
    time = new ManualTime();
    asked = [];
    epoch = 1;
    said = undefined;
    const bus: Partial<Bus> = {
      request: (_topic, payload) => {
        const command = decodeRemoteCommand(payload);
        if (command.ask === 'greet') return Promise.resolve(encodeAnswer(bytes(''), now()));
        return new Promise((answer) => asked.push({ command, answer }));
      },
    };
    const random = { bytes: (count: number) => new Uint8Array(count), float: () => 0.5 };
    caller = new ShardCaller(bus as Bus, time, time, random, LIMITS);
    caller.call({ shard: SHARD, body: bytes('publish'), isRead: false }).then(
      (reply) => {
        said = Buffer.from(reply).toString();
      },
      (error: MillraceError) => {
        said = error.code;
      },
    );
    await pass(50);
    // Another command learns the successor; the first one is then sent to it, too.
    epoch = 2;
    const other = caller.call({ shard: SHARD, body: bytes('other'), isRead: false });
    await pass(10);
    asked.pop()?.answer(encodeAnswer(bytes('other'), now()));
    await other;
    while (asked.length < 2) await pass(5);
    expect(asked.map(({ command }) => command.before?.epoch)).to.deep.equal([1, 2]);
  });

  const now = () => ({ epoch, atMs: time.monotonicMs() });
  async function pass(ms: number): Promise<void> {
    for (const endMs = time.monotonicMs() + ms; time.monotonicMs() < endMs; ) await time.advance(5);
  }
  async function answers(of: 1 | 2, payload: Uint8Array): Promise<void> {
    asked.find(({ command }) => command.before?.epoch === of)?.answer(payload);
    await pass(20);
  }
  const refused = () => encodeAnswer(bytes('refused'), { epoch: 1, atMs: time.monotonicMs() });

  it('is ignored when it is a refusal, because the successor may have accepted the command', async () => {
    await answers(1, refused());
    expect(said).to.equal(undefined);
    await answers(2, encodeAnswer(bytes('accepted'), now()));
    expect(said).to.equal('accepted');
  });

  it('is used once the successor reports that the command was executed before', async () => {
    await answers(1, refused());
    const before = new MillraceError('OUTCOME_UNKNOWN', 'executed, the reply was lost', { isExecuted: true });
    await answers(2, encodeFailure(before, now()));
    expect(said).to.equal('refused');
  });

  it('is used once the successor reports that it will not execute the command', async () => {
    await answers(1, refused());
    await answers(2, encodeFailure(new MillraceError('SHARD_UNAVAILABLE', 'it is being handed over'), now()));
    expect(said).to.equal('refused');
  });
});
