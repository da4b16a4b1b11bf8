/** What monitors of Redis read of a real process: the fields of INFO, and replies that are lists or maps in RESP3. */
import { expect } from 'chai';
import { createClient } from 'redis';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { endEverything, PASSWORD, startMillrace } from '../../support/millrace-process.js';

/** Those that redis_exporter turns into metrics and a server without replicas, modules and forks has. */
const READ_BY_MONITORS = `
  redis_version redis_mode os process_id run_id tcp_port uptime_in_seconds
  connected_clients blocked_clients maxclients tracking_clients pubsub_clients watching_clients total_watched_keys
  total_blocking_keys total_blocking_keys_on_nokey
  used_memory used_memory_rss used_memory_peak used_memory_dataset used_memory_lua used_memory_vm_eval
  used_memory_scripts_eval used_memory_vm_functions used_memory_vm_total used_memory_functions used_memory_scripts
  number_of_cached_scripts number_of_functions number_of_libraries total_system_memory maxmemory maxmemory_policy
  mem_fragmentation_ratio mem_fragmentation_bytes mem_clients_slaves mem_not_counted_for_evict
  lazyfree_pending_objects active_defrag_running
  loading async_loading rdb_changes_since_last_save rdb_bgsave_in_progress rdb_last_bgsave_status aof_enabled
  aof_rewrite_in_progress aof_rewrite_scheduled aof_last_bgrewrite_status aof_last_write_status
  module_fork_in_progress
  total_connections_received total_commands_processed instantaneous_ops_per_sec rejected_connections
  total_net_input_bytes total_net_output_bytes instantaneous_input_kbps instantaneous_output_kbps
  expired_keys evicted_keys keyspace_hits keyspace_misses pubsub_channels pubsub_patterns pubsubshard_channels
  tracking_total_keys tracking_total_items tracking_total_prefixes total_error_replies
  sync_full sync_partial_ok sync_partial_err latest_fork_usec migrate_cached_sockets slave_expires_tracked_keys
  active_defrag_hits active_defrag_misses active_defrag_key_hits active_defrag_key_misses
  role connected_slaves master_repl_offset second_repl_offset repl_backlog_active repl_backlog_size
  repl_backlog_first_byte_offset repl_backlog_histlen
  used_cpu_sys used_cpu_user used_cpu_sys_children used_cpu_user_children cluster_enabled
`
  .trim()
  .split(/\s+/);

describe('monitors of Redis on a process', function () {
  this.timeout(30_000);
  let port: number;
  before(async () => {
    port = await freePort();
    await startMillrace({ env: { MILLRACE_RESP_PORT: String(port) } });
  });
  after(endEverything);

  const connect = (RESP: 2 | 3) =>
    createClient({ RESP, url: `redis://127.0.0.1:${port}`, password: PASSWORD }).connect();

  const fieldsOf = (info: string): Map<string, string> =>
    new Map(
      info
        .split('\r\n')
        .filter((line) => line.includes(':'))
        .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)] as const),
    );

  it('find every field they read', async () => {
    const client = await connect(2);
    const fields = fieldsOf(await client.info());
    expect(READ_BY_MONITORS.filter((name) => !fields.has(name))).to.deep.equal([]);
    client.destroy();
  });

  it('see traffic, commands a second, scripts, subscribers and tracked keys', async () => {
    const client = await connect(3);
    const subscriber = await connect(3);
    await subscriber.subscribe('news', () => {});
    await client.sendCommand(['CLIENT', 'TRACKING', 'ON']);
    await client.get('tracked');
    await client.eval('return 1');
    const before = fieldsOf(await client.info());
    const number = (fields: Map<string, string>, name: string) => Number(fields.get(name));
    await eventually(async () => {
      for (let i = 0; i < 200; i += 1) void client.set('k', 'x'.repeat(1000));
      await client.ping();
      const fields = fieldsOf(await client.info());
      expect(number(fields, 'instantaneous_ops_per_sec')).to.be.greaterThan(0);
      expect(number(fields, 'instantaneous_input_kbps')).to.be.greaterThan(0);
      expect(number(fields, 'total_net_input_bytes')).to.be.greaterThan(
        number(before, 'total_net_input_bytes') + 200_000,
      );
    });
    const fields = fieldsOf(await client.info());
    expect(number(fields, 'total_net_output_bytes')).to.be.greaterThan(number(before, 'total_net_output_bytes'));
    expect(number(fields, 'used_memory_lua')).to.be.greaterThan(0);
    expect(number(fields, 'tracking_clients')).to.equal(1);
    expect(number(fields, 'tracking_total_keys')).to.be.at.least(1);
    expect(number(fields, 'pubsub_clients')).to.equal(1);
    expect(number(fields, 'rejected_connections')).to.equal(0);
    client.destroy();
    subscriber.destroy();
  });

  it('read counts of subscribers and longest common subsequences in RESP3 as in RESP2', async () => {
    for (const version of [2, 3] as const) {
      const client = await connect(version);
      const subscriber = await connect(version);
      await subscriber.subscribe('counted', () => {});
      await eventually(async () =>
        expect({ ...(await client.pubSubNumSub(['counted', 'silent'])) }).to.deep.equal({ counted: 1, silent: 0 }),
      );
      expect({ ...(await client.pubSubShardNumSub(['counted'])) }).to.deep.equal({ counted: 0 });
      await client.mSet({ one: 'ohmytext', two: 'mynewtext' });
      const idx = (await client.lcsIdx('one', 'two')) as { readonly matches: readonly unknown[]; readonly len: number };
      expect([idx.len, idx.matches.length]).to.deep.equal([6, 2]);
      client.destroy();
      subscriber.destroy();
    }
  });
});
