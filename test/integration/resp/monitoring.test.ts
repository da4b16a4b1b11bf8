/** Fields and replies that monitors of Redis read from a real process: INFO, and lists that are maps in RESP3. */
import { expect } from 'chai';
import { createClient } from 'redis';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { endEverything, PASSWORD, startMillrace } from '../../support/millrace-process.js';

/** The INFO fields that redis_exporter turns into metrics and that a server without replicas, modules and forks has. */
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
  expired_keys expired_subkeys expired_keys_active expired_subkeys_active expired_stale_perc
  expired_time_cap_reached_count evicted_clients total_eviction_exceeded_time current_eviction_exceeded_time
  client_query_buffer_limit_disconnections client_output_buffer_limit_disconnections unexpected_error_replies
  acl_access_denied_auth acl_access_denied_cmd acl_access_denied_key acl_access_denied_channel
  io_threaded_reads_processed io_threaded_writes_processed instantaneous_input_repl_kbps instantaneous_output_repl_kbps
  client_recent_max_input_buffer client_recent_max_output_buffer used_memory_peak_perc used_memory_peak_time
  used_memory_overhead used_memory_startup used_memory_dataset_perc allocator_allocated allocator_active
  allocator_resident allocator_frag_ratio allocator_frag_bytes allocator_rss_ratio allocator_rss_bytes
  rss_overhead_ratio rss_overhead_bytes mem_clients_normal mem_aof_buffer mem_total_replication_buffers lazyfreed_objects
  rdb_last_save_time rdb_last_bgsave_time_sec rdb_current_bgsave_time_sec rdb_last_cow_size rdb_saves
  aof_last_rewrite_time_sec aof_current_rewrite_time_sec aof_last_cow_size aof_buffer_length aof_delayed_fsync
  aof_pending_bio_fsync master_replid2 redis_build_id process_supervised io_threads_active listener0 module
  evicted_keys keyspace_hits keyspace_misses pubsub_channels pubsub_patterns pubsubshard_channels
  tracking_total_keys tracking_total_items tracking_total_prefixes total_error_replies
  sync_full sync_partial_ok sync_partial_err latest_fork_usec migrate_cached_sockets slave_expires_tracked_keys
  active_defrag_hits active_defrag_misses active_defrag_key_hits active_defrag_key_misses
  role connected_slaves master_repl_offset second_repl_offset repl_backlog_active repl_backlog_size
  repl_backlog_first_byte_offset repl_backlog_histlen
  used_cpu_sys used_cpu_user used_cpu_sys_children used_cpu_user_children cluster_enabled
`
  .trim()
  .split(/\s+/);

describe('monitors of Redis', function () {
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

  it('find every field of INFO that they read', async () => {
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

  it('find every command in SLOWLOG at threshold 0, without secrets', async () => {
    const client = await connect(2);
    const send = (line: string) => client.sendCommand(line.split(' '));
    await client.clientSetName('watched');
    await send('CONFIG SET slowlog-max-len 128 slowlog-log-slower-than 0');
    await send('SLOWLOG RESET');
    for (const line of ['PING', 'SET k v', 'CLIENT ID', 'MULTI', 'GET k', 'EXEC', 'ACL WHOAMI', 'ECHO x'])
      await send(line);
    await send(`AUTH default ${PASSWORD}`);
    await send('ACL SETUSER u on >a-secret-of-somebody');
    await send('EVAL return(1) 0');
    const entries = (await client.sendCommand(['SLOWLOG', 'GET', '-1'])) as unknown[][];
    const shown = entries.map((entry) => (entry[3] as string[]).join(' ')).reverse();
    expect(shown).to.deep.equal([
      'SLOWLOG RESET',
      'PING',
      'SET k v',
      'CLIENT ID',
      'MULTI',
      'GET k',
      'ACL WHOAMI',
      'ECHO x',
      'AUTH (redacted) (redacted)',
      'ACL SETUSER (redacted) (redacted) (redacted)',
      'EVAL return(1) 0',
    ]);
    expect(new Set(entries.map((entry) => entry[5]))).to.deep.equal(new Set(['watched']));
    for (let i = 0; i < 300; i += 1) void client.ping();
    await client.ping();
    expect(await send('SLOWLOG LEN')).to.equal(128);
    await send('CONFIG SET slowlog-max-len 3');
    expect(await send('SLOWLOG LEN')).to.equal(3);
    await send('CONFIG SET slowlog-log-slower-than 10000 slowlog-max-len 128');
    await send('SLOWLOG RESET');
    await send('PING');
    expect(await send('SLOWLOG LEN')).to.equal(0);
    client.destroy();
  });

  it('find a refused command in ACL LOG with its context and user', async () => {
    const client = await connect(2);
    const send = (line: string) => client.sendCommand(line.split(' '));
    await send('ACL SETUSER narrow on >a-long-secret +set +eval +multi +exec ~a*');
    await send('AUTH narrow a-long-secret');
    const seen: (string | undefined)[][] = [];
    for (const lines of [
      ['GET a'],
      ['SCRIPT HELP'],
      ['SET b 1'],
      ['MULTI', 'INCR a'],
      ["EVAL redis.call('incr','a') 0"],
    ]) {
      for (const line of lines) await send(line).catch(() => undefined);
      if (lines.length > 1) await send('EXEC').catch(() => undefined);
      const admin = await connect(2);
      const [entry] = (await admin.sendCommand(['ACL', 'LOG', '1'])) as unknown as string[][];
      const field = (name: string) => entry?.[entry.indexOf(name) + 1];
      seen.push([field('reason'), field('context'), field('object'), /cmd=\S+/.exec(field('client-info') ?? '')?.[0]]);
      admin.destroy();
    }
    expect(seen).to.deep.equal([
      ['command', 'toplevel', 'get', 'cmd=get'],
      ['command', 'toplevel', 'script|help', 'cmd=script|help'],
      ['key', 'toplevel', 'b', 'cmd=set'],
      ['command', 'multi', 'incr', 'cmd=incr'],
      ['command', 'lua', 'incr', 'cmd=eval'],
    ]);
    client.destroy();
  });

  it('read PUBSUB NUMSUB and LCS IDX in RESP3 as in RESP2', async () => {
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
