/** The first steps of a new installation. Each is done when the data of the installation shows it. */
import calls from '#first-calls';
import { type Asked, useAsk } from '../../../api/ask.js';
import { manage, ofQueue } from '../../../api/call.js';
import { sumOf } from '../../../api/points.js';
import type { Overview } from '../overview-data.js';

export interface FirstStep {
  readonly id: StepId;
  readonly title: string;
  readonly about: string;
  /** In the documentation. */
  readonly page: string;
  readonly snippets: readonly { readonly label: string; readonly source: string }[];
}

export type StepId = 'connect' | 'set' | 'publish' | 'run' | 'schedule';

/** Messages, runs and schedules of the account; undefined: it has no queue. */
export interface Firsts {
  readonly messages: number;
  readonly runs: number;
  readonly schedules: number;
}

const REFRESH_MS = 5_000;
const ENV = 'eval "$(millrace env)"';

export const STEPS: readonly FirstStep[] = [
  {
    id: 'connect',
    title: 'Connect',
    about: 'Send a command to a database. A client for Redis works too, with `REDIS_URL`.',
    page: 'guide/connecting',
    snippets: snippetsOf('GET /{command}', 'millrace call PING'),
  },
  {
    id: 'set',
    title: 'Store a first key',
    about: 'The answer comes after the key is stored in the journal.',
    page: 'concepts/databases',
    snippets: snippetsOf('POST /', 'millrace set greeting hello'),
  },
  {
    id: 'publish',
    title: 'Publish a first message',
    about: 'Replace the address by one of yours: it is called until it answers with a 2xx status.',
    page: 'concepts/messages',
    snippets: snippetsOf(
      'POST /v2/publish/{destination}',
      `millrace publish https://example.com/hooks '{"hello":"world"}'`,
    ),
  },
  {
    id: 'run',
    title: 'Start a first run',
    about: 'Replace the address by that of a workflow, which the tutorial builds.',
    page: 'tutorials/shop',
    snippets: snippetsOf('POST /v2/trigger/{destination}', 'millrace runs list'),
  },
  {
    id: 'schedule',
    title: 'Set a first schedule',
    about: 'A message at each tick of a cron expression.',
    page: 'guide/schedules',
    snippets: snippetsOf('POST /v2/schedules/{id}', 'millrace schedules'),
  },
];

/** The command line has commands that read runs and schedules; curl creates them. */
function snippetsOf(operation: string, command: string): FirstStep['snippets'] {
  const examples = calls[operation] ?? [];
  const curl = examples.find(({ label }) => label === 'curl')?.source ?? '';
  const isReading = /^millrace (?:runs|schedules)/.test(command);
  const source = isReading ? `${ENV}\n${curl}\n${command}` : command;
  return [...examples, { label: 'Command line', source }];
}

/** @param account id of the queue; undefined: no request */
export function useFirsts(account: string | undefined): Asked<Firsts> {
  return useAsk(account && `first steps ${account}`, () => load(account ?? ''), REFRESH_MS);
}

async function load(account: string): Promise<Firsts> {
  const [messages, runs, schedules] = await Promise.all([
    ofQueue(account, 'GET /v2/logs/counts'),
    ofQueue(account, 'GET /v2/workflows/counts'),
    ofQueue(account, 'GET /v2/schedules'),
  ]);
  return { messages: messages.total, runs: runs.total, schedules: schedules.length };
}

/** The id of the account's queue. */
export function useQueueAccount(isAsked: boolean): string | undefined {
  const asked = useAsk(isAsked ? 'first steps' : undefined, () => manage('GET /v2/msgq/users'));
  return asked.data?.[0]?.id;
}

export function doneSteps({ kv, uses }: Overview, { messages, runs, schedules }: Firsts): ReadonlySet<StepId> {
  const all = [...uses.values()];
  const hasKeys = all.some(({ current_keys }) => current_keys > 0) || sumOf(kv.write) > 0;
  const isConnected = all.some((use) => use.total_monthly_requests > 0 || use.current_connections > 0);
  const done: Readonly<Record<StepId, boolean>> = {
    connect: isConnected || hasKeys,
    set: hasKeys,
    publish: messages > 0,
    run: runs > 0,
    schedule: schedules > 0,
  };
  return new Set(STEPS.flatMap(({ id }) => (done[id] ? [id] : [])));
}
