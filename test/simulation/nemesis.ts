/**
 * Injects the faults that do not affect single messages: pauses, crashes, network cuts, elections and clock changes.
 */
import type { ShardName } from '../../src/kernel/index.js';
import type { Faults } from './faults.js';
import type { SeededRandom } from './seeded-random.js';
import type { SimKit, SimMember } from './sim-kit.js';
import { LEASES } from './sim-stores.js';

export interface Victims {
  /** The running processes, including paused ones. */
  members(): readonly SimMember[];
  crash(member: SimMember): void;
  leave(member: SimMember): void;
}

/** Durations near the protocol's limits, a read lease (2 s) and a takeover (3 s), and well below and above them. */
const SPANS_MS: readonly (readonly [number, number])[] = [
  [50, 900],
  [1500, 4500],
  [4000, 12_000],
];

export class Nemesis {
  private isDone = false;
  private readonly random: SeededRandom;

  constructor(
    private readonly kit: SimKit,
    private readonly faults: Faults,
    private readonly shards: readonly ShardName[],
    private readonly victims: Victims,
  ) {
    this.random = kit.random.fork();
  }

  start(): void {
    const { faults, random } = this;
    const spanMs = () => random.between(...random.pick(SPANS_MS));
    this.every(faults.pauseEveryMs, () => this.one()?.process.pause(spanMs()));
    this.every(faults.suspendEveryMs, () => this.one()?.process.suspend(spanMs()));
    this.every(faults.cutEveryMs, () => this.one()?.link.cut(spanMs()));
    this.every(faults.clockJumpEveryMs, () =>
      this.one()?.process.jumpWallClock(random.between(-1, 1) * random.pick([100, 3000, faults.largestJumpMs])),
    );
    this.every(faults.leaderGapEveryMs, () => this.kit.server.loseLeader(random.pick([...this.shards, LEASES])));
    this.every(faults.crashEveryMs, () => {
      const victim = this.one();
      if (victim !== undefined) this.victims.crash(victim);
    });
    this.every(faults.leaveEveryMs, () => {
      const leaver = this.one();
      if (leaver !== undefined) this.victims.leave(leaver);
    });
    this.every(faults.partitionEveryMs, () => {
      const [a, b] = [this.one(), this.one()];
      if (a !== undefined && b !== undefined && a !== b)
        this.kit.network.part(a.process.name, b.process.name, spanMs());
    });
  }

  stop(): void {
    this.isDone = true;
  }

  private one(): SimMember | undefined {
    const members = this.victims.members();
    return members.length === 0 ? undefined : this.random.pick(members);
  }

  private every(meanMs: number, action: () => void): void {
    if (meanMs === 0) return;
    const { scheduler } = this.kit;
    const again = () => {
      const inMs = -Math.log(1 - this.random.float()) * meanMs;
      scheduler.at(scheduler.nowMs + inMs, undefined, 'timer', 'nemesis', () => {
        if (this.isDone) return;
        action();
        again();
      });
    };
    again();
  }
}
