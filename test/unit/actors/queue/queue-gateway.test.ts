/** Proves QG1–QG5. */
import { expect } from 'chai';
import { QueueShardGateway, type QueueWork } from '../../../../src/actors/queue/index.js';
import type { ShardActor, ShardCaller } from '../../../../src/actors/runtime/index.js';
import { decodeIntakeRecord, encodeQueueReply } from '../../../../src/codec/queue/index.js';
import type { PublishItem, QueueCommand, QueueReply } from '../../../../src/domain/queue/index.js';
import {
  type ErrorCode,
  isMillraceError,
  MillraceError,
  type RunId,
  type ShardName,
} from '../../../../src/kernel/index.js';
import { UNWATCHED } from '../../../../src/ports/index.js';
import { ManualTime, MemoryIntakeLog } from '../../../support/memory/index.js';
import { ACCOUNT, messageItem, PLAIN_SETTINGS } from '../../../support/queue-shard-stand.js';
import { MARK, RUN_ID, STEP } from '../../../support/run-attempts.js';

const SHARD = 'QUEUE_0' as ShardName;
const DONE: QueueReply = { type: 'Done' };
const LIMITS = { holdMs: 5000, retryEveryMs: 50, tellAfterMs: 1000, maxIntakeBytes: 900_000 };
const READ: QueueCommand = { type: 'ListQueues' };

/** The owner's result for each command: an answer, a failure, or no answer. */
type Say = (command: QueueCommand, nth: number) => QueueReply | ErrorCode | undefined;

class Stand {
  readonly time = new ManualTime();
  readonly log = new MemoryIntakeLog({ clock: this.time, timers: this.time });
  /** The number of appends that fail first. */
  failingAppends = 0;
  /** Whether the failed appends are known as not stored. */
  areSurelyNotStored = false;
  readonly appended: Uint8Array[] = [];
  readonly asked: QueueCommand[] = [];
  readonly intake = {
    append: async (shard: ShardName, bytes: Uint8Array) => {
      this.appended.push(bytes);
      this.failingAppends -= 1;
      if (this.failingAppends >= 0) {
        const details = this.areSurelyNotStored ? { isStored: false } : {};
        throw new MillraceError('JOURNAL_UNAVAILABLE', 'not stored', details);
      }
      await this.log.append(shard, bytes);
    },
    follow: this.log.follow.bind(this.log),
    trim: this.log.trim.bind(this.log),
  };

  /** @param say undefined: there is no owner */
  gateway(say: Say | undefined, limits: Partial<typeof LIMITS> = {}): QueueShardGateway {
    const actor = {
      state: 'serving',
      submit: (work: QueueWork) => {
        this.asked.push(work.command);
        const said = (say as Say)(work.command, this.asked.length);
        if (said === undefined) return;
        this.time.soon(() => {
          if (typeof said === 'string') return work.reject(new MillraceError(said, 'as told'));
          work.reply = said;
          work.release(7);
        });
      },
    } as unknown as ShardActor<QueueWork>;
    const host = { actorOf: () => (say === undefined ? undefined : actor), whyStopped: () => undefined };
    const { time, intake } = this;
    return new QueueShardGateway(
      { clock: time, timers: time, metrics: UNWATCHED, intake, caller: undefined, host },
      { ...LIMITS, ...limits },
      1,
    );
  }
}

async function failureOf(asked: Promise<unknown>): Promise<string> {
  return asked.then(
    () => 'none',
    (error: unknown) => (isMillraceError(error) ? error.code : String(error)),
  );
}

const published = (items: readonly PublishItem[]): QueueReply => ({
  type: 'Published',
  results: items.map(({ id }) => ({ messageId: id, url: 'https://a.example/', isDuplicate: false })),
  daily: undefined,
});

function notifying(runId: RunId | undefined): QueueCommand {
  const content = Buffer.from('event');
  return { type: 'Notify', eventId: 'e', runId, firstId: messageItem(1, 'a').id, content, isHook: false };
}

function waiting(): QueueCommand {
  const delivery = { url: 'https://app.example/flow', settings: PLAIN_SETTINGS, mark: MARK, headers: [] };
  return {
    type: 'Wait',
    runId: RUN_ID,
    eventId: 'e',
    resultId: messageItem(1, 'a').id,
    step: STEP,
    stepText: '{}',
    timeoutText: '7d',
    timeoutSeconds: 604_800,
    timeoutBody: undefined,
    onNotify: delivery,
    onTimeout: delivery,
  };
}

describe('the queue gateway', () => {
  it('puts a command into the mailbox of an owner in this process', async () => {
    const stand = new Stand();
    expect(await stand.gateway(() => DONE).ask(ACCOUNT, READ)).to.equal(DONE);
    expect(stand.asked).to.deep.equal([READ]);
  });

  it('sends a command over the bus to an owner in another process', async () => {
    const stand = new Stand();
    const { time, intake } = stand;
    const calls: { shard: string; isRead: boolean }[] = [];
    const caller = {
      call: async ({ shard, isRead }: { shard: string; isRead: boolean }) => {
        calls.push({ shard, isRead });
        return encodeQueueReply(DONE);
      },
    } as unknown as ShardCaller;
    const ports = { clock: time, timers: time, metrics: UNWATCHED, intake, caller, host: undefined };
    const gateway = new QueueShardGateway(ports, LIMITS, 1);
    expect(await gateway.ask(ACCOUNT, READ)).to.deep.equal(DONE);
    await gateway.ask(ACCOUNT, { type: 'DeleteQueue', name: 'q' });
    expect(calls).to.deep.equal([
      { shard: SHARD, isRead: true },
      { shard: SHARD, isRead: false },
    ]);
  });

  it('tries again while there is no owner, up to the deadline', async () => {
    const stand = new Stand();
    const failure = failureOf(stand.gateway(undefined).ask(ACCOUNT, READ));
    await stand.time.advance(LIMITS.holdMs + 1);
    expect(await failure).to.equal('SHARD_UNAVAILABLE');
  });

  it('repeats a command that was certainly not executed', async () => {
    const stand = new Stand();
    const asked = stand.gateway((_, nth) => (nth === 1 ? 'NOT_APPLIED' : DONE)).ask(ACCOUNT, READ);
    await stand.time.advance(LIMITS.retryEveryMs);
    expect(await asked).to.equal(DONE);
  });

  it('repeats a command that may have been executed only where its ids make that harmless', async () => {
    const once: Say = (_, nth) => (nth === 1 ? 'OUTCOME_UNKNOWN' : DONE);
    const overrides = { headers: [], query: [] };
    for (const [command, isRepeated] of [
      [{ type: 'SetQueue', name: 'q', parallelism: 1, isPaused: false }, true],
      [{ type: 'PauseFlow', key: 'k', isPaused: true }, true],
      [{ type: 'CancelMessage', id: messageItem(1, 'a').id }, false],
      [{ type: 'RetryDlq', selector: { kind: 'ids', dlqIds: [] }, firstId: messageItem(1, 'a').id, overrides }, false],
      [{ type: 'EndRun', runId: RUN_ID, how: 'finish', response: undefined }, true],
      [{ type: 'EndRun', runId: RUN_ID, how: 'cancel', response: undefined }, false],
      [{ type: 'CancelRuns', selector: { kind: 'ids', runIds: [RUN_ID] } }, false],
      [notifying(RUN_ID), true],
      // The second notification would go to other waiters.
      [notifying(undefined), false],
      [waiting(), true],
    ] as const) {
      const stand = new Stand();
      const failure = failureOf(stand.gateway(once).ask(ACCOUNT, command));
      await stand.time.advance(LIMITS.retryEveryMs);
      expect(await failure, command.type).to.equal(isRepeated ? 'none' : 'OUTCOME_UNKNOWN');
    }
  });
});

describe('an unknown outcome', () => {
  it('stays unknown although a later try was certainly not executed', async () => {
    const stand = new Stand();
    const say: Say = (_, nth) => (nth === 1 ? 'OUTCOME_UNKNOWN' : 'SHARD_UNAVAILABLE');
    const command = { type: 'SetQueue', name: 'q', parallelism: 1, isPaused: false } as const;
    const failure = failureOf(stand.gateway(say).ask(ACCOUNT, command));
    await stand.time.advance(LIMITS.holdMs + LIMITS.retryEveryMs);
    expect(await failure).to.equal('OUTCOME_UNKNOWN');
    const other = new Stand();
    const deduplicated = [messageItem(1, 'a', { deduplication: 'content' })];
    const full: Say = (_, nth) => (nth === 1 ? 'OUTCOME_UNKNOWN' : 'MAILBOX_FULL');
    const published = failureOf(other.gateway(full).publish(ACCOUNT, deduplicated));
    await other.time.advance(LIMITS.retryEveryMs);
    expect(await published).to.equal('OUTCOME_UNKNOWN');
  });

  it('does not matter for a read', async () => {
    const stand = new Stand();
    const say: Say = (_, nth) => (nth === 1 ? 'OUTCOME_UNKNOWN' : 'SHARD_UNAVAILABLE');
    const failure = failureOf(stand.gateway(say).ask(ACCOUNT, READ));
    await stand.time.advance(LIMITS.holdMs + LIMITS.retryEveryMs);
    expect(await failure).to.equal('SHARD_UNAVAILABLE');
  });
});

describe('a publish', () => {
  it('leaves no record in the intake when the owner answers', async () => {
    const stand = new Stand();
    const items = [messageItem(1, 'a')];
    const reply = published(items);
    expect(await stand.gateway(() => reply).publish(ACCOUNT, items)).to.equal(reply);
    await stand.time.advance(LIMITS.holdMs);
    expect(stand.appended).to.deep.equal([]);
  });

  it('is written to the intake when no owner answers for a while, with the same ids', async () => {
    const stand = new Stand();
    const items = [messageItem(1, 'a'), messageItem(2, 'b')];
    const reply = stand.gateway(undefined).publish(ACCOUNT, items);
    await stand.time.advance(LIMITS.tellAfterMs - 1);
    expect(stand.appended).to.deep.equal([]);
    await stand.time.advance(1);
    expect(await reply).to.deep.equal({
      type: 'Published',
      results: [
        { messageId: items[0]?.id, url: 'https://a.example/', isDuplicate: false },
        { messageId: items[1]?.id, url: 'https://b.example/', isDuplicate: false },
      ],
      daily: undefined,
    });
    const { account, items: kept } = decodeIntakeRecord(stand.appended[0] as Uint8Array);
    expect(account).to.equal(ACCOUNT);
    expect(kept.map(({ id }) => id)).to.deep.equal(items.map(({ id }) => id));
  });

  it('waits no longer than that before the intake, even if each try fails quickly', async () => {
    const { holdMs, tellAfterMs } = LIMITS;
    expect(tellAfterMs).to.be.lessThan(holdMs);
    for (const code of ['SHARD_UNAVAILABLE', 'NOT_APPLIED', 'OUTCOME_UNKNOWN'] as const) {
      const stand = new Stand();
      let isAnswered = false;
      const reply = stand.gateway(() => code).publish(ACCOUNT, [messageItem(1, 'a')]);
      void reply.then(() => {
        isAnswered = true;
      });
      await stand.time.advance(tellAfterMs - 1);
      expect([isAnswered, stand.asked.length > 1], code).to.deep.equal([false, true]);
      await stand.time.advance(1);
      expect((await reply).type, code).to.equal('Published');
      expect(stand.time.monotonicMs(), code).to.equal(tellAfterMs);
      const tries = stand.asked.length;
      await stand.time.advance(2 * holdMs);
      expect(stand.asked.length - tries, code).to.be.at.most(holdMs / LIMITS.retryEveryMs);
    }
  });

  it('is written to the intake also when an owner exists and is silent', async () => {
    const stand = new Stand();
    const reply = stand.gateway(() => undefined).publish(ACCOUNT, [messageItem(1, 'a')]);
    await stand.time.advance(LIMITS.tellAfterMs);
    expect((await reply).type).to.equal('Published');
    expect(stand.log.countOf(SHARD)).to.equal(1);
  });

  it('is written to the intake immediately when an owner has ended with an unknown outcome', async () => {
    const stand = new Stand();
    const reply = stand.gateway(() => 'OUTCOME_UNKNOWN', { holdMs: 100 }).publish(ACCOUNT, [messageItem(1, 'a')]);
    await stand.time.advance(100);
    expect((await reply).type).to.equal('Published');
  });

  it('is not written to the intake when the owner refuses it or has no room', async () => {
    const refusal: QueueReply = { type: 'Rejected', reason: 'DAILY_LIMIT', message: 'too many' };
    const stand = new Stand();
    expect(await stand.gateway(() => refusal).publish(ACCOUNT, [messageItem(1, 'a')])).to.equal(refusal);
    for (const code of ['MAILBOX_FULL', 'STORAGE_FULL'] as const) {
      expect(await failureOf(stand.gateway(() => code).publish(ACCOUNT, [messageItem(1, 'a')]))).to.equal(code);
    }
    expect(stand.appended).to.deep.equal([]);
  });

  it('is not written to the intake for an account that was full a moment ago, until that time is over', async () => {
    const stand = new Stand();
    const full: QueueReply = { type: 'Rejected', reason: 'FULL', message: 'too many' };
    const gateway = stand.gateway((_command, nth) => (nth === 1 ? full : undefined));
    const refused = gateway.publish(ACCOUNT, [messageItem(1, 'a')]);
    await stand.time.advance(0);
    expect(await refused).to.deep.equal(full);
    void gateway.publish(ACCOUNT, [messageItem(2, 'a')]);
    await stand.time.advance(9000);
    expect(stand.appended).to.deep.equal([]);
    await stand.time.advance(1001);
    const told = gateway.publish(ACCOUNT, [messageItem(3, 'a')]);
    await stand.time.advance(1001);
    expect(stand.appended).to.have.length(1);
    expect((await told).type).to.equal('Published');
  });

  it('waits for an owner when it needs an answer or an order: for a group, a deduplication id, a queue, a run', async () => {
    const raw = { headers: [], query: [] };
    for (const parts of [
      { destination: { kind: 'group', name: 'g', raw } },
      { deduplication: { id: 'once' } },
      { deduplication: 'content' },
      // A message enqueued later may reach the next owner before the intake is read.
      { queueName: 'line' },
      // If the run has ended, the message is not accepted.
      { workflow: { kind: 'entry', runId: RUN_ID, mark: MARK, step: STEP } },
    ] as const) {
      const stand = new Stand();
      const items = [messageItem(1, 'a'), messageItem(2, 'a', parts)];
      const failure = failureOf(stand.gateway(undefined).publish(ACCOUNT, items));
      await stand.time.advance(LIMITS.holdMs);
      expect(await failure).to.equal('SHARD_UNAVAILABLE');
      expect(stand.appended).to.deep.equal([]);
    }
  });

  it('is written to the intake again with the same bytes when it is unknown whether they were stored', async () => {
    const stand = new Stand();
    stand.failingAppends = 2;
    const reply = stand.gateway(undefined).publish(ACCOUNT, [messageItem(1, 'a')]);
    await stand.time.advance(LIMITS.tellAfterMs + 2 * LIMITS.retryEveryMs);
    expect((await reply).type).to.equal('Published');
    expect(stand.appended).to.have.length(3);
    expect(stand.appended[2]).to.deep.equal(stand.appended[0]);
  });

  it('fails when neither owner nor intake answers in time, and reports whether it may be stored', async () => {
    for (const areSurelyNotStored of [true, false]) {
      const stand = new Stand();
      stand.failingAppends = Number.POSITIVE_INFINITY;
      stand.areSurelyNotStored = areSurelyNotStored;
      const failure = failureOf(stand.gateway(undefined).publish(ACCOUNT, [messageItem(1, 'a')]));
      await stand.time.advance(LIMITS.holdMs + LIMITS.retryEveryMs);
      expect(await failure).to.equal(areSurelyNotStored ? 'SHARD_UNAVAILABLE' : 'OUTCOME_UNKNOWN');
    }
  });

  it('that is being written to the intake when the owner refuses it is answered as published, or with an unknown outcome', async () => {
    const refusal: QueueReply = { type: 'Rejected', reason: 'SUSPENDED', message: 'suspended' };
    const { tellAfterMs, retryEveryMs, holdMs } = LIMITS;
    for (const [failingAppends, areSurelyNotStored, expected] of [
      [1, false, 'Published'],
      [Number.POSITIVE_INFINITY, false, 'OUTCOME_UNKNOWN'],
      [Number.POSITIVE_INFINITY, true, 'Rejected'],
    ] as const) {
      const stand = new Stand();
      Object.assign(stand, { failingAppends, areSurelyNotStored });
      // The owner is silent until the first append has failed.
      const isAsleep = () => stand.appended.length === 0;
      const gateway = stand.gateway(() => (isAsleep() ? 'SHARD_UNAVAILABLE' : refusal));
      const reply = gateway.publish(ACCOUNT, [messageItem(1, 'a')]).then(
        ({ type }) => type,
        (error: unknown) => (isMillraceError(error) ? error.code : String(error)),
      );
      await stand.time.advance(tellAfterMs + retryEveryMs);
      await stand.time.advance(holdMs + retryEveryMs);
      expect(await reply).to.equal(expected);
    }
  });

  it('that is larger than an intake record waits for an owner', async () => {
    const stand = new Stand();
    const body = new Uint8Array(LIMITS.maxIntakeBytes);
    const failure = failureOf(stand.gateway(undefined).publish(ACCOUNT, [messageItem(1, 'a', { body })]));
    await stand.time.advance(LIMITS.holdMs);
    expect(await failure).to.equal('SHARD_UNAVAILABLE');
    expect(stand.appended).to.deep.equal([]);
  });
});
