/**
 * The intake of the queue's shards for one simulated process: several writers without fencing, and every failure that
 * IL2 permits.
 */
import { MillraceError, type ShardName } from '../../src/kernel/index.js';
import type { IntakeLog, Journal, JournalFollower, Subscription } from '../../src/ports/index.js';
import { intakeOf } from '../../src/protocol/index.js';
import { unavailable } from './sim-journal.js';
import type { SimLink } from './sim-link.js';
import { lastOf, type SimServer } from './sim-server.js';

export class SimIntakeLog implements IntakeLog {
  constructor(
    private readonly link: SimLink,
    private readonly server: SimServer,
    /** The follower of the journal works for every stream. */
    private readonly journal: Pick<Journal, 'follow'>,
    private readonly timeoutMs: number,
  ) {}

  async append(shard: ShardName, bytes: Uint8Array): Promise<void> {
    const copy = new Uint8Array(bytes);
    const intake = intakeOf(shard);
    await this.ask(intake, `append to ${intake}`, () => {
      const stream = this.server.streams.get(intake);
      if (stream === undefined) return false;
      return this.server.append(intake, copy, lastOf(stream)).kind === 'stored';
    });
  }

  follow(shard: ShardName, from: number, follower: JournalFollower): Subscription {
    return this.journal.follow(intakeOf(shard), from, follower);
  }

  async trim(shard: ShardName, position: number): Promise<void> {
    const intake = intakeOf(shard);
    await this.ask(intake, `trim ${intake} up to ${position}`, () => {
      const stream = this.server.streams.get(intake);
      if (stream === undefined) return false;
      const upTo = Math.min(position, lastOf(stream));
      if (upTo < stream.first) return true;
      stream.messages.splice(0, upTo - stream.first + 1);
      stream.first = upTo + 1;
      return true;
    });
  }

  private async ask(intake: ShardName, label: string, act: () => boolean): Promise<void> {
    const answer = await this.link.request<boolean>(intake, label, this.timeoutMs, (reply) =>
      this.server.withLeader(
        intake,
        () => reply(act()),
        () => reply(false),
      ),
    );
    if (answer.kind !== 'answered') throw unavailable(`${label}: ${answer.kind}`);
    if (!answer.value) throw new MillraceError('JOURNAL_UNAVAILABLE', `${label}: nobody answers`, { isStored: false });
  }
}
