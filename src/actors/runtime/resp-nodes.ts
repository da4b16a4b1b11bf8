/**
 * The RESP addresses of the living processes and the shards of each, from heartbeats.
 *
 *  CLN1 a client is sent to another process only while that process says that it owns the shard, is heard and stays;
 *      of two that say so, to the one with the higher epoch
 *  CLN2 a client is never sent to the address at which it asked
 */
import { createHash } from 'node:crypto';
import type { Heartbeat } from '../../codec/leases/index.js';
import type { PartitionName, SessionId, ShardName } from '../../kernel/index.js';
import type { RespNode, RespNodes } from '../../ports/index.js';
import type { Membership } from './membership.js';
import type { Session } from './session.js';
import { ShardMap } from './shard-map.js';

export interface NodeAddress {
  readonly host: string;
  readonly port: number;
}

export interface RespNodesOptions {
  readonly address: NodeAddress;
  readonly kvShards: number;
  readonly heartbeatMs: number;
  /** The shards of databases that this process owns, with their epochs. */
  owned(): readonly (readonly [shard: ShardName, epoch: number])[];
}

/**
 * A process that missed two heartbeats is not named to clients: requests for it are forwarded, which waits for its
 * successor.
 */
const HEARTBEATS_TO_SILENCE = 2.5;

interface Claim {
  readonly process: SessionId;
  readonly epoch: number;
}

export class HeardNodes implements RespNodes {
  readonly self: RespNode;
  readonly #nodes = new Map<SessionId, RespNode>();
  readonly #claims = new Map<ShardName, Claim>();
  readonly #shards: ShardMap<PartitionName>;

  constructor(
    private readonly membership: Pick<Membership, 'whenHeard' | 'processSilentForMs'>,
    session: Pick<Session, 'processId' | 'announceNode'>,
    private readonly options: RespNodesOptions,
  ) {
    const { address, kvShards } = options;
    this.#shards = new ShardMap('kv', kvShards, (partition) => partition);
    this.self = { id: nodeId(session.processId), ...address, isSelf: true };
    this.#nodes.set(session.processId, this.self);
    membership.whenHeard((heartbeat) => this.#hear(heartbeat));
    session.announceNode(() => ({ ...address, owned: options.owned().map(([shard, epoch]) => [shard, epoch]) }));
  }

  all(): readonly RespNode[] {
    const heard = [...this.#nodes].filter(([process, node]) => node.isSelf || this.#isHeard(process));
    return heard.map(([, node]) => node).sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  ownerOf(partition: PartitionName): RespNode {
    const claim = this.#claims.get(this.#shards.shardOf(partition));
    if (claim === undefined || !this.#isHeard(claim.process)) return this.self;
    const node = this.#nodes.get(claim.process);
    // CLN2 (not to the address at which it asked).
    return node === undefined || isSameAddress(node, this.self) ? this.self : node;
  }

  #isHeard(process: SessionId): boolean {
    return this.membership.processSilentForMs(process) < this.options.heartbeatMs * HEARTBEATS_TO_SILENCE;
  }

  #hear({ process, isLeaving, node }: Heartbeat): void {
    const isOurs = this.#nodes.get(process)?.isSelf === true;
    if (node === undefined || (isLeaving && !isOurs)) {
      this.#forget(process);
      return;
    }
    const { host, port, owned } = node;
    if (!isOurs) this.#nodes.set(process, { id: nodeId(process), host, port, isSelf: false });
    const names = new Set(owned.map(([shard]) => shard));
    for (const [shard, claim] of this.#claims) {
      if (claim.process === process && !names.has(shard)) this.#claims.delete(shard);
    }
    for (const [shard, epoch] of owned) {
      if ((this.#claims.get(shard)?.epoch ?? 0) <= epoch) this.#claims.set(shard, { process, epoch });
    }
    // Processes come and go: the silent ones are dropped when another one speaks.
    for (const silent of this.#nodes.keys()) if (!this.#isHeard(silent)) this.#forget(silent);
  }

  #forget(process: SessionId): void {
    if (this.#nodes.get(process)?.isSelf === true) return;
    this.#nodes.delete(process);
    for (const [shard, claim] of this.#claims) if (claim.process === process) this.#claims.delete(shard);
  }
}

function isSameAddress(one: NodeAddress, other: NodeAddress): boolean {
  return one.host === other.host && one.port === other.port;
}

function nodeId(process: SessionId): string {
  return createHash('sha1').update(process).digest('hex');
}
