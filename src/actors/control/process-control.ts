/**
 * The control plane in one process: its copy of the grants, its slices of the daily limits, its meter and, where this
 * process may own the control shard, the owner with its background work.
 */
import { type SearchIndex, searchReranks } from '../../domain/control/index.js';
import type { Prices } from '../../domain/statistics/index.js';
import type { DatabaseId, SessionId } from '../../kernel/index.js';
import type {
  Check,
  DataLimits,
  Freshness,
  MeterLog,
  ProcessPorts,
  Quota,
  Sealing,
  SearchAccess,
  SearchGrant,
} from '../../ports/index.js';
import { hashSecret } from '../../protocol/index.js';
import type { ShardCaller } from '../runtime/index.js';
import { Accounts } from './accounts.js';
import { AclAdministration } from './acl-administration.js';
import { ControlGateway } from './control-gateway.js';
import type { ControlOwner } from './control-owner.js';
import { ControlStart } from './control-start.js';
import { ControlView } from './control-view.js';
import { type FreshState, ManagementGrants } from './management-grants.js';
import { MeterWriter } from './meter-writer.js';
import { type PlanLimits, planLimits } from './plan-limits.js';
import { QuotaSlices } from './quota-slices.js';

interface ChangingState extends FreshState {
  whenAccessChanged(listener: () => void): void;
}

/** Grants of search tokens, looked up in this process's copy of the control state. */
export class SearchGrants implements SearchAccess {
  constructor(private readonly view: ChangingState) {}

  grantForSearch(index: DatabaseId, token: string): SearchGrant | undefined {
    this.view.requireFresh();
    const { search } = this.view.state;
    const owner = search.tokens.get(hashSecret(token));
    const found = search.live(index);
    if (owner?.index !== index || found === undefined) return undefined;
    const { account, limits, vectors } = found;
    return { index, account, role: owner.role, limits, vectors };
  }

  /** May be a moment old, as in `AccountBook`. */
  *searchIndexes(): Iterable<SearchIndex> {
    for (const index of this.view.state.search.byId.values()) if (index.deletedAtMs === undefined) yield index;
  }

  whenSearchIndexesChange(listener: () => void): void {
    this.view.whenAccessChanged(listener);
  }
}

export interface ProcessControlPorts extends ProcessPorts {
  readonly meterLog: MeterLog;
  readonly sealing: Sealing;
  /** Leads to the owner in another process. */
  readonly caller: ShardCaller;
  /** Undefined in a process that never owns the control shard. */
  readonly owner: ControlOwner | undefined;
}

export interface ProcessControlOptions {
  /** Stays the same when the session is lost. */
  readonly process: SessionId;
  /** True when no other process can own a shard. */
  readonly isAlone: boolean;
  readonly staleMs: number;
  /** How long a request waits for a fresh copy. */
  readonly holdMs: number;
  readonly prices: Prices;
  /** False for a process that neither accepts requests nor owns shards: it needs no fresh copy. */
  readonly asksOwner: boolean;
  /** The identity providers of the settings. Default: none. */
  readonly providers?: readonly { readonly name: string }[] | undefined;
}

export class ProcessControl {
  /** Leads to the control actor in any process. */
  readonly client: ControlGateway;
  /** This process's copy of the control state. */
  readonly view: ControlView;
  /** Checked before each request is accepted. */
  readonly freshness: Freshness;
  readonly users: AclAdministration;
  /** Grants of queue tokens, limits and signing keys. */
  readonly accounts: Accounts;
  /** Grants of the management API. */
  readonly management: ManagementGrants;
  /** Grants of search tokens, and the list of indexes. */
  readonly search: SearchGrants;
  /** The daily limit of databases without a plan. */
  readonly dailyQuota: QuotaSlices;
  readonly meter: MeterWriter;
  readonly #plans: PlanLimits;
  readonly #start: ControlStart;

  constructor(
    private readonly ports: ProcessControlPorts,
    private readonly options: ProcessControlOptions,
  ) {
    const { owner, caller, clock, random, log, sealing } = ports;
    const { process, isAlone, staleMs, holdMs, prices, asksOwner } = options;
    const client = owner?.client ?? new ControlGateway(caller, undefined);
    const daily = new QuotaSlices({ client, clock, log }, process);
    const onBackInTouch = (silentForMs: number) => daily.backInTouch(silentForMs);
    const confirmed =
      isAlone && owner ? { storedHere: () => owner.accessPosition } : { asksOwner: asksOwner && !isAlone };
    const view = new ControlView({ ...ports, onBackInTouch }, { session: process, staleMs, ...confirmed });
    this.client = client;
    this.dailyQuota = daily;
    this.view = view;
    this.#plans = planLimits({ ...ports, view, client, daily }, prices);
    this.meter = new MeterWriter(ports, process);
    this.#start = new ControlStart({ ...ports, client, view, host: owner?.host, isAlone });
    this.accounts = new Accounts(
      { view, client, random, sealing: () => sealing },
      { centsPer100kMessages: prices.queue.centsPer100kMessages },
    );
    this.freshness = {
      get isFresh() {
        return view.isFresh;
      },
      untilFresh: () => view.untilFresh(holdMs),
    };
    this.users = new AclAdministration(client, view, random);
    const providers = new Set(options.providers?.map(({ name }) => name));
    this.management = new ManagementGrants(view, (name) => providers.has(name));
    this.search = new SearchGrants(view);
  }

  /** Of the control shard, where this process may own it. */
  get host(): ControlOwner['host'] | undefined {
    return this.ports.owner?.host;
  }

  /** The daily limit of a database, after the rate of its plan. */
  get quota(): Quota {
    return this.#plans.quota;
  }

  get dataLimits(): DataLimits {
    return this.#plans.dataLimits;
  }

  /** True while this process owns the control shard. */
  isOwner(): boolean {
    return this.ports.owner?.isServing === true;
  }

  /** Units of this UTC month; each is counted as one command of a separate subject. */
  rerankUnits(index: DatabaseId): number {
    return this.view.state.commandsThisMonth(searchReranks(index), this.ports.clock.nowMs());
  }

  /** Bytes in and out. */
  bytes(index: DatabaseId): number {
    return this.view.state.bytesThisMonth(index, this.ports.clock.nowMs());
  }

  /**
   * Resolves when tokens can be checked here.
   * @param prepare  creates the first database, where this process may own the control shard; it calls `pause` between tries
   */
  async start<T>(prepare: (pause: () => Promise<void>) => Promise<T>): Promise<T | undefined> {
    const { owner } = this.ports;
    if (this.options.isAlone) await this.#start.refuseDamage();
    owner?.start();
    this.meter.start();
    const isReady = this.view.start();
    const prepared = owner === undefined ? undefined : await prepare(() => this.#start.pause());
    await this.#start.untilCopied(isReady);
    if (owner !== undefined) await this.#start.untilFirstStartIsKnown();
    if (this.options.asksOwner) void this.#start.untilAnswered();
    return prepared;
  }

  check(): Check {
    if (!this.view.isFresh) return { ok: false, detail: 'no message from the control stream yet' };
    return this.#start.hasAnswered || !this.options.asksOwner
      ? { ok: true }
      : { ok: false, detail: 'the control shard has not answered yet' };
  }

  async stop(): Promise<void> {
    this.#start.stop();
    this.#plans.stop();
    await this.dailyQuota.giveBack();
    await this.meter.stop();
    this.view.stop();
    await this.ports.owner?.stop();
  }
}
