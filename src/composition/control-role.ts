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
  MeterWriter,
  QuotaSlices,
  Revocations,
  serveControl,
} from '../actors/control/index.js';
import { type ShardActor, ShardCaller, type ShardHost } from '../actors/runtime/index.js';
import { JetStreamMeterLog } from '../adapters/nats/index.js';
import { CredentialsFile, credentialLines, givenCredentials, openKeyFile } from '../adapters/node/index.js';
import { MillraceError } from '../kernel/index.js';
import { CONTROL_SHARD } from '../messages/index.js';
import type { Access, AclAdmin, Compactor, Meter, Quota, RespAccess, Sealing } from '../ports/index.js';
import type { NatsWorld } from './nats-world.js';
import { ownedShards } from './owned-shards.js';
import { ANSWER_MEMORY, callLimitsOf } from './runtime-parts.js';
import * as tokens from './tokens.js';

export interface ControlRole {
  readonly access: Access & RespAccess;
  readonly users: AclAdmin;
  /** Whom queue tokens let in, limits, signing keys. */
  readonly accounts: Accounts;
  readonly quota: Quota;
  readonly meter: Meter;
  /** Resolves when tokens can be judged here, and with what to show a person once, if anything. */
  start(): Promise<string | undefined>;
  isFresh(): boolean;
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
  const quota = new QuotaSlices({ client, clock, log }, processId);
  view.onBackInTouch = (silentForMs) => quota.backInTouch(silentForMs);
  const meter = new MeterWriter({ meterLog, clock, timers, log }, processId, DEFAULT_METER_OPTIONS);

  let sealing: Sealing | undefined;
  const accounts = new Accounts(
    {
      view,
      client,
      random,
      sealing: () => {
        if (sealing === undefined) throw new MillraceError('DEFECT', 'the key file is asked for before it was opened');
        return sealing;
      },
    },
    { centsPer100kMessages: config.delivery.queuePriceCents },
  );

  const pause = (ms: number) => new Promise<void>((resolve) => timers.after(ms, resolve));

  async function prepareFirstDatabase(sealing: Sealing): Promise<string | undefined> {
    const { dataDir } = config.storage;
    const given = givenCredentials(config.firstStart);
    const { maxCommandBytes, maxRequestsPerDay } = config.bounds;
    const { toPrint, warnings } = await firstStart({
      client,
      keeper: new CredentialsFile(join(dataDir, 'credentials.env'), given, random),
      sealing,
      random,
      given,
      limits: { maxCommandBytes, maxRequestsPerDay },
      pause: () => pause(FIRST_START_PAUSE_MS),
    });
    for (const warning of warnings) log.warn('first-start.warning', { warning });
    return toPrint === undefined ? undefined : credentialLines(toPrint);
  }

  return {
    access: view,
    users: new AclAdministration(client, view, random),
    accounts,
    quota,
    meter,
    start: async () => {
      sealing = await openKeyFile(config.storage.sealKeyFile, random);
      owner?.start();
      meter.start();
      const isReady = view.start();
      const credentials = owner === undefined ? undefined : await prepareFirstDatabase(sealing);
      await isReady;
      // The copy may be a moment behind the answer: a token that was just printed must be known here.
      while (owner !== undefined && view.state.firstStart === undefined) await pause(VIEW_PAUSE_MS);
      return credentials;
    },
    isFresh: () => view.isFresh,
    stop: async () => {
      await quota.giveBack();
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

  const owned = ownedShards<ControlWork, ControlPlane>(c, {
    shards: [CONTROL_SHARD],
    isExclusive: world.isExclusive,
    compactor,
    createPlane: ({ loadPartition }) =>
      new ControlPlane({ loadPartition, untilInForce: (position) => revocations.untilInForce(position) }),
    serve: (actor) => serveControl(bus, actor, ANSWER_MEMORY),
    onServing: beginDuties,
  });
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
