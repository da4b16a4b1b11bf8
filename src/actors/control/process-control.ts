/**
 * The control plane in one process: its copy of who may do what, its shares of the daily limits, its counts; and, where
 * this process may own the control shard, the owner with what it does beside answering.
 */
import { searchReranks } from '../../domain/control/index.js';
import type { Prices } from '../../domain/statistics/index.js';
import type { AccountId, DatabaseId, SessionId } from '../../kernel/index.js';
import type { Check, DataLimits, Freshness, MeterLog, ProcessPorts, Quota, Sealing } from '../../ports/index.js';
import type { ShardCaller } from '../runtime/index.js';
import { Accounts } from './accounts.js';
import { AclAdministration } from './acl-administration.js';
import { ControlGateway } from './control-gateway.js';
import type { ControlOwner } from './control-owner.js';
import { ControlStart } from './control-start.js';
import { ControlView } from './control-view.js';
import { ManagementGrants } from './management-grants.js';
import { MeterWriter } from './meter-writer.js';
import { type PlanLimits, planLimits } from './plan-limits.js';
import { QuotaSlices } from './quota-slices.js';
import { SearchGrants } from './search-grants.js';

export interface ProcessControlPorts extends ProcessPorts {
  readonly meterLog: MeterLog;
  readonly sealing: Sealing;
  /** It leads to the owner, where that is another process. */
  readonly caller: ShardCaller;
  /** Undefined in a process that never owns the control shard. */
  readonly owner: ControlOwner | undefined;
}

export interface ProcessControlOptions {
  /** Stays the same when the session is lost. */
  readonly process: SessionId;
  /** Nobody else can own anything here. */
  readonly isAlone: boolean;
  readonly staleMs: number;
  /** How long a request waits for a copy that is fresh. */
  readonly holdMs: number;
  readonly prices: Prices;
  /** False of one that neither lets requests in nor owns anything: it never needs an answer. */
  readonly asksOwner: boolean;
}

export class ProcessControl {
  /** It leads to the control actor, wherever that is. */
  readonly client: ControlGateway;
  /** This process's copy of the control state. */
  readonly view: ControlView;
  /** All that lets requests in asks it. */
  readonly freshness: Freshness;
  readonly users: AclAdministration;
  /** Whom queue tokens let in, limits, signing keys. */
  readonly accounts: Accounts;
  /** Who may use the management API. */
  readonly management: ManagementGrants;
  /** Whom tokens of search indexes let in, and which indexes there are. */
  readonly search: SearchGrants;
  /** It holds for what has no plan. */
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
    const word = isAlone && owner ? { storedHere: () => owner.accessPosition } : { asksOwner: asksOwner && !isAlone };
    const view = new ControlView({ ...ports, onBackInTouch }, { session: process, staleMs, ...word });
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
    this.management = new ManagementGrants(view);
    this.search = new SearchGrants(view);
  }

  /** Of the control shard, where this process may own it. */
  get host(): ControlOwner['host'] | undefined {
    return this.ports.owner?.host;
  }

  /** The daily limit of a database, behind the rate of its plan. */
  get quota(): Quota {
    return this.#plans.quota;
  }

  get dataLimits(): DataLimits {
    return this.#plans.dataLimits;
  }

  /** Does this process own the control shard at this moment? */
  isOwner(): boolean {
    return this.ports.owner?.isServing === true;
  }

  /** Whose people operate the installation, as far as this process has heard. */
  firstAccount(): AccountId | undefined {
    return this.view.state.firstStart?.account;
  }

  /** Each unit is counted as one command of a subject of its own. Of this UTC month, as `bytes`. */
  rerankUnits(index: DatabaseId): number {
    return this.view.state.commandsThisMonth(searchReranks(index), this.ports.clock.nowMs());
  }

  /** In and out. */
  bytes(index: DatabaseId): number {
    return this.view.state.bytesThisMonth(index, this.ports.clock.nowMs());
  }

  /**
   * Resolves when tokens can be judged here.
   * @param prepare makes the first database, where this process may own the control shard; `pause` between its tries
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
    if (!this.view.isFresh) return { ok: false, detail: 'nothing heard from the control stream' };
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
