/**
 * Exports the audit logs of accounts to their URLs, while this process owns the control shard, and answers the management
 * API's questions about exports in every process. Without an export no journal is read.
 */
import type { AuditExport, ControlState } from '../../domain/control/index.js';
import { type PendingView, parseDestinationUrl } from '../../domain/queue/index.js';
import { endPosition } from '../../journal/index.js';
import { type AccountId, MillraceError } from '../../kernel/index.js';
import type {
  AccountBook,
  AuditExportLag,
  AuditExports,
  Journal,
  MessageLog,
  Metrics,
  Timer,
} from '../../ports/index.js';
import { CONTROL_SHARD } from '../../protocol/index.js';
import { placeOf, sequenceAfter } from '../triggers/index.js';
import { AuditExportRelay, type AuditExportRelayPorts, sourceOf } from './audit-export-relay.js';
import { EXPORT_LABEL, EXPORT_QUEUE, type ExportedAccounts, refusedExport } from './audit-messages.js';
import { NoteFeed, notesAt } from './audit-notes.js';

/** Relays follow a change of the exports, or of the owner, after so long. */
const LOOK_EVERY_MS = 1_000;
/** Messages of the journal in which a question about the lag looks for the first note: the log of a minute. */
const MAX_LOOKED_AT = 5_000;

export interface AuditExporterPorts extends Omit<AuditExportRelayPorts, 'accounts'> {
  readonly journal: Journal;
  readonly accounts: AccountBook;
  readonly messageLog: Pick<MessageLog, 'events'>;
  readonly metrics: Pick<Metrics, 'gauge'>;
  readonly state: () => ControlState;
  /** True when this process owns the control shard. */
  isOwner(): boolean;
}

export class AuditExporter implements AuditExports, ExportedAccounts {
  readonly #relays = new Map<AccountId, AuditExportRelay>();
  #timer: Timer | undefined;
  #gauge: { stop(): void } | undefined;

  constructor(private readonly ports: AuditExporterPorts) {}

  start(): void {
    const { metrics, timers, isOwner } = this.ports;
    const lagSeconds = () => (isOwner() ? this.#lagMs / 1000 : undefined);
    this.#gauge = metrics.gauge('millrace_audit_export_lag_seconds', lagSeconds, 'urls');
    this.#timer = timers.every(LOOK_EVERY_MS, () => this.look());
  }

  stop(): void {
    this.#timer?.cancel();
    this.#gauge?.stop();
    for (const relay of this.#relays.values()) relay.stop();
    this.#relays.clear();
  }

  /** Starts and ends relays. */
  look(): void {
    const wanted = this.ports.isOwner() ? this.ports.state().auditExports : new Map<AccountId, AuditExport>();
    for (const [account, relay] of this.#relays) {
      const now = wanted.get(account);
      if (now !== undefined && now.url === relay.of.url && now.position === relay.of.position) continue;
      relay.stop();
      this.#relays.delete(account);
    }
    for (const [account, one] of wanted) {
      if (this.#relays.has(account)) continue;
      const relay = new AuditExportRelay({ ...this.ports, accounts: this }, one);
      this.#relays.set(account, relay);
      relay.start();
    }
  }

  queueOf(account: AccountId) {
    const [id] = this.ports.state().people.queues.of(account);
    const terms = id && this.ports.accounts.termsOf(id);
    if (id === undefined || terms === undefined) {
      throw new MillraceError('SHARD_UNAVAILABLE', 'the account has no queue, or it is not known here yet');
    }
    return { id, terms };
  }

  refusalOf(account: AccountId, url: string): string | undefined {
    const { terms } = this.queueOf(account);
    // A publish takes the name of a URL group, too, which an export does not.
    const outcome = parseDestinationUrl(url, 'destination');
    if (!outcome.isOk) return outcome.message;
    return refusedExport(this.ports, { account, url, terms }, this.ports.clock.nowMs());
  }

  endPosition(): Promise<number> {
    return endPosition(this.ports.journal, CONTROL_SHARD);
  }

  async lagOf(one: AuditExport): Promise<AuditExportLag> {
    const { id } = this.queueOf(one.account);
    const command = { type: 'TakeOutbox', source: sourceOf(one.account), records: [] } as const;
    const reply = await this.ports.queue.ask(id, command);
    if (reply.type !== 'OutboxTaken')
      throw new MillraceError('SHARD_UNAVAILABLE', 'the queue does not tell the position');
    const taken = Math.max(reply.sequence, sequenceAfter(one.position));
    const { position, isWhole } = placeOf(taken);
    const atMs = await this.#firstNoteAfter(one, taken);
    const oldest = await this.#oldestMessage(id);
    const problem =
      atMs === undefined
        ? oldest && (await this.#lastError(id, oldest))
        : (this.#relays.get(one.account)?.problem ?? this.refusalOf(one.account, one.url));
    return {
      lagMs: this.#ageOf(atMs),
      position: isWhole ? position : position - 1,
      undeliveredMs: this.#ageOf(oldest?.createdAtMs),
      problem,
    };
  }

  #ageOf(atMs: number | undefined): number {
    return atMs === undefined ? 0 : Math.max(0, this.ports.clock.nowMs() - atMs);
  }

  async #oldestMessage(queue: AccountId): Promise<PendingView | undefined> {
    const filter = { queueName: [EXPORT_QUEUE], label: [EXPORT_LABEL] };
    const list = { states: [], order: 'earliestFirst', count: 1, after: undefined } as const;
    const reply = await this.ports.queue.ask(queue, { type: 'ListMessages', filter, ...list });
    return reply.type === 'Messages' ? reply.messages[0] : undefined;
  }

  /** A message without a failed attempt needs no question to the log. */
  async #lastError(queue: AccountId, { id, state, retried }: PendingView): Promise<string | undefined> {
    if (retried === 0 && state !== 'RETRYING') return undefined;
    const query = { filter: { messageId: [id] }, states: ['ERROR', 'RETRY'], order: 'latestFirst', count: 1 } as const;
    const page = await this.ports.messageLog.events(queue, { ...query, cursor: undefined, trimBytes: 0 }, 0);
    return page.events[0]?.error;
  }

  get #lagMs(): number {
    return Math.max(0, ...[...this.#relays.values()].map(({ lagMs }) => lagMs));
  }

  /** The time of the first note that is not taken. */
  async #firstNoteAfter({ account }: AuditExport, taken: number): Promise<number | undefined> {
    const { journal, timers } = this.ports;
    const { position, isWhole } = placeOf(taken);
    const { first, last } = await journal.tail(CONTROL_SHARD);
    if (!isWhole)
      return (await notesAt(journal, timers, position))?.find(({ note }) => note.account === account)?.note.atMs;
    const from = Math.max(first, position + 1);
    const to = Math.min(last, from + MAX_LOOKED_AT);
    if (from > to) return undefined;
    const feed = new NoteFeed(timers);
    for await (const message of journal.read(CONTROL_SHARD, from, to)) {
      const found = (await feed.notesIn([message])).find(({ note }) => note.account === account);
      if (found !== undefined) return found.note.atMs;
    }
    return undefined;
  }
}
