/**
 * The control plane in one process: its copy of who may do what, its shares of the daily limits, its
 * counts; and, where this process may own shards, the control actor with what it does beside answering.
 */
import { join } from 'node:path';
import type { DependencyContainer } from 'tsyringe';
import {
  Accounts,
  AclAdministration,
  ControlDuties,
  ControlGateway,
  ControlPlane,
  ControlView,
  type ControlWork,
  DEFAULT_METER_OPTIONS,
  firstStart,
  ManagementGrants,
  MeterWriter,
  planLimits,
  QuotaSlices,
  Revocations,
  SearchGrants,
  serveControl,
} from '../actors/control/index.js';
import { type ShardActor, ShardCaller, type ShardHost } from '../actors/runtime/index.js';
import { JetStreamMeterLog } from '../adapters/nats/index.js';
import { CredentialsFile, credentialLines, givenCredentials, openKeyFile } from '../adapters/node/index.js';
import { searchReranks } from '../domain/control/index.js';
import type { SearchMonth } from '../edge/index.js';
import { mustBeWhole } from '../journal/index.js';
import { type AccountId, isMillraceError, MillraceError } from '../kernel/index.js';
import { CONTROL_SHARD } from '../messages/index.js';
import type {
  Access,
  AclAdmin,
  Compactor,
  DataLimits,
  Freshness,
  ManagementAccess,
  ManagementControl,
  Meter,
  Quota,
  RespAccess,
  Sealing,
  SearchAccess,
} from '../ports/index.js';
import { inDoubt, type NatsWorld } from './nats-world.js';
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
  /** Of the key file; from `start` on. */
  readonly sealing: () => Sealing;
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

export interface ControlRoleOptions {
  readonly world: NatsWorld;
  readonly compactor: Compactor;
  readonly ownsShard: boolean;
}

/** A process that was silent for this long is not asked whether a revocation has reached it: it refuses to answer. */
const EDGE_SILENCE_MS = 2000;
const FIRST_START_PAUSE_MS = 50;
const VIEW_PAUSE_MS = 2;
/** Longer than an election and a reconnect: what a journal shows still then is no lagging replica. */
const DAMAGE_LOOK_MS = 15_000;

export function controlRole(c: DependencyContainer, options: ControlRoleOptions): ControlRole {
  const config = c.resolve(tokens.CONFIG);
  const clock = c.resolve(tokens.CLOCK);
  const timers = c.resolve(tokens.TIMERS);
  const random = c.resolve(tokens.RANDOM);
  const log = c.resolve(tokens.LOG);
  const journal = c.resolve(tokens.JOURNAL);
  const objects = c.resolve(tokens.OBJECTS);
  const bus = c.resolve(tokens.BUS);
  const session = c.resolve(tokens.SESSION);
  const { processId } = session;
  const { connections, names } = options.world;
  const meterLog = new JetStreamMeterLog(connections, names, journal);

  const owner = options.ownsShard ? controlOwner(c, options, meterLog, () => client) : undefined;
  const caller = new ShardCaller(bus, clock, timers, random, callLimitsOf(config));
  const client: ControlGateway = new ControlGateway(caller, owner?.host);
  const view = new ControlView(
    { journal, objects, timers, log, bus, clock },
    { session: processId, staleMs: config.ownership.controlStaleMs },
  );
  const slices = new QuotaSlices({ client, clock, log }, processId);
  view.onBackInTouch = (silentForMs) => slices.backInTouch(silentForMs);
  const plans = planLimits({ clock, timers, log, view, client, daily: slices }, pricesOf(config));
  const meter = new MeterWriter({ meterLog, clock, timers, log }, processId, DEFAULT_METER_OPTIONS);

  let lookAtMs = options.world.isExclusive ? 0 : clock.monotonicMs() + DAMAGE_LOOK_MS;
  let keyFile: Sealing | undefined;
  const sealing = () => {
    if (keyFile === undefined) throw new MillraceError('DEFECT', 'the key file is asked for before it was opened');
    return keyFile;
  };
  const accounts = new Accounts(
    { view, client, random, sealing },
    { centsPer100kMessages: config.prices.queuePriceCents },
  );

  let hasAnswered = false;
  let isStopped = false;
  /** A question about nobody: any answer will do. */
  async function untilAnswered(): Promise<void> {
    const question = { type: 'GetAccount', account: 'ac-nobody' as AccountId } as const;
    while (!hasAnswered && !isStopped) {
      hasAnswered = await client.send(question).then(
        () => true,
        () => false,
      );
      if (!hasAnswered) await timers.pause(FIRST_START_PAUSE_MS);
    }
  }

  /**
   * Nothing is served without the control journal, and one in doubt stays so until somebody has looked: a start ends
   * instead of waiting for it. One server shows at once what a replica may show for a moment only.
   */
  async function refuseDamage(): Promise<void> {
    const why = owner?.host.stoppedShards().get(CONTROL_SHARD) ?? view.damage;
    if (why !== undefined) throw inDoubt(why);
    const nowMs = clock.monotonicMs();
    if (nowMs < lookAtMs) return;
    lookAtMs = nowMs + DAMAGE_LOOK_MS;
    await mustBeWhole({ journal, leases: c.resolve(tokens.LEASES) }, CONTROL_SHARD).catch((error: unknown) => {
      if (isMillraceError(error, 'JOURNAL_DAMAGED')) throw error;
    });
  }

  async function untilCopied(ready: Promise<void>): Promise<void> {
    let isReady = false;
    const copied = ready.then(() => {
      isReady = true;
    });
    while (!isReady) {
      await Promise.race([copied, timers.pause(FIRST_START_PAUSE_MS)]);
      if (!isReady) await refuseDamage();
    }
  }

  async function prepareFirstDatabase(sealing: Sealing): Promise<MadeCredentials | undefined> {
    const file = join(config.storage.dataDir, 'credentials.env');
    const given = givenCredentials(config.firstStart);
    const { maxCommandBytes, maxRequestsPerDay } = config.bounds;
    const { toPrint, warnings } = await firstStart({
      client,
      keeper: new CredentialsFile(file, given, random),
      sealing,
      random,
      given,
      limits: { maxCommandBytes, maxRequestsPerDay },
      pause: async () => {
        await refuseDamage();
        await timers.pause(FIRST_START_PAUSE_MS);
      },
    });
    for (const warning of warnings) log.warn('first-start.warning', { warning });
    return toPrint === undefined ? undefined : { file, lines: credentialLines(toPrint, given) };
  }

  return {
    access: view,
    freshness: {
      get isFresh() {
        return view.isFresh;
      },
      untilFresh: () => view.untilFresh(config.ownership.requestHoldMs),
    },
    users: new AclAdministration(client, view, random),
    accounts,
    management: new ManagementGrants(view),
    search: new SearchGrants(view),
    searchMonth: {
      // Each unit is counted as one command of this subject.
      rerankUnits: (index) => view.state.commandsThisMonth(searchReranks(index), clock.nowMs()),
      bytes: (index) => view.state.bytesThisMonth(index, clock.nowMs()),
    },
    view,
    isOwner: () => owner?.host.actorOf(CONTROL_SHARD)?.state === 'serving',
    firstAccount: () => view.state.firstStart?.account,
    client,
    sealing,
    quota: plans.quota,
    dailyQuota: slices,
    dataLimits: plans.dataLimits,
    meter,
    start: async () => {
      keyFile = await openKeyFile(config.storage.sealKeyFile, random);
      if (options.world.isExclusive) await refuseDamage();
      owner?.start();
      meter.start();
      const isReady = view.start();
      const credentials = owner === undefined ? undefined : await prepareFirstDatabase(keyFile);
      await untilCopied(isReady);
      // The copy may be a moment behind the answer: a token that was just printed must be known here.
      while (owner !== undefined && view.state.firstStart === undefined) await timers.pause(VIEW_PAUSE_MS);
      void untilAnswered();
      return credentials;
    },
    isFresh: () => view.isFresh,
    hasAnswered: () => hasAnswered,
    stop: async () => {
      isStopped = true;
      plans.stop();
      await slices.giveBack();
      await meter.stop();
      view.stop();
      await owner?.stop();
    },
  };
}

interface ControlOwner {
  readonly host: ShardHost<ControlWork>;
  start(): void;
  stop(): Promise<void>;
}

/** The part of a process that may own the control shard. */
function controlOwner(
  c: DependencyContainer,
  { world, compactor }: ControlRoleOptions,
  meterLog: JetStreamMeterLog,
  clientOf: () => ControlGateway,
): ControlOwner {
  const timers = c.resolve(tokens.TIMERS);
  const log = c.resolve(tokens.LOG);
  const bus = c.resolve(tokens.BUS);
  const membership = c.resolve(tokens.MEMBERSHIP);
  const revocations = new Revocations(bus, timers, () => membership.liveProcesses(EDGE_SILENCE_MS));

  function beginDuties(actor: ShardActor<ControlWork>, plane: ControlPlane): void {
    const isGone: ConstructorParameters<typeof ControlDuties>[0]['isGone'] = (process, silenceMs) =>
      membership.processSilentForMs(process) > silenceMs;
    const duties = new ControlDuties({ meterLog, timers, log, client: clientOf(), isGone }, plane);
    duties.start();
    void actor.ended.then(() => duties.stop());
  }

  const owned = ownedShards<ControlWork, ControlPlane>(
    c,
    { isExclusive: world.isExclusive, compactor },
    {
      shards: [CONTROL_SHARD],
      createPlane: ({ loadPartition }) =>
        new ControlPlane({ loadPartition, untilInForce: (position) => revocations.untilInForce(position) }),
      serve: (actor) => serveControl(bus, actor, ANSWER_MEMORY),
      onServing: beginDuties,
    },
  );
  return {
    host: owned.host,
    start: () => {
      revocations.start();
      owned.start();
    },
    stop: async () => {
      await owned.stop();
      revocations.stop();
    },
  };
}
