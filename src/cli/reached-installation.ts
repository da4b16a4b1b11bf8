/**
 * The installation of an operator's command: that of the running process, of the cluster, or, if no process runs, an
 * embedded server for the duration of the command.
 *
 * Modules that need the key-value engine are loaded by the methods that use them: a command that only asks the control
 * actor starts in two thirds of the processor time without the engine.
 */
import {
  ControlGateway,
  type ControlView,
  type DatabasePlace,
  type PartitionPlace,
  placeOfAccount,
  placeOfDatabase,
} from '../actors/control/index.js';
import { ROUTE_RETRY_MS } from '../actors/runtime/index.js';
import type { ClusterLayout } from '../adapters/nats/index.js';
import { openForCommand } from '../adapters/nats/installation/index.js';
import { openKeyFile } from '../adapters/node/index.js';
import { commandParts } from '../composition/index.js';
import type { Config, Environment } from '../config/index.js';
import type { DatabaseId, PartitionName, SessionId } from '../kernel/index.js';
import type { Sealing } from '../ports/index.js';
import { commandLog } from './command-log.js';
import { loadedConfig } from './loaded-config.js';

/** @param needsOwner  refuses, in one line, if no process could answer a command */
export async function reachInstallation(config: Config, needsOwner: boolean): Promise<ReachedInstallation> {
  const log = commandLog(config);
  const { connections, layout, close } = await openForCommand(config, log, needsOwner);
  return new ReachedInstallation(config, commandParts(config, connections, log), layout, close);
}

export class ReachedInstallation {
  readonly client: ControlGateway;
  readonly #followers: ControlView[] = [];

  constructor(
    private readonly config: Config,
    readonly parts: ReturnType<typeof commandParts>,
    readonly layout: ClusterLayout,
    private readonly disconnect: () => Promise<void>,
  ) {
    this.client = new ControlGateway(parts.caller, undefined);
  }

  /** Empties a partition of a deleted database, which no token opens any more. */
  async emptyPartition(database: DatabaseId, partition: PartitionName): Promise<void> {
    const { emptyPartition, KvShardGateway } = await import('../actors/kv-shard/index.js');
    const { clock, timers, caller } = this.parts;
    const limits = { holdMs: this.config.ownership.requestHoldMs, retryEveryMs: ROUTE_RETRY_MS };
    const gateway = new KvShardGateway({ clock, timers, caller, host: undefined }, limits, this.layout.kvShards);
    await emptyPartition(gateway, database, partition);
  }

  sealing(): Promise<Sealing> {
    return openKeyFile(this.config.storage.sealKeyFile, this.parts.random);
  }

  /** A copy of the control state that follows its journal until the command ends. */
  async followControl(): Promise<ControlView> {
    const { ControlView, copyControl } = await import('../actors/control/index.js');
    const session = 'command' as SessionId;
    const view = new ControlView(this.parts, { session, staleMs: this.config.ownership.controlStaleMs });
    this.#followers.push(view);
    await copyControl(view, this.parts);
    return view;
  }

  /** A database or search index by name, id or UUID. @throws NOT_FOUND, CONFLICT if several have the name */
  async placeOf(nameOrId: string): Promise<DatabasePlace> {
    return placeOfDatabase((await this.#controlNow()).state, nameOrId, this.layout);
  }

  /** The place of the account's queue. @throws NOT_FOUND */
  async placeOfAccount(id: string): Promise<PartitionPlace> {
    return placeOfAccount((await this.#controlNow()).state, id, this.layout);
  }

  async close(): Promise<void> {
    for (const view of this.#followers) view.stop();
    await this.disconnect();
  }

  async #controlNow(): Promise<ControlView> {
    const view = await this.followControl();
    view.stop();
    return view;
  }
}

/** @param asksControl whether the command needs the control actor, not only the journal */
export async function withInstallation<Result>(
  env: Environment,
  asksControl: boolean,
  run: (installation: ReachedInstallation, config: Config) => Promise<Result>,
): Promise<Result> {
  const { config } = loadedConfig(env);
  const installation = await reachInstallation(config, asksControl);
  try {
    return await run(installation, config);
  } finally {
    await installation.close();
  }
}
