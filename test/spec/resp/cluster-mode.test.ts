/** Proves CLM1, CLM2, CLM3. */
import { expect } from 'chai';
import { encodeCommand } from '../../../src/codec/resp/index.js';
import { firstSlotOf, hashSlot } from '../../../src/domain/kv/index.js';
import { CLUSTER_PASSWORD, type RawClient, RespEndpointHarness, WIDE_PASSWORD } from '../../support/resp-endpoint.js';
import { KEY_OF_PARTITION, OTHER_NODE, SELF_NODE, TwoRespNodes } from '../../support/two-resp-nodes.js';

const KEYS = KEY_OF_PARTITION;
const moved = (key: string) => `-MOVED ${hashSlot(key)} 10.0.0.2:6380\r\n`;
const CROSS_SLOT = "-CROSSSLOT Keys in request don't hash to the same slot\r\n";

describe('RESP: a database in cluster mode', () => {
  let nodes: TwoRespNodes;
  let face: RespEndpointHarness;
  let client: RawClient;
  beforeEach(async () => {
    nodes = new TwoRespNodes();
    face = await new RespEndpointHarness({ nodes }).start();
    client = await face.client(2, CLUSTER_PASSWORD);
  });
  afterEach(() => face.stop());

  it('answers MOVED to commands on keys of another process, and runs those on its own', async () => {
    expect(await client.call('SET', KEYS[0], 'v')).to.equal('+OK\r\n');
    expect(await client.call('SET', KEYS[1], 'v')).to.equal(moved(KEYS[1]));
    expect(await client.call('BLPOP', KEYS[2], '1')).to.equal(moved(KEYS[2]));
    expect(await client.call('EVAL', 'return 1', '1', KEYS[2])).to.equal(moved(KEYS[2]));
    expect(await client.call('WATCH', KEYS[2])).to.equal(moved(KEYS[2]));
    expect(face.owner.requests.map(({ partition }) => partition)).to.deep.equal(['kv:db-cluster:0']);
  });

  it('answers each command of a pipeline by its own key, in order', async () => {
    client.send([KEYS[0], KEYS[1], KEYS[0], KEYS[2]].map((key) => encodeCommand(['INCR', key])).join(''));
    const answers = [await client.next(), await client.next(), await client.next(), await client.next()];
    expect(answers).to.deep.equal([':1\r\n', moved(KEYS[1]), ':2\r\n', moved(KEYS[2])]);
  });

  it('runs commands for the new owner as soon as a partition has moved here', async () => {
    expect(await client.call('SET', KEYS[1], 'v')).to.equal(moved(KEYS[1]));
    nodes.others.delete('kv:db-cluster:1');
    expect(await client.call('SET', KEYS[1], 'v')).to.equal('+OK\r\n');
  });

  it('discards a transaction with a command that is answered MOVED', async () => {
    expect(await client.call('MULTI')).to.equal('+OK\r\n');
    expect(await client.call('SET', KEYS[0], 'v')).to.equal('+QUEUED\r\n');
    expect(await client.call('SET', KEYS[1], 'v')).to.equal(moved(KEYS[1]));
    expect(await client.call('EXEC')).to.match(/^-EXECABORT /);
    expect(await client.call('EXISTS', KEYS[0])).to.equal(':0\r\n');
  });

  it('refuses commands and transactions on keys of several slots', async () => {
    expect(await client.call('MGET', KEYS[0], KEYS[1])).to.equal(CROSS_SLOT);
    expect(await client.call('MSET', 'a', '1', 'b', '2')).to.equal(CROSS_SLOT);
    expect(await client.call('MSET', `{${KEYS[0]}}a`, '1', `{${KEYS[0]}}b`, '2')).to.equal('+OK\r\n');
    nodes.others.clear();
    await client.call('MULTI');
    await client.call('SET', KEYS[0], 'v');
    await client.call('SET', KEYS[1], 'v');
    expect(await client.call('EXEC')).to.equal(CROSS_SLOT);
  });

  it('shows commands about all keys those of its own slots', async () => {
    const everywhere = await face.client(2, CLUSTER_PASSWORD);
    const owned = new Set(nodes.others);
    nodes.others.clear();
    for (const key of KEYS) await everywhere.call('SET', key, 'v');
    expect(await client.call('DBSIZE')).to.equal(':3\r\n');
    for (const name of owned) nodes.others.add(name);
    expect(await client.call('DBSIZE')).to.equal(':1\r\n');
    expect(await client.call('KEYS', '*')).to.equal(`*1\r\n$${KEYS[0].length}\r\n${KEYS[0]}\r\n`);
    expect(await client.call('SCAN', '0')).to.equal(`*2\r\n$1\r\n0\r\n*1\r\n$${KEYS[0].length}\r\n${KEYS[0]}\r\n`);
    expect(await client.call('FLUSHALL')).to.equal('+OK\r\n');
    nodes.others.clear();
    expect(await client.call('DBSIZE')).to.equal(':2\r\n');
  });

  it('has no keys to show at a process without slots, and flushes none', async () => {
    await client.call('SET', KEYS[0], 'v');
    for (const index of [0, 1, 2]) nodes.others.add(`kv:db-cluster:${index}`);
    expect(await client.call('DBSIZE')).to.equal(':0\r\n');
    expect(await client.call('KEYS', '*')).to.equal('*0\r\n');
    expect(await client.call('SCAN', '0')).to.equal('*2\r\n$1\r\n0\r\n*0\r\n');
    expect(await client.call('RANDOMKEY')).to.equal('$-1\r\n');
    expect(await client.call('FLUSHALL')).to.match(/^-ERR this node has no slots/);
    nodes.others.delete('kv:db-cluster:0');
    expect(await client.call('DBSIZE')).to.equal(':1\r\n');
  });

  it('describes the nodes with their slots in CLUSTER SLOTS, SHARDS, NODES, INFO and MYID', async () => {
    const last = firstSlotOf(1, 3) - 1;
    const own = `*3\r\n:0\r\n:${last}\r\n*4\r\n$8\r\n10.0.0.1\r\n:6380\r\n$40\r\n${SELF_NODE.id}\r\n*0\r\n`;
    const theirs = `*3\r\n:${last + 1}\r\n:16383\r\n*4\r\n$8\r\n10.0.0.2\r\n:6380\r\n$40\r\n${OTHER_NODE.id}\r\n*0\r\n`;
    expect(await client.call('CLUSTER', 'SLOTS')).to.equal(`*2\r\n${own}${theirs}`);
    const nodesText = await client.call('CLUSTER', 'NODES');
    expect(nodesText).to.contain(`${SELF_NODE.id} 10.0.0.1:6380@6380 myself,master - 0 0 1 connected 0-${last}\n`);
    expect(nodesText).to.contain(`${OTHER_NODE.id} 10.0.0.2:6380@6380 master - 0 0 2 connected ${last + 1}-16383\n`);
    expect(await client.call('CLUSTER', 'SHARDS')).to.match(/^\*2\r\n/);
    expect(await client.call('CLUSTER', 'INFO')).to.contain('cluster_known_nodes:2\r\ncluster_size:2\r\n');
    expect(await client.call('CLUSTER', 'MYID')).to.equal(`$40\r\n${SELF_NODE.id}\r\n`);
    expect(await client.call('HELLO', '2')).to.contain('$4\r\nmode\r\n$7\r\ncluster\r\n');
  });

  it('accepts READONLY, READWRITE and ASKING, and sharded channels at every node', async () => {
    for (const word of ['READONLY', 'READWRITE', 'ASKING']) expect(await client.call(word)).to.equal('+OK\r\n');
    expect(await client.call('SPUBLISH', KEYS[1], 'm')).to.equal(':0\r\n');
  });

  it('differs from any other database of several partitions, which has all slots and is never MOVED', async () => {
    const wide = await face.client(2, WIDE_PASSWORD);
    for (const key of KEYS) expect(await wide.call('SET', key, 'v')).to.equal('+OK\r\n');
    expect(await wide.call('DBSIZE')).to.equal(':3\r\n');
    expect(await wide.call('CLUSTER', 'INFO')).to.contain('cluster_known_nodes:1\r\n');
  });
});
