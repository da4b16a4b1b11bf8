/** Proves IF1–IF4. */
import { expect } from 'chai';
import { DEFAULT_INTAKE_LIMITS, IntakeFollower, type QueueWork } from '../../../../src/actors/queue/index.js';
import { MAX_NAMED_RECORDS } from '../../../../src/actors/queue/intake-follower.js';
import { encodeIntakeRecord } from '../../../../src/codec/queue/index.js';
import type { QueueCommandOf, QueueReply } from '../../../../src/domain/queue/index.js';
import { type AccountId, MillraceError } from '../../../../src/kernel/index.js';
import { type Log, UNWATCHED } from '../../../../src/ports/index.js';
import { ManualTime, MemoryIntakeLog } from '../../../support/memory/index.js';
import { ACCOUNT, messageItem, OTHER_ACCOUNT, QUEUE_SHARD } from '../../../support/queue-shard-stand.js';

class Stand {
  readonly time = new ManualTime();
  readonly intake = new MemoryIntakeLog({ clock: this.time, timers: this.time });
  readonly works: QueueWork[] = [];
  /** The alarms, with their positions. */
  readonly alarms: string[] = [];
  readonly log: Log = {
    debug() {},
    info() {},
    warn() {},
    error: (event, fields = {}) => void this.alarms.push(`${event} ${fields.position ?? fields.from}`),
    with: () => this.log,
  };
  #messages = 0;

  follow(limits: Partial<typeof DEFAULT_INTAKE_LIMITS> = {}): IntakeFollower {
    const { intake, time, log } = this;
    const submit = (work: QueueWork) => void this.works.push(work);
    const ports = { intake, timers: time, log, metrics: UNWATCHED, submit };
    const follower = new IntakeFollower(ports, QUEUE_SHARD, { ...DEFAULT_INTAKE_LIMITS, ...limits });
    follower.start();
    return follower;
  }

  /** One record of one message. */
  async tell(account: AccountId = ACCOUNT): Promise<void> {
    this.#messages += 1;
    await this.intake.append(QUEUE_SHARD, encodeIntakeRecord({ account, items: [messageItem(this.#messages, 'a')] }));
  }

  /** Runs all ready tasks. */
  settle(): Promise<void> {
    return this.time.advance(0);
  }

  /** The commands so far: the position of the last record, and the number of messages. */
  get asked(): (readonly [AccountId, number, number])[] {
    return this.works.map(({ account, command }) => {
      const { records } = command as QueueCommandOf<'TakeIntake'>;
      const messages = records.reduce((count, { items }) => count + items.length, 0);
      return [account, records.at(-1)?.position ?? 0, messages] as const;
    });
  }

  async answer(nth: number, reply: QueueReply = { type: 'Done' }): Promise<void> {
    const work = this.works[nth] as QueueWork;
    work.reply = reply;
    work.release(1);
    await this.settle();
  }
}

const REFUSED: QueueReply = { type: 'Rejected', reason: 'INVALID', message: 'no such group' };

describe('an intake record', () => {
  it('is taken over by the owner of the shard, and removed when that is stored', async () => {
    const stand = new Stand();
    await stand.tell();
    stand.follow();
    await stand.settle();
    expect(stand.asked).to.deep.equal([[ACCOUNT, 1, 1]]);
    expect(stand.intake.countOf(QUEUE_SHARD)).to.equal(1);
    await stand.answer(0);
    expect(stand.intake.countOf(QUEUE_SHARD)).to.equal(0);
  });

  it('is taken over in order, one command per account at a time, with several records in one', async () => {
    const stand = new Stand();
    for (let i = 0; i < 3; i += 1) await stand.tell();
    stand.follow();
    await stand.settle();
    expect(stand.asked).to.deep.equal([[ACCOUNT, 1, 1]]);
    await stand.answer(0);
    expect(stand.asked.at(-1)).to.deep.equal([ACCOUNT, 3, 2]);
  });

  it('is removed only up to the first record that is not accepted yet, of any account', async () => {
    const stand = new Stand();
    await stand.tell(ACCOUNT);
    await stand.tell(OTHER_ACCOUNT);
    stand.follow();
    await stand.settle();
    await stand.answer(1);
    expect(stand.intake.countOf(QUEUE_SHARD)).to.equal(2);
    await stand.answer(0);
    expect(stand.intake.countOf(QUEUE_SHARD)).to.equal(0);
  });

  it('is sent to the actor again when it was not taken', async () => {
    const stand = new Stand();
    await stand.tell();
    stand.follow();
    await stand.settle();
    (stand.works[0] as QueueWork).reject(new MillraceError('MAILBOX_FULL', 'full'));
    await stand.time.advance(DEFAULT_INTAKE_LIMITS.retryMs);
    expect(stand.asked).to.deep.equal([
      [ACCOUNT, 1, 1],
      [ACCOUNT, 1, 1],
    ]);
  });

  it('is followed while the owner serves, and no longer', async () => {
    const stand = new Stand();
    const follower = stand.follow();
    await stand.tell();
    await stand.settle();
    expect(stand.works).to.have.length(1);
    await stand.answer(0);
    follower.stop();
    await stand.tell();
    await stand.settle();
    expect(stand.works).to.have.length(1);
  });

  it('is held in bounded number; the others stay in the intake and follow later', async () => {
    const stand = new Stand();
    for (let i = 0; i < 9; i += 1) await stand.tell();
    stand.follow({ maxHeld: 4 });
    await stand.settle();
    await stand.answer(0);
    await stand.answer(1);
    await stand.answer(2);
    expect(stand.asked.map(([, position]) => position)).to.deep.equal([1, 4, 5, 8]);
    await stand.answer(3);
    await stand.answer(4);
    expect(stand.intake.countOf(QUEUE_SHARD)).to.equal(0);
  });

  describe('an intake record that cannot be read', () => {
    it('stays in the intake together with all later records, while those are accepted', async () => {
      const stand = new Stand();
      await stand.tell();
      await stand.intake.append(QUEUE_SHARD, Buffer.from('no record'));
      await stand.tell();
      stand.follow();
      await stand.settle();
      await stand.answer(0);
      await stand.answer(1);
      expect(stand.asked.map(([, position]) => position)).to.deep.equal([1, 3]);
      expect(stand.alarms).to.deep.equal(['intake.record-unreadable 2']);
      expect(stand.intake.countOf(QUEUE_SHARD)).to.equal(2);
    });

    it('raises an alarm again at intervals, for as long as the owner serves', async () => {
      const stand = new Stand();
      for (let i = 0; i < 2; i += 1) await stand.intake.append(QUEUE_SHARD, Buffer.from('no record'));
      const follower = stand.follow({ alarmEveryMs: 1000 });
      await stand.settle();
      stand.alarms.length = 0;
      await stand.time.advance(2000);
      expect(stand.alarms).to.deep.equal(['intake.held-up 1', 'intake.held-up 1']);
      follower.stop();
      await stand.time.advance(2000);
      expect(stand.alarms).to.have.length(2);
    });

    it('is named in the alarm up to a number, and counted above it', async () => {
      const stand = new Stand();
      for (let i = 0; i <= MAX_NAMED_RECORDS; i += 1) await stand.intake.append(QUEUE_SHARD, Buffer.from('no record'));
      stand.follow();
      await stand.settle();
      expect(stand.alarms).to.have.length(MAX_NAMED_RECORDS);
    });

    it('is found again by the next owner, who sends the later records again with their positions', async () => {
      const stand = new Stand();
      await stand.intake.append(QUEUE_SHARD, Buffer.from('no record'));
      await stand.tell();
      const follower = stand.follow();
      await stand.settle();
      await stand.answer(0);
      follower.stop();
      await stand.tell();
      stand.follow();
      await stand.settle();
      await stand.answer(1);
      await stand.answer(2);
      expect(stand.asked.map(([, position]) => position)).to.deep.equal([2, 2, 3]);
      expect(stand.alarms).to.deep.equal(['intake.record-unreadable 1', 'intake.record-unreadable 1']);
      expect(stand.intake.countOf(QUEUE_SHARD)).to.equal(3);
    });
  });

  describe('an intake record that is refused', () => {
    it('is sent alone, so that no other record is refused with it', async () => {
      const stand = new Stand();
      for (let i = 0; i < 3; i += 1) await stand.tell();
      stand.follow();
      await stand.settle();
      await stand.answer(0);
      await stand.answer(1, REFUSED);
      await stand.answer(2);
      expect(stand.asked).to.deep.equal([
        [ACCOUNT, 1, 1],
        [ACCOUNT, 3, 2],
        [ACCOUNT, 2, 1],
        [ACCOUNT, 3, 1],
      ]);
      expect(stand.alarms).to.deep.equal([]);
    });

    it('stays in the intake; later records of its account wait, and those of other accounts do not', async () => {
      const stand = new Stand();
      await stand.tell();
      await stand.tell();
      await stand.tell(OTHER_ACCOUNT);
      stand.follow();
      await stand.settle();
      await stand.answer(0, REFUSED);
      await stand.tell();
      await stand.tell(OTHER_ACCOUNT);
      await stand.settle();
      await stand.answer(1);
      await stand.answer(2);
      expect(stand.asked).to.deep.equal([
        [ACCOUNT, 1, 1],
        [OTHER_ACCOUNT, 3, 1],
        [OTHER_ACCOUNT, 5, 1],
      ]);
      expect(stand.alarms).to.deep.equal(['intake.refused 1']);
      expect(stand.intake.countOf(QUEUE_SHARD)).to.equal(5);
    });

    it('takes no room from others, for any number of records of its account', async () => {
      const stand = new Stand();
      for (let i = 0; i < 4; i += 1) await stand.tell();
      await stand.tell(OTHER_ACCOUNT);
      stand.follow({ maxHeld: 4 });
      await stand.settle();
      expect(stand.works).to.have.length(1);
      await stand.answer(0, REFUSED);
      await stand.settle();
      expect(stand.asked.at(-1)).to.deep.equal([OTHER_ACCOUNT, 5, 1]);
    });
  });
});
