/**
 * The control plane in one process: its copy of who may do what, its shares of the daily limits, its
 * counts; and, where this process may own shards, the control actor with what it does beside answering.
 */
import { join } from 'node:path';
import type { DependencyContainer } from 'tsyringe';
import {
  Accounts,
  AclAdministration,
  ControlGateway,
  ControlOwner,
  ControlStart,
  ControlView,
  DEFAULT_METER_OPTIONS,
  firstStart,
  ManagementGrants,
  MeterWriter,
  planLimits,
  QuotaSlices,
  SearchGrants,
} from '../actors/control/index.js';
import { ShardCaller } from '../actors/runtime/index.js';
import { JetStreamMeterLog } from '../adapters/nats/index.js';
import { CredentialsFile, credentialLines, givenCredentials } from '../adapters/node/index.js';
import { searchReranks } from '../domain/control/index.js';
import type { SearchMonth } from '../edge/index.js';
import type { AccountId } from '../kernel/index.js';
import type {
  Access,
  AclAdmin,
  DataLimits,
  Freshness,
  ManagementAccess,
  ManagementControl,
  Meter,
  Quota,
  RespAccess,
  SearchAccess,
} from '../ports/index.js';
import { ownedShards } from './owned-shards.js';
import { pricesOf } from './prices.js';
import { ANSWER_MEMORY, callLimitsOf } from './runtime-parts.js';
import * as tokens from './tokens.js';

/** What the first start made and nobody gave. */
export interface MadeCredentials {
  /** Where all of them are kept. */
  readonly file: string;
  /** `VARIABLE=value`, a line each; empty when all were given. */
  readonly lines: string;
}

export interface ControlRole {
  readonly access: Access & RespAccess;
  /** Of all that lets requests in. */
  readonly freshness: Freshness;
  readonly users: AclAdmin;
  /** Whom queue tokens let in, limits, signing keys. */
  readonly accounts: Accounts;
  /** Who may use the management API. */
  readonly management: ManagementAccess;
  /** Whom tokens of search indexes let in, and which indexes there are. */
  readonly search: SearchAccess;
  readonly searchMonth: SearchMonth;
  /** This process's copy of the control state. */
  readonly view: Pick<ControlView, 'state' | 'isFresh'>;
  /** Does this process own the control shard at this moment? */
  isOwner(): boolean;
  /** Whose people operate the installation, as far as this process has heard. */
  firstAccount(): AccountId | undefined;
  /** To the control actor, wherever it is. */
  readonly client: ManagementControl;
  /** The daily limit of a database, behind the rate of its plan. */
  readonly quota: Quota;
  /** Of what has no plan. */
  readonly dailyQuota: Quota;
  readonly dataLimits: DataLimits;
  readonly meter: Meter;
  /** Resolves when tokens can be judged here, and with what to show a person once, if anything. */
  start(): Promise<MadeCredentials | undefined>;
  isFresh(): boolean;
  /** Has the control actor answered a question of this process yet? */
  hasAnswered(): boolean;
  stop(): Promise<void>;
}

export function controlRole(c: DependencyContainer, { ownsShard }: { readonly ownsShard: boolean }): ControlRole {
  const config = c.resolve(tokens.CONFIG);
  const { clock, timers, random, log, journal, leases, objects, bus } = tokens.portsOf(c);
  const sealing = c.resolve(tokens.SEALING);
  const session = c.resolve(tokens.SESSION).processId;
  const { connections, names, isExclusive: isAlone } = c.resolve(tokens.WORLD);
  const meterLog = new JetStreamMeterLog(connections, names, journal);

  const caller = new ShardCaller(bus, clock, timers, random, callLimitsOf(config));
  const owner = ownsShard ? controlOwner(c, meterLog, caller) : undefined;
  const client = owner?.client ?? new ControlGateway(caller, undefined);
  const slices = new QuotaSlices({ client, clock, log }, session);
  const onBackInTouch = (silentForMs: number) => slices.backInTouch(silentForMs);
  const view = new ControlView(
    { journal, objects, timers, log, bus, clock, onBackInTouch },
    { session, staleMs: config.ownership.controlStaleMs },
  );
  const plans = planLimits({ clock, timers, log, view, client, daily: slices }, pricesOf(config));
  const meter = new MeterWriter({ meterLog, clock, timers, log }, session, DEFAULT_METER_OPTIONS);
  const start = new ControlStart({ clock, timers, journal, leases, client, view, host: owner?.host, isAlone });

  return {
    ...accessOf(c, view, client),
    accounts: new Accounts(
      { view, client, random, sealing: () => sealing },
      { centsPer100kMessages: config.prices.queuePriceCents },
    ),
    view,
    isOwner: () => owner?.isServing === true,
    firstAccount: () => view.state.firstStart?.account,
    client,
    quota: plans.quota,
    dailyQuota: slices,
    dataLimits: plans.dataLimits,
    meter,
    start: async () => {
      if (isAlone) await start.refuseDamage();
      owner?.start();
      meter.start();
      const isReady = view.start();
      const credentials = owner === undefined ? undefined : await prepareFirstDatabase(c, client, start);
      await start.untilCopied(isReady);
      if (owner !== undefined) await start.untilFirstStartIsKnown();
      void start.untilAnswered();
      return credentials;
    },
    isFresh: () => view.isFresh,
    hasAnswered: () => start.hasAnswered,
    stop: async () => {
      start.stop();
      plans.stop();
      await slices.giveBack();
      await meter.stop();
      view.stop();
      await owner?.stop();
    },
  };
}

/** Whom this process lets in, as its copy of the control state has it. */
function accessOf(c: DependencyContainer, view: ControlView, client: ControlGateway) {
  const clock = c.resolve(tokens.CLOCK);
  const { requestHoldMs } = c.resolve(tokens.CONFIG).ownership;
  return {
    access: view,
    freshness: {
      get isFresh() {
        return view.isFresh;
      },
      untilFresh: () => view.untilFresh(requestHoldMs),
    },
    users: new AclAdministration(client, view, c.resolve(tokens.RANDOM)),
    management: new ManagementGrants(view),
    search: new SearchGrants(view),
    searchMonth: {
      // Each unit is counted as one command of this subject.
      rerankUnits: (index) => view.state.commandsThisMonth(searchReranks(index), clock.nowMs()),
      bytes: (index) => view.state.bytesThisMonth(index, clock.nowMs()),
    },
  } satisfies Partial<ControlRole>;
}

async function prepareFirstDatabase(
  c: DependencyContainer,
  client: ControlGateway,
  start: ControlStart,
): Promise<MadeCredentials | undefined> {
  const config = c.resolve(tokens.CONFIG);
  const random = c.resolve(tokens.RANDOM);
  const file = join(config.storage.dataDir, 'credentials.env');
  const given = givenCredentials(config.firstStart);
  const { maxCommandBytes, maxRequestsPerDay } = config.bounds;
  const { toPrint, warnings } = await firstStart({
    client,
    keeper: new CredentialsFile(file, given, random),
    sealing: c.resolve(tokens.SEALING),
    random,
    given,
    limits: { maxCommandBytes, maxRequestsPerDay },
    pause: () => start.pause(),
  });
  for (const warning of warnings) c.resolve(tokens.LOG).warn('first-start.warning', { warning });
  return toPrint === undefined ? undefined : { file, lines: credentialLines(toPrint, given) };
}

/** The part of a process that may own the control shard. */
function controlOwner(c: DependencyContainer, meterLog: JetStreamMeterLog, caller: ShardCaller): ControlOwner {
  return new ControlOwner({
    bus: c.resolve(tokens.BUS),
    timers: c.resolve(tokens.TIMERS),
    log: c.resolve(tokens.LOG),
    membership: c.resolve(tokens.MEMBERSHIP),
    meterLog,
    caller,
    answers: ANSWER_MEMORY,
    own: (plane) => ownedShards(c, plane),
  });
}
