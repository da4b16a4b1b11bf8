/**
 * The operators' API on the management port, over the real decider in memory; a test sets the history of the journal.
 */

import { expect } from 'chai';
import type { Middleware } from 'koa';
import { ManagementGrants } from '../../../src/actors/control/index.js';
import { createAdminHandler } from '../../../src/edge/index.js';
import { type AccountId, type MessageId, MillraceError, type SessionId } from '../../../src/kernel/index.js';
import {
  type AuditTask,
  type ClusterStatus,
  type ConnectedClient,
  type CopyReading,
  type Counts,
  type JournalAudit,
  type LogEvent,
  type LogPage,
  type LogQuery,
  type MessageLog,
  type MessageState,
  type MetricReadings,
  type ReadModelName,
  UNWATCHED,
} from '../../../src/ports/index.js';
import type { KvEvent } from '../../../src/protocol/index.js';
import { eventually } from '../../support/eventually.js';
import { basic, type Caller, MANAGEMENT_ALIAS, ManagementHarness } from '../../support/management-endpoint.js';
import { ManualTime } from '../../support/memory/index.js';
import { MemoryKvGateway } from '../../support/memory-kv-gateway.js';
import { PLAIN_ENVELOPE } from '../../support/message-log-stand.js';
import { ReadStream } from './read-stream.js';

class SaidAudit implements JournalAudit {
  readonly asked: AuditTask[] = [];
  /** Walks that have started and have not ended. */
  underWay = 0;
  texts: readonly string[] = [];
  /** `refusal` is thrown when the walk starts, `failure` after the texts. */
  refusal: Error | undefined;
  failure: Error | undefined;
  /** The texts are followed by a wait for the end. */
  isEndless = false;

  run(task: AuditTask, signal: AbortSignal): AsyncIterable<string> {
    if (this.refusal !== undefined) throw this.refusal;
    this.asked.push(task);
    this.underWay += 1;
    return this.#walk(signal);
  }

  async *#walk(signal: AbortSignal): AsyncIterable<string> {
    try {
      yield* this.texts;
      if (this.failure !== undefined) throw this.failure;
      if (!this.isEndless) return;
      await new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve());
        if (signal.aborted) resolve();
      });
      throw new MillraceError('SHUTTING_DOWN', 'the audit was ended');
    } finally {
      this.underWay -= 1;
    }
  }
}

/** Events in the order in which they were added. Their times never decrease. */
class SaidMessageLog implements MessageLog {
  readonly #events: { account: AccountId; event: LogEvent }[] = [];
  failure: Error | undefined;

  add(account: AccountId, atMs: number, id: string, state: MessageState, body = ''): void {
    const event = {
      atMs,
      state,
      messageId: id as MessageId,
      envelope: PLAIN_ENVELOPE,
      body: Buffer.from(body),
      nextDeliveryAtMs: undefined,
      error: undefined,
      response: undefined,
    };
    this.#events.push({ account, event });
  }

  async events(account: AccountId, { filter, count, cursor }: LogQuery): Promise<LogPage> {
    if (this.failure !== undefined) throw this.failure;
    const all = this.#events.filter((kept) => kept.account === account && kept.event.atMs >= (filter.fromMs ?? 0));
    const from = Number(cursor ?? 0);
    const to = from + count;
    return {
      events: all.slice(from, to).map(({ event }) => event),
      cursor: to < all.length ? String(to) : undefined,
    };
  }

  async dlq() {
    return { entries: [], after: undefined };
  }

  async eventCounts() {
    return { counts: {}, isWhole: true };
  }

  async backlog() {
    return { points: [] };
  }

  dead: Counts = { counts: {}, isWhole: true };

  async dlqCounts() {
    if (this.failure !== undefined) throw this.failure;
    return this.dead;
  }
}

/** A cluster with only the parts that a test adds. */
export const EMPTY_CLUSTER: ClusterStatus = {
  clusterId: 'CLUSTER',
  alarms: [],
  processes: [],
  shards: [],
  servers: [],
  streams: [],
  drained: [],
  moves: [],
};

export class AdminStand extends ManagementHarness {
  readonly audit = new SaidAudit();
  readonly messageLog = new SaidMessageLog();
  readonly gateway = new MemoryKvGateway();
  readonly time = new ManualTime();
  monotonicMs = () => 0;
  clusterStatus = EMPTY_CLUSTER;
  readings: MetricReadings = {};
  isDiskFull = false;
  copy: CopyReading | undefined;
  clients: readonly ConnectedClient[] = [];
  /** Listeners for commands that run in databases. */
  readonly monitors = new Set<(event: KvEvent) => void>();
  isDraining = false;
  isSecure = false;
  keepsReadModels = true;
  readonly rebuilt: ReadModelName[] = [];
  /** The requested actions: of which process, which action, by which caller. */
  readonly wishes: string[][] = [];
  /** Why the next wish cannot come true. */
  wishRefusal: string | undefined;
  readonly #open: ReadStream[] = [];
  #waiting = 0;

  recordAction(...wish: string[]): string | undefined {
    if (this.wishRefusal === undefined) this.wishes.push(wish);
    return this.wishRefusal;
  }

  constructor() {
    let admin: Middleware | undefined;
    let noteAnswer = (_change: 1 | -1) => {};
    const mounted: Middleware = (context, next) => {
      if (!context.path.startsWith('/v2/admin/') || admin === undefined) return next();
      noteAnswer(1);
      context.res.once('close', () => noteAnswer(-1));
      return admin(context, next);
    };
    super({ aliases: [MANAGEMENT_ALIAS], mount: [mounted] });
    noteAnswer = (change) => {
      this.#waiting += change;
    };
    const stand = this;
    admin = createAdminHandler({
      access: new ManagementGrants({
        state: this.control.state,
        requireFresh: () => {
          if (this.isControlStale) throw new MillraceError('CONTROL_STALE', 'no word from control');
        },
      }),
      control: this.control,
      sealing: () => this.sealing,
      publicUrls: { search: 'https://console.example' },
      steering: {
        drain: async (process, by) => this.recordAction(process, 'drain', by),
        undrain: async (process, by) => void this.recordAction(process, 'undrain', by),
        move: async (shard, process, by) => this.recordAction(shard, process ?? 'anywhere', by),
      },
      audit: this.audit,
      gateway: this.gateway,
      backups: this.backups,
      messageLog: this.messageLog,
      cluster: { look: async () => this.clusterStatus },
      clientsOf: () => this.clients,
      events: {
        edge: 'node-test' as SessionId,
        subscribe: async (_grant, _kind, _name, onEvent) => {
          this.monitors.add(onEvent);
          return { stop: () => void this.monitors.delete(onEvent) };
        },
      },
      metrics: { ...UNWATCHED, readings: () => this.readings },
      storage: { isFull: () => this.isDiskFull },
      copy: { reading: () => this.copy },
      statistics: this.statistics,
      get readModels() {
        return stand.keepsReadModels
          ? { rebuild: (model: ReadModelName) => void stand.rebuilt.push(model) }
          : undefined;
      },
      random: this.random,
      clock: { nowMs: () => this.control.nowMs, monotonicMs: () => this.monotonicMs() },
      timers: this.time,
      log: this.log,
      get isSecure() {
        return stand.isSecure;
      },
      isDraining: () => this.isDraining,
      isOperator: ({ account }) => account === this.ownerAccount,
    });
  }

  override async stop(): Promise<void> {
    for (const stream of this.#open) stream.leave();
    await super.stop();
  }

  /** Resolves when every open request is answered or closed by its client. */
  async allAnswered(): Promise<void> {
    await eventually(() => expect(this.#waiting).to.equal(0));
  }

  /** Opens a stream and resolves when its answer has begun, with any status. */
  async open(path: string, as: Caller = this.owner): Promise<ReadStream> {
    const stream = await ReadStream.open(this.url + path, basic(as.email, as.key));
    this.#open.push(stream);
    return stream;
  }
}
