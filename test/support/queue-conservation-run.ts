/** A run of a conservation test: the load, the faults, and the checks after all messages have ended. */
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { AccountId } from '../../src/kernel/index.js';
import { eventually } from './eventually.js';
import { type JournalReader, ownershipViolations } from './journal-reader.js';
import { logOf } from './millrace-cluster.js';
import type { Environment, MillraceProcess } from './millrace-process.js';
import { judgeConservation } from './queue-conservation.js';
import type { ConservationClient } from './queue-conservation-client.js';
import { type FaultRecord, isDelivery } from './queue-conservation-history.js';
import { judgeQueueJournal, markUnreported, queueEventsOf } from './queue-conservation-journal.js';
import { type ConservationLoad, PARALLELISM, RATES } from './queue-conservation-load.js';
import type { HostileSinks } from './queue-conservation-sinks.js';
import { QUEUE_TOKEN, SIGNING_KEYS } from './queue-process.js';

/** The wait for a takeover or a restart, on a machine that is busy with other programs. */
export const BACK_TIMEOUT_MS = 25_000;
/** The wait for the rest of the work after the load: retries, rate windows and queues with a parallelism of one. */
const SETTLED_TIMEOUT_MS = 60_000;
/** The file with the history of the last failed run. */
const HISTORY_FILE = join(tmpdir(), 'millrace-queue-conservation.json');
/** The only shard, which contains all messages of the account. */
export const SHARD = 'QUEUE_0';

/**
 * Log events of a shard that changes its owner. An owner that ends before it has stored its release logs none, so the
 * next owner's claim counts as well.
 */
const MOVES = ['shard.ended', 'shard.released', 'shard.claiming'];

/** The account to check, and its shard. */
interface Whose {
  readonly shard: string;
  /** If undefined, the only account is checked. */
  readonly account?: AccountId;
}
const WHOSE: Whose = { shard: SHARD };

export const QUEUE_SETTINGS: Environment = {
  MILLRACE_QUEUE_SHARDS: '1',
  MILLRACE_QUEUE_TOKEN: QUEUE_TOKEN,
  MILLRACE_SIGNING_KEY_CURRENT: SIGNING_KEYS.current,
  MILLRACE_SIGNING_KEY_NEXT: SIGNING_KEYS.next,
  MILLRACE_ALLOW_PRIVATE_DESTINATIONS: 'true',
  // A process with outdated permissions refuses requests. The longer limit avoids that, because it would hide the
  // behaviour of the queue's owner.
  MILLRACE_CONTROL_STALE_MS: '5000',
};

/** The parts of a run and its results. */
export class ConservationRun {
  readonly faults: FaultRecord[] = [];
  readonly everStarted: MillraceProcess[] = [];

  constructor(
    readonly sinks: HostileSinks,
    readonly load: ConservationLoad,
  ) {}

  /** Records a fault that `strike` causes; the fault ends when the load makes progress again. */
  async fault(what: FaultRecord['what'], victim: string | undefined, strike: () => Promise<void>): Promise<void> {
    const fault: FaultRecord = { what, victim, atMs: Date.now(), untilMs: Number.POSITIVE_INFINITY };
    this.faults.push(fault);
    await strike();
    await this.progress(1);
    fault.untilMs = Date.now();
  }

  /** Records the start of a fault. @returns a function that records its end and the struck process */
  beginOutage(): (victim: string | undefined) => void {
    const atMs = Date.now();
    const fault: FaultRecord = { what: 'server', victim: undefined, atMs, untilMs: Number.POSITIVE_INFINITY };
    this.faults.push(fault);
    return (victim) => {
      fault.untilMs = Date.now();
      if (victim !== undefined) this.faults.push({ what: 'killed', victim, atMs, untilMs: fault.untilMs });
    };
  }

  /** Waits until this number of further messages were accepted and some were delivered. */
  async progress(more: number): Promise<void> {
    const accepted = this.load.accepted + more;
    const delivered = this.#delivered + 1;
    await eventually(
      () => {
        expect(this.load.accepted, 'accepted').to.be.at.least(accepted);
        expect(this.#delivered, 'delivered').to.be.at.least(delivered);
      },
      { timeoutMs: BACK_TIMEOUT_MS, everyMs: 20 },
    );
  }

  get #delivered(): number {
    return this.sinks.calls.filter(isDelivery).length;
  }

  /** Stops the load, lets all destinations succeed, waits until no message is left, and checks the history. */
  async judge(client: ConservationClient, journal: JournalReader, { shard, account }: Whose = WHOSE): Promise<void> {
    await this.load.stop();
    await this.sinks.stopFailing();
    const settled = await this.#settle(client).then(
      () => undefined,
      (error: Error) => error,
    );
    this.#noteMoves(shard);
    const { publishes } = this.load;
    const { calls } = this.sinks;
    const dlq = await client.dlq();
    const pending = await this.#pending(client, new Set(dlq.map(({ messageId }) => messageId)));
    client.close();
    const { faults } = this;
    const counts = {
      accepted: this.load.accepted,
      refused: this.load.count('refused'),
      unknown: this.load.count('unknown'),
      calls: calls.length,
      dead: dlq.length,
      pending: pending.length,
      moves: faults.filter(({ what }) => what === 'moved').length,
    };
    console.log(`      ${JSON.stringify(counts)}`);
    const events = await queueEventsOf(journal, shard, account);
    markUnreported(events, calls);
    const history = { publishes, calls, faults, dlq, pending, parallelism: PARALLELISM, rates: RATES };
    const violations = [
      ...judgeConservation(history),
      ...judgeQueueJournal(events, calls, (url) => this.sinks.isOwn(url)),
    ];
    if (violations.length > 0) await writeFile(HISTORY_FILE, JSON.stringify({ ...history, events }));
    expect(violations, `what happened is in ${HISTORY_FILE}`).to.deep.equal([]);
    expect(ownershipViolations(await journal.entries(shard))).to.deep.equal([]);
    expect(await journal.findings(shard)).to.deep.equal([]);
    if (settled !== undefined) throw settled;
  }

  async #settle(client: ConservationClient): Promise<void> {
    await eventually(
      async () => {
        const dead = new Set((await client.dlq()).map(({ messageId }) => messageId));
        const left = (await this.#pending(client, dead)).length - this.load.publishes.filter(isStillDue).length;
        expect(left, 'messages without an end').to.equal(0);
        expect(await client.callsInFlight(), 'calls in flight').to.equal(0);
        expect(this.sinks.openCalls, 'calls open at destinations').to.equal(0);
      },
      { timeoutMs: SETTLED_TIMEOUT_MS, everyMs: 200 },
    );
  }

  /** The messages that can be read and have not ended. */
  async #pending(client: ConservationClient, dead: ReadonlySet<string>): Promise<string[]> {
    const delivered = new Set(this.sinks.calls.filter(isDelivery).map(({ id }) => id));
    const open = this.load.publishes
      .map(({ id }) => id)
      .filter((id): id is string => id !== undefined && !delivered.has(id) && !dead.has(id));
    const pending: string[] = [];
    for (const id of open) {
      // One request at a time, because the rate of reads of an account is limited.
      if (await eventually(() => client.isThere(id), { timeoutMs: BACK_TIMEOUT_MS, everyMs: 100 })) pending.push(id);
    }
    return pending;
  }

  /** Records moves of shards that the test did not cause, because they interrupt calls too. */
  #noteMoves(of: string): void {
    const moves = this.everStarted
      .flatMap((millrace) => logOf(millrace))
      .filter(({ event, shard }) => shard === of && MOVES.includes(String(event)));
    for (const { time } of moves) {
      const atMs = Date.parse(String(time));
      this.faults.push({ what: 'moved', victim: undefined, atMs, untilMs: atMs });
    }
  }
}

function isStillDue({ is, isFar }: { is: string; isFar: boolean }): boolean {
  return is === 'acked' && isFar;
}
