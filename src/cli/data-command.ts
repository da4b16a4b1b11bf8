/**
 * `millrace get`, `publish`, `messages`, `runs` and the like: everyday calls of the public HTTP APIs, with the addresses
 * and tokens that `millrace env` prints.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { APP_VERBS } from './app-command.js';
import { RefusedCommand } from './command-line.js';
import { DESTINATION_VERBS } from './destination-command.js';
import type { Api } from './dev/api.js';
import { type ParsedArguments, shown } from './parser.js';
import { table } from './table.js';
import { TRIGGER_VERBS } from './trigger-command.js';
import { checkWorkflows } from './workflow-check.js';

export interface DataCommandDeps {
  readonly kv: Api;
  readonly queue: Api;
  /** Ends `logs --follow`. */
  readonly signal: AbortSignal;
  readInput(): Promise<string>;
  write(text: string): void;
}

type Verb = (asked: ParsedArguments, deps: DataCommandDeps) => Promise<void>;
type Fields = Readonly<Record<string, unknown>>;

/** Keys that one SCAN looks at. */
const SCAN_COUNT = '1000';
const DEFAULT_COUNT = 100;
/** Lists lag behind by less than a second. */
const FOLLOW_EVERY_MS = 500;
const EVENTS_A_PAGE = 100;
const RUNS_A_PAGE = 10;

/** @param verb one of `lines/tree.ts`. @returns the exit code. @throws RefusedCommand, RefusedAnswer */
export async function dataCommand(verb: string, asked: ParsedArguments, deps: DataCommandDeps): Promise<0> {
  await (VERBS[verb] as Verb)(asked, deps);
  return 0;
}

const VERBS: Readonly<Record<string, Verb>> = {
  async get(asked, { kv, write }) {
    const value = await command(kv, ['GET', asked.words[0] as string]);
    if (value === null) throw new RefusedCommand(`there is no key ${asked.words[0]}`);
    write(shown(asked, value, () => `${value}\n`));
  },

  async set(asked, { kv, write }) {
    const {
      words: [key = '', value = ''],
      options: { ttl },
    } = asked;
    const reply = await command(kv, ['SET', key, value, ...(ttl === undefined ? [] : ['EX', ttl])]);
    write(shown(asked, reply, () => `${reply}\n`));
  },

  async keys({ words: [pattern = '*'], options, flags }, { kv, write }) {
    const most = Number(options.count ?? DEFAULT_COUNT);
    let cursor = '0';
    let left = most;
    do {
      const scanned = await command(kv, ['SCAN', cursor, 'MATCH', pattern, 'COUNT', SCAN_COUNT]);
      const [next, found] = scanned as [string, string[]];
      for (const key of found.slice(0, left)) write(`${flags.has('json') ? JSON.stringify(key) : key}\n`);
      left -= found.length;
      cursor = next;
    } while (cursor !== '0' && left > 0);
  },

  async call({ words }, { kv, write }) {
    write(`${JSON.stringify(await command(kv, words))}\n`);
  },

  async publish(asked, deps) {
    const [destination = '', body] = asked.words;
    const { header, delay, retries, priority, queue } = asked.options;
    const whenStopped = asked.options['when-stopped'];
    const headers = {
      ...headersOf(header),
      ...(delay === undefined ? {} : { 'Svc-Delay': delay }),
      ...(retries === undefined ? {} : { 'Svc-Retries': retries }),
      ...(priority === undefined ? {} : { 'Svc-Priority': priority }),
      ...(whenStopped === undefined ? {} : { 'Svc-When-Stopped': whenStopped }),
    };
    const path = queue === undefined ? '/v2/publish/' : `/v2/enqueue/${encodeURIComponent(queue)}/`;
    const published = await deps.queue.ask('POST', path + destination, await bodyOf(body, deps), headers);
    const ids = [published].flat().map((one) => (one as Fields).messageId);
    deps.write(shown(asked, published, () => `${ids.join('\n')}\n`));
  },

  messages: (asked, deps) =>
    list(asked, deps, `/v2/messages?${queryOf(asked, ['state'])}`, 'messages', (message) => [
      message.messageId,
      message.state,
      `${Number(message.retried ?? 0)}/${message.maxRetries}`,
      timeOf(message.nextDeliveryTime),
      message.url,
    ]),

  'dlq list': (asked, deps) =>
    list(asked, deps, `/v2/dlq?${queryOf(asked, [])}`, 'messages', (message) => [
      message.dlqId,
      message.messageId,
      timeOf(message.createdAt),
      message.error ?? message.responseStatus,
      message.url,
    ]),

  async 'dlq retry'(asked, { queue, write }) {
    const {
      words: [id],
      flags,
    } = asked;
    if (id === undefined && !flags.has('all')) throw new RefusedCommand('give the id of an entry, or --all');
    if (id !== undefined) {
      const sent = (await queue.ask('POST', `/v2/dlq/retry/${encodeURIComponent(id)}`)) as Fields;
      write(shown(asked, sent, () => `${sent.messageId}\n`));
      return;
    }
    for (let cursor: unknown = ''; cursor !== undefined; ) {
      const after = cursor === '' ? '' : `?cursor=${encodeURIComponent(String(cursor))}`;
      const answer = (await queue.ask('POST', `/v2/dlq/retry${after}`)) as { responses: Fields[]; cursor?: unknown };
      for (const sent of answer.responses) write(shown(asked, sent, () => `${sent.messageId}\n`));
      cursor = answer.cursor;
    }
  },

  'runs list': (asked, deps) =>
    list(asked, deps, `/v2/workflows/logs?${queryOf(asked, ['state'], RUNS_A_PAGE)}`, 'runs', (run) => [
      run.workflowRunId,
      run.workflowState,
      timeOf(run.workflowRunCreatedAt),
      run.workflowUrl,
    ]),

  async 'runs show'(asked, { queue, write }) {
    const [id = ''] = asked.words;
    const path = `/v2/workflows/logs?workflowRunId=${encodeURIComponent(id)}`;
    const [run] = ((await queue.ask('GET', path)) as { runs: Fields[] }).runs;
    if (run === undefined) throw new RefusedCommand(`there is no run ${id}`);
    const facts = ['workflowRunId', 'workflowUrl', 'workflowState', 'workflowRunResponse'];
    const lines = facts.filter((name) => run[name] !== undefined).map((name) => `${name}=${run[name]}\n`);
    const groups = (run.steps ?? []) as { steps: Fields[] }[];
    const rows = groups.flatMap(({ steps }) => steps.map(stepRow));
    write(shown(asked, run, () => lines.join('') + table(['STEP', 'NAME', 'TYPE', 'STATE', 'RESULT'], rows)));
  },

  async 'runs trigger'(asked, deps) {
    const [url = '', body] = asked.words;
    const headers = headersOf(asked.options.header);
    const started = (await deps.queue.ask('POST', `/v2/trigger/${url}`, await bodyOf(body, deps), headers)) as Fields;
    deps.write(shown(asked, started, () => `${started.workflowRunId}\n`));
  },

  async 'runs rerun'(asked, { queue, write }) {
    const [id = ''] = asked.words;
    const { 'from-step': step = '0', input, 'step-result': result, url } = asked.options;
    const body = {
      fromStep: /^\d+$/.test(step) ? Number(step) : step,
      input,
      url,
      ...(result === undefined ? {} : { stepResult: jsonOf('--step-result', result) }),
    };
    const path = `/v2/workflows/runs/${encodeURIComponent(id)}/rerun`;
    const started = (await queue.ask('POST', path, JSON.stringify(body))) as Fields;
    write(shown(asked, started, () => `${started.workflowRunId}\n`));
  },

  async 'runs cancel'(asked, { queue, write }) {
    const [id = ''] = asked.words;
    await queue.ask('DELETE', `/v2/workflows/runs/${encodeURIComponent(id)}?cancel=true`);
    write(shown(asked, { workflowRunId: id, cancelled: true }, () => `${id} cancelled\n`));
  },

  ...APP_VERBS,
  ...DESTINATION_VERBS,
  ...TRIGGER_VERBS,
  'workflows check': (asked, deps) => checkWorkflows(asked, deps),

  async logs(asked, { queue, signal, write }) {
    const lineOf = (event: Fields) =>
      asked.flags.has('json')
        ? `${JSON.stringify(event)}\n`
        : `${timeOf(event.time)}  ${String(event.state).padEnd(9)}  ${event.messageId}  ${event.url}${event.error === undefined ? '' : `  ${event.error}`}\n`;
    const first = await eventsSince(queue, undefined, Number(asked.options.count ?? EVENTS_A_PAGE));
    for (const event of first) write(lineOf(event));
    if (!asked.flags.has('follow')) return;
    let last = first.at(-1)?.time as number | undefined;
    let told = new Set(first.filter(({ time }) => time === last).map(nameOf));
    while (!signal.aborted) {
      await pause(FOLLOW_EVERY_MS, undefined, { signal }).catch(() => undefined);
      // Events of the last millisecond may still be added, so they are asked for again.
      const found = (await eventsSince(queue, last, EVENTS_A_PAGE)).filter((event) => !told.has(nameOf(event)));
      for (const event of found) write(lineOf(event));
      const newest = found.at(-1)?.time as number | undefined;
      if (newest === undefined) continue;
      if (newest !== last) told = new Set();
      last = newest;
      for (const event of found) if (event.time === newest) told.add(nameOf(event));
    }
  },

  async schedule(asked, deps) {
    const [destination = '', body] = asked.words;
    const { cron = '', id, queue, header } = asked.options;
    const headers = {
      ...headersOf(header),
      'Svc-Cron': cron,
      ...(id === undefined ? {} : { 'Svc-Schedule-Id': id }),
      ...(queue === undefined ? {} : { 'Svc-Queue-Name': queue }),
    };
    const path = `/v2/schedules/${destination}`;
    const set = (await deps.queue.ask('POST', path, await bodyOf(body, deps), headers)) as Fields;
    deps.write(shown(asked, set, () => `${set.scheduleId}\n`));
  },

  schedules: async (asked, { queue, write }) => {
    const found = (await queue.ask('GET', '/v2/schedules')) as Fields[];
    print(asked, write, found, ['ID', 'CRON', 'STATE', 'NEXT', 'DESTINATION'], (schedule) => [
      schedule.scheduleId,
      schedule.cron,
      schedule.isPaused === true ? 'paused' : 'active',
      timeOf(schedule.nextScheduleTime),
      schedule.destination,
    ]);
  },
};

/** `-`: standard input. */
async function bodyOf(word: string | undefined, { readInput }: DataCommandDeps): Promise<string | undefined> {
  return word === '-' ? readInput() : word;
}

function jsonOf(option: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new RefusedCommand(`${option} is not JSON: a text needs double quotes`);
  }
}

const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  '/v2/messages': ['ID', 'STATE', 'RETRIES', 'NEXT', 'URL'],
  '/v2/dlq': ['DLQ ID', 'MESSAGE', 'CREATED', 'ERROR', 'URL'],
  '/v2/workflows/logs': ['RUN', 'STATE', 'CREATED', 'URL'],
};

async function command(kv: Api, words: readonly string[]): Promise<unknown> {
  return ((await kv.ask('POST', '/', words)) as { result: unknown }).result;
}

/** @param field of the answer that has the rows */
async function list(
  asked: ParsedArguments,
  { queue, write }: DataCommandDeps,
  path: string,
  field: string,
  row: (item: Fields) => unknown[],
): Promise<void> {
  const answer = (await queue.ask('GET', path)) as Record<string, Fields[]>;
  print(asked, write, answer[field] ?? [], COLUMNS[path.slice(0, path.indexOf('?'))] ?? [], row);
}

function print(
  { flags }: ParsedArguments,
  write: (text: string) => void,
  items: readonly Fields[],
  columns: readonly string[],
  row: (item: Fields) => unknown[],
): void {
  if (flags.has('json')) for (const item of items) write(`${JSON.stringify(item)}\n`);
  else
    write(
      table(
        columns,
        items.map((item) => row(item).map((cell) => String(cell ?? ''))),
      ),
    );
}

/** Oldest first. @param sinceMs undefined: the newest ones */
async function eventsSince(queue: Api, sinceMs: number | undefined, count: number): Promise<Fields[]> {
  const since = sinceMs === undefined ? '' : `&fromDate=${sinceMs}&order=earliestFirst`;
  const { events } = (await queue.ask('GET', `/v2/events?count=${count}${since}`)) as { events: Fields[] };
  return sinceMs === undefined ? events.reverse() : events;
}

function nameOf({ messageId, state, time }: Fields): string {
  return `${messageId} ${state} ${time}`;
}

function stepRow({ stepId, stepName, stepType, state, out }: Fields): string[] {
  return [stepId ?? 0, stepName, stepType, state, out].map((cell) => String(cell ?? ''));
}

function timeOf(ms: unknown): string {
  return typeof ms === 'number' ? new Date(ms).toISOString() : '';
}

function queryOf({ options }: ParsedArguments, names: readonly string[], most?: number): string {
  const query = new URLSearchParams();
  const { count } = options;
  if (count !== undefined) query.set('count', String(most === undefined ? count : Math.min(Number(count), most)));
  for (const name of names) if (options[name] !== undefined) query.set(name, options[name] as string);
  return query.toString();
}

/** @param lines `Name: value`, one on each line */
function headersOf(lines: string | undefined): Record<string, string> {
  return Object.fromEntries(
    (lines?.split('\n') ?? []).map((line) => {
      const [, name = '', value = ''] = /^([^:\s]+):\s*(.*)$/.exec(line) ?? [];
      if (name === '') throw new RefusedCommand(`--header has the form "Name: value", not ${JSON.stringify(line)}`);
      return [name, value];
    }),
  );
}
