/** Every tool of the published MCP server, against a real server, as an assistant calls it. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.js';
import { McpClient, type ToolAnswer } from '../../support/mcp-client.js';
import {
  endEverything,
  type MillraceProcess,
  startMillrace,
  temporaryDirectory,
} from '../../support/millrace-process.js';
import { QueueSink } from '../../support/queue-sink.js';

const PAGE = 'docs/wire-aliases.md';
const EMAIL = 'admin@tests.example';
const KEY = 'mrk_key-of-the-tests-0123456789';
const QUEUE_TOKEN = 'queue-token-of-the-tests-0123456789abcdef';
const LISTED_TIMEOUT_MS = 30_000;
const REFUSING = { status: 489, headers: { 'Svc-NonRetryable-Error': 'true' }, body: 'no' };
/** Tools of products that this server does not have. */
const ELSEWHERE = [
  'redis_database_start_free',
  'box_manage',
  'box_exec',
  'box_agent_run',
  'box_logs',
  'box_runs',
  'box_preview',
  'box_snapshots',
];

type Shown = Record<string, unknown>;

describe('management API: the published MCP server', function () {
  this.timeout(180_000);
  let millrace: MillraceProcess;
  let sink: QueueSink;
  let mcp: McpClient;
  const called = new Set<string>();

  before(async () => {
    sink = await QueueSink.listening();
    millrace = await startMillrace({
      env: {
        MILLRACE_MGMT_EMAIL: EMAIL,
        MILLRACE_MGMT_KEY: KEY,
        MILLRACE_QUEUE_TOKEN: QUEUE_TOKEN,
        MILLRACE_ALLOW_PRIVATE_DESTINATIONS: 'true',
        MILLRACE_WIRE_ALIAS: 'Upstash:QStash:redis',
      },
    });
    mcp = await McpClient.start(await temporaryDirectory(), turnHosts(millrace), EMAIL, KEY);
  });
  after(async () => {
    await mcp?.end();
    await sink?.close();
    await endEverything();
  });

  async function call(name: string, args: object = {}): Promise<ToolAnswer> {
    called.add(name);
    return mcp.call(name, args);
  }

  /** The texts of a tool's answer, which must not be an error. */
  async function texts(name: string, args: object = {}): Promise<readonly string[]> {
    const answer = await call(name, args);
    expect(answer.isError, `${name}: ${answer.texts.join('\n')}`).to.equal(false);
    return answer.texts;
  }

  /** The first of its texts that is JSON of an object or a list. */
  async function json<T = Shown>(name: string, args: object = {}): Promise<T> {
    const found = (await texts(name, args)).find((text) => /^[[{]/.test(text));
    return JSON.parse(found ?? '') as T;
  }

  const queueApi = async (method: string, target: string, headers: Record<string, string> = {}, body?: string) => {
    const authorization = `Bearer ${QUEUE_TOKEN}`;
    const asked = { method, headers: { authorization, ...headers }, ...(body !== undefined && { body }) };
    const answer = await fetch(`${millrace.addresses.queue}${target}`, asked);
    return (await answer.json()) as Shown;
  };

  it('redis_database tools create, show and change databases, and run commands', async () => {
    const asked = { name: 'shop', primary_region: 'eu-west-1', read_regions: ['us-east-1'] };
    const made = await json('redis_database_create_new', asked);
    const id = made.database_id as string;
    expect(made).to.include({ database_name: 'shop', primary_region: 'eu-west-1' });
    const listed = await json<Shown[]>('redis_database_list_databases');
    expect(listed).to.deep.include({ database_id: id, database_name: 'shop' });
    expect(await json('redis_database_get_details', { database_id: id })).to.include({ database_id: id });
    const regions = { id, read_regions: ['us-west-1'] };
    expect(await texts('redis_database_update_regions', regions)).to.deep.equal(['OK']);
    expect(await json('redis_database_get_details', { database_id: id })).to.deep.include({
      read_regions: ['us-west-1'],
    });
    const reset = await json('redis_database_reset_password', { id });
    expect(reset.rest_token).to.not.equal(made.rest_token);

    const run = 'redis_database_run_redis_commands';
    expect(await json(run, { database_id: id, commands: [['SET', 'cart', 'apples']] })).to.deep.equal({ result: 'OK' });
    const given = { database_rest_url: millrace.kvUrl, database_rest_token: reset.rest_token };
    const commands = [
      ['GET', 'cart'],
      ['DEL', 'cart'],
    ];
    expect(await json<Shown[]>(run, { ...given, commands })).to.deep.equal([{ result: 'apples' }, { result: 1 }]);
    const scan = await texts(run, { database_id: id, commands: [['SCAN', '0']] });
    expect(JSON.parse(scan[0] ?? '')).to.deep.equal({ result: ['0', []] });

    for (const stat_type of ['read_latency_mean', 'write_latency_mean', 'keyspace', 'throughput', 'diskusage']) {
      // Statistics may be late: the server has just started.
      const asked = () => json('redis_database_get_statistics', { id, period: '1h', stat_type });
      const told = await eventually(asked, { timeoutMs: LISTED_TIMEOUT_MS });
      expect((told.usage_last_5_days as Shown).days).to.have.length(5);
      expect(told.sampled_stats).to.include({ period: '1h', stat_type });
    }
    expect(await texts('redis_database_delete', { database_id: id })).to.deep.equal(['Database deleted successfully.']);
    const gone = await call('redis_database_get_details', { database_id: id });
    expect(gone).to.deep.include({ isError: true });
    expect(gone.texts.join()).to.include('404').and.include('database not found');
  });

  it('redis_database_manage_backup creates, restores and deletes backups', async () => {
    const { database_id } = await json('redis_database_create_new', { name: 'kept', primary_region: 'eu-west-1' });
    const run = (...commands: string[][]) => json('redis_database_run_redis_commands', { database_id, commands });
    const backup = (operation: string, more: object) =>
      texts('redis_database_manage_backup', { database_id, operation, ...more });
    const backups = () => json<Shown[]>('redis_database_list_backups', { database_id });
    await run(['SET', 'k', 'before']);
    await backup('create', { backup_name: 'first' });
    const [made] = await eventually(
      async () => {
        const listed = await backups();
        expect(listed).to.have.length(1);
        expect(listed[0]).to.include({ name: 'first', state: 'completed' });
        return listed;
      },
      { timeoutMs: LISTED_TIMEOUT_MS },
    );
    await run(['SET', 'k', 'after']);
    const { backup_id } = made as Shown;
    await backup('restore', { backup_id });
    await eventually(async () => expect(await run(['GET', 'k'])).to.deep.equal({ result: 'before' }), {
      timeoutMs: LISTED_TIMEOUT_MS,
    });
    await backup('delete', { backup_id });
    expect(await backups()).to.deep.equal([]);
    for (const enable of [true, false]) {
      expect(await texts('redis_database_set_daily_backup', { database_id, enable })).to.deep.equal(['OK']);
      expect(await json('redis_database_get_details', { database_id: database_id as string })).to.include({
        daily_backup_enabled: enable,
      });
    }
  });

  it('qstash_publish_message publishes, and the log and DLQ tools show messages', async () => {
    expect(await json('qstash_get_user_token')).to.include({ token: QUEUE_TOKEN });
    const path = sink.path('published');
    const asked = { destination: sink.url(path), body: 'hello', retries: 2, extraHeaders: { 'Upstash-Label': 'mcp' } };
    const [said, id] = await texts('qstash_publish_message', asked);
    expect(said).to.equal('Message published successfully');
    const messageId = id?.slice('Message ID: '.length) as string;
    const { headers, body } = await sink.call(path);
    expect(headers).to.include({ 'upstash-message-id': messageId, 'user-agent': 'Upstash-QStash' });
    expect(body).to.equal('"hello"');

    await eventually(
      async () => {
        const [count, cursor, told = ''] = await texts('qstash_logs_list', { messageId });
        expect([count, cursor]).to.deep.equal(['Found 1 log entries', 'No more entries']);
        const shown = JSON.parse(told) as { messageId: string; url: string; body?: string; events: Shown[] };
        expect(shown).to.include({ messageId, url: sink.url(path) });
        expect(shown).to.not.have.property('body');
        const [group] = shown.events as { messageId: string; events: { state: string }[] }[];
        expect(group?.messageId).to.equal(messageId);
        expect(group?.events.map(({ state }) => state)).to.deep.equal(['DELIVERED', 'ACTIVE', 'CREATED']);
      },
      { timeoutMs: LISTED_TIMEOUT_MS },
    );
    const [, entry = ''] = await texts('qstash_logs_get', { messageId });
    const found = JSON.parse(entry) as { messageId: string; body: string; events: Shown[] };
    expect(found).to.include({ messageId, body: Buffer.from('"hello"').toString('base64') });
    expect(found.events).to.have.length(3);
    expect(await texts('qstash_logs_get', { messageId: 'msg_of_nobody' })).to.deep.equal([
      'No log entry found for the specified message ID',
    ]);

    const failing = sink.answer(sink.path('failing'), REFUSING);
    const failed = await json('qstash_publish_message', { destination: failing, body: 'lost' });
    const listed = await eventually(
      async () => {
        const entries = await json<Shown[]>('qstash_dlq_list', { messageId: failed.messageId, count: 10 });
        expect(entries).to.have.length(1);
        return entries;
      },
      { timeoutMs: LISTED_TIMEOUT_MS },
    );
    expect(listed[0])
      .to.include({ responseStatus: 489, url: failing })
      .and.to.not.have.any.keys('body', 'responseBody');
    const dead = await json('qstash_dlq_get', { dlqId: listed[0]?.dlqId as string });
    expect(dead).to.include({ messageId: failed.messageId, body: '"lost"', responseBody: 'no' });
    const filters = { responseStatus: 489, callerIp: '127.0.0.1', url: failing, fromDate: 1, toDate: Date.now() + 1e6 };
    expect(await json<Shown[]>('qstash_dlq_list', filters)).to.have.length(1);
  });

  it('qstash_logs_list reads the log page by page', async () => {
    const label = { 'Upstash-Label': 'paged', 'Upstash-Delay': '1d' };
    for (let n = 0; n < 3; n += 1) {
      await texts('qstash_publish_message', { destination: sink.url('/later'), body: 'b', extraHeaders: label });
    }
    const seen: string[] = [];
    const ofUrl = { url: sink.url('/later'), state: 'CREATED', count: 2 };
    await eventually(
      async () => {
        expect((await texts('qstash_logs_list', { ...ofUrl, count: 100 }))[0]).to.equal('Found 3 log entries');
      },
      { timeoutMs: LISTED_TIMEOUT_MS },
    );
    let cursor: string | undefined;
    do {
      const [, next = '', told = ''] = await texts('qstash_logs_list', { ...ofUrl, ...(cursor && { cursor }) });
      seen.push(...(JSON.parse(told) as { events: { messageId: string }[] }).events.map((one) => one.messageId));
      cursor = /^Pagination cursor: (.+)$/.exec(next)?.[1];
    } while (cursor !== undefined);
    expect(new Set(seen).size).to.equal(3);
    expect(seen).to.have.length(3);
  });

  it('qstash_schedules_manage creates, changes and deletes schedules', async () => {
    const manage = (operation: string, more: object = {}) => texts('qstash_schedules_manage', { operation, ...more });
    const created = { destination: sink.url('/tick'), cron: '0 0 1 1 *', body: 'tick', delay: '10s', retries: 1 };
    const [, id = ''] = await manage('create', created);
    const scheduleId = id.slice('Schedule ID: '.length);
    const shown = async () => {
      const schedules = await json<Shown[]>('qstash_schedules_list', { region: 'eu' });
      return schedules.find((one) => one.scheduleId === scheduleId);
    };
    expect(await shown()).to.include({ cron: '0 0 1 1 *', retries: 1, isPaused: false });
    await manage('update', { ...created, scheduleId, cron: '0 0 2 2 *' });
    expect(await shown()).to.include({ cron: '0 0 2 2 *' });
    await manage('pause', { scheduleId });
    expect(await shown()).to.include({ isPaused: true });
    await manage('resume', { scheduleId });
    expect(await shown()).to.include({ isPaused: false });
    await manage('delete', { scheduleId });
    expect(await shown()).to.equal(undefined);
  });

  it('workflow tools show failed runs, restart and resume them', async () => {
    const failed = async () => {
      const endpoint = sink.answer(sink.path('flow'), REFUSING);
      const { workflowRunId } = await queueApi('POST', `/v2/trigger/${endpoint}`, {}, '{"order":1}');
      const entry = await eventually(
        async () => {
          const { messages } = await json<{ messages: Shown[] }>('workflow_dlq_list', { workflowRunId });
          expect(messages).to.have.length(1);
          return messages[0] as Shown;
        },
        { timeoutMs: LISTED_TIMEOUT_MS },
      );
      return { endpoint, workflowRunId: workflowRunId as string, entry };
    };
    const { endpoint, workflowRunId, entry } = await failed();
    expect(entry).to.include({ workflowRunId, responseStatus: 489 }).and.to.not.have.any.keys('body', 'responseBody');
    const filters = { workflowUrl: endpoint, responseStatus: 489, callerIP: '127.0.0.1', fromDate: 1, count: 5 };
    expect((await json('workflow_dlq_list', filters)).messages).to.have.length(1);
    // The failure function is the endpoint itself, which refuses: the run is listed under this state afterwards.
    await eventually(
      async () => {
        const byState = { workflowRunId, failureCallbackState: 'CALLBACK_FAIL' };
        expect((await json('workflow_dlq_list', byState)).messages).to.have.length(1);
      },
      { timeoutMs: LISTED_TIMEOUT_MS },
    );
    const other = { workflowRunId, failureCallbackState: 'CALLBACK_SUCCESS' };
    expect((await json('workflow_dlq_list', other)).messages).to.deep.equal([]);
    const dlqId = entry.dlqId as string;
    expect(await json('workflow_dlq_get', { dlqId })).to.include({ workflowRunId, body: '{"order":1}' });

    const [run] = (await json('workflow_logs_list', { workflowRunId, count: 50, state: 'RUN_FAILED' })).runs as Shown[];
    expect(run).to.include({ workflowRunId, workflowState: 'RUN_FAILED', workflowUrl: endpoint });
    const whole = await json('workflow_logs_get', { workflowRunId });
    expect(whole).to.include({ workflowRunId }).and.to.have.property('steps');

    for (const action of ['restart', 'resume', 'delete']) {
      const one = action === 'restart' ? { entry } : await failed();
      const said = await texts('workflow_dlq_manage', { dlqId: one.entry.dlqId, action });
      expect(said[0], action).to.include('successfully');
      const gone = await call('workflow_dlq_get', { dlqId: one.entry.dlqId });
      expect(gone.isError, `${action}: ${gone.texts}`).to.equal(true);
    }
  });

  it('util tools convert times', async () => {
    const date = 'Sat, 01 Jan 2000 00:00:00 GMT';
    expect(await texts('util_timestamps_to_date', { timestamps: [Date.parse(date)] })).to.deep.equal([date]);
    const dates = { dates: ['2000-01-01T00:00:00Z'] };
    expect(await texts('util_dates_to_timestamps', dates)).to.deep.equal([String(Date.parse(date))]);
  });

  it('tools of products that are not served get 404 with "not served here"', async () => {
    const asked: Record<string, object> = {
      box_manage: { action: 'list' },
      box_exec: { box_id: 'b', command: ['true'] },
      box_agent_run: { box_id: 'b', prompt: 'p' },
      box_logs: { box_id: 'b' },
      box_runs: { action: 'list', box_id: 'b' },
      box_preview: { action: 'list', box_id: 'b' },
      box_snapshots: { action: 'list_all' },
    };
    for (const name of ELSEWHERE) {
      const { isError, texts: said } = await call(name, { box_api_key: 'box_of_the_tests', ...asked[name] });
      expect(isError, `${name}: ${said}`).to.equal(true);
      expect(said.join(), name).to.match(/^Error: Request failed \(404 .*"not served here"/);
    }
  });

  it('a read-only key is offered no tool that changes data', async () => {
    const response = await fetch(`${millrace.addresses.mgmt}/apikey`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${EMAIL}:${KEY}`).toString('base64')}` },
      body: JSON.stringify({ name: 'looks only', readonly: true }),
    });
    const { api_key } = (await response.json()) as { api_key: string };
    const reader = await McpClient.start(await temporaryDirectory(), turnHosts(millrace), EMAIL, api_key);
    try {
      const tools = await reader.tools();
      expect(tools).to.include.members(['redis_database_list_databases', 'qstash_logs_list', 'workflow_dlq_list']);
      expect(tools.filter((name) => /manage|publish|create|delete|reset/.test(name))).to.deep.equal([]);
      for (const name of ['redis_database_list_databases', 'qstash_logs_list', 'qstash_schedules_list']) {
        const { isError, texts: said } = await reader.call(name);
        expect(isError, `${name}: ${said}`).to.equal(false);
      }
    } finally {
      await reader.end();
    }
  });

  it('qstash tools with region us use the queue account of us-east-1, once POST /v2/qstash/user has created it', async () => {
    const missing = await call('qstash_schedules_list', { region: 'us' });
    expect(missing.isError).to.equal(true);
    expect(missing.texts.join()).to.include('us-east-1');
    const made = await fetch(`${millrace.addresses.mgmt}/v2/qstash/user`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${EMAIL}:${KEY}`).toString('base64')}` },
      body: '{"region":"us-east-1"}',
    });
    expect(made.status).to.equal(200);
    const other = await McpClient.start(await temporaryDirectory(), turnHosts(millrace), EMAIL, KEY);
    try {
      const { isError, texts: said } = await other.call('qstash_schedules_list', { region: 'us' });
      expect(isError, said.join()).to.equal(false);
    } finally {
      await other.end();
    }
  });

  it('each of its tools was called', async () => {
    const tools = await mcp.tools();
    expect(tools).to.have.length(34);
    expect([...called].sort()).to.deep.equal(tools.sort());
  });
});

/** The module of the page on aliases, with this server's addresses. */
function turnHosts({ addresses, kvUrl }: MillraceProcess): string {
  const [, program = ''] = /```js\n(\/\/ turn-hosts\.mjs\n[\s\S]*?)```/.exec(readFileSync(PAGE, 'utf8')) ?? [];
  expect(program).to.not.equal('');
  return program
    .replaceAll('http://127.0.0.1:7300', addresses.mgmt as string)
    .replaceAll('http://127.0.0.1:7200', addresses.queue as string)
    .replaceAll('//127.0.0.1:7100', kvUrl.replace(/^http:/, ''));
}
