/** Proves CLN1, CLN2. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { HeardNodes } from '../../../../src/actors/runtime/index.js';
import type { Heartbeat, RespNodeNews } from '../../../../src/codec/leases/index.js';
import type { DatabaseId, SessionId, ShardName } from '../../../../src/kernel/index.js';
import { kvPartition, shardOf } from '../../../../src/protocol/index.js';

const SHARDS = 4;
const SELF = { host: '10.0.0.1', port: 6380 };
const PARTITION = kvPartition('db-aaaaaaaaaaaaaaaa' as DatabaseId, 0);
const SHARD = shardOf('kv', PARTITION, SHARDS);
const [ME, OTHER, THIRD] = ['node-me', 'node-other', 'node-third'] as [SessionId, SessionId, SessionId];

class Stand {
  readonly silent = new Map<SessionId, number>();
  owned: [ShardName, number][] = [];
  announced: (() => RespNodeNews) | undefined;
  #listener: ((heartbeat: Heartbeat, isNew: boolean) => void) | undefined;
  readonly nodes = new HeardNodes(
    {
      whenHeard: (listener) => {
        this.#listener = listener;
      },
      processSilentForMs: (process) => this.silent.get(process) ?? 0,
    },
    {
      processId: ME,
      announceNode: (node) => {
        this.announced = node;
      },
    },
    { address: SELF, kvShards: SHARDS, heartbeatMs: 400, owned: () => this.owned },
  );

  hear(process: SessionId, node?: RespNodeNews, isLeaving = false): void {
    this.#listener?.({ session: process, process, canOwn: true, isLeaving, ...(node && { node }) }, false);
  }

  get owner(): string {
    const { host, port } = this.nodes.ownerOf(PARTITION);
    return `${host}:${port}`;
  }
}

const owns = (epoch: number, host = '10.0.0.2', port = 6380): RespNodeNews => ({ host, port, owned: [[SHARD, epoch]] });

describe('the RESP addresses of processes', () => {
  it('of the owner of a partition is its own while no other process says that it owns the shard', () => {
    const stand = new Stand();
    expect(stand.owner).to.equal('10.0.0.1:6380');
    stand.hear(OTHER, { host: '10.0.0.2', port: 6380, owned: [] });
    expect(stand.owner).to.equal('10.0.0.1:6380');
    stand.hear(OTHER, owns(2));
    expect(stand.owner).to.equal('10.0.0.2:6380');
    expect(stand.nodes.ownerOf(PARTITION).isSelf).to.equal(false);
  });

  it('follows the shard to the process with the higher epoch, and back when that one releases it', () => {
    const stand = new Stand();
    stand.hear(OTHER, owns(2));
    stand.hear(THIRD, owns(3, '10.0.0.3'));
    stand.hear(OTHER, owns(2));
    expect(stand.owner).to.equal('10.0.0.3:6380');
    stand.hear(THIRD, { ...owns(3, '10.0.0.3'), owned: [] });
    expect(stand.owner).to.equal('10.0.0.1:6380');
    stand.hear(ME, owns(4, SELF.host));
    stand.hear(OTHER, owns(2));
    expect(stand.owner).to.equal('10.0.0.1:6380');
  });

  it('leaves out processes that are silent, about to end, or without an address', () => {
    const stand = new Stand();
    stand.hear(OTHER, owns(2));
    stand.silent.set(OTHER, 1_000);
    expect(stand.owner).to.equal('10.0.0.1:6380');
    expect(stand.nodes.all()).to.have.length(1);
    stand.silent.delete(OTHER);
    expect(stand.owner).to.equal('10.0.0.2:6380');
    stand.hear(OTHER, owns(2), true);
    expect(stand.owner).to.equal('10.0.0.1:6380');
    stand.hear(OTHER, owns(2));
    stand.hear(OTHER);
    expect(stand.nodes.all()).to.deep.equal([stand.nodes.self]);
  });

  it('never sends a client to the address at which it asked', () => {
    const stand = new Stand();
    stand.hear(OTHER, owns(2, SELF.host, SELF.port));
    expect(stand.nodes.ownerOf(PARTITION)).to.equal(stand.nodes.self);
  });

  it('are announced with the owned shards of the moment, and have ids of 40 hex digits', () => {
    const stand = new Stand();
    stand.owned = [[SHARD, 7]];
    expect(stand.announced?.()).to.deep.equal({ ...SELF, owned: [[SHARD, 7]] });
    stand.owned = [];
    expect(stand.announced?.().owned).to.deep.equal([]);
    expect(stand.nodes.self.id).to.equal(createHash('sha1').update(ME).digest('hex'));
  });
});
