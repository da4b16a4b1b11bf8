/** `millrace triggers`: rules that send the changes of keys to a destination. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Api } from './dev/api.js';
import { type ParsedArguments, shown } from './parser.js';
import { table } from './table.js';

interface TriggerDeps {
  readonly queue: Api;
  /** Ends `feed --follow`. */
  readonly signal: AbortSignal;
  write(text: string): void;
}

type TriggerVerb = (asked: ParsedArguments, deps: TriggerDeps) => Promise<void>;

interface TriggerView {
  readonly triggerId: string;
  readonly name: string;
  readonly patterns: readonly string[];
  readonly events: readonly string[];
  readonly destination: Readonly<Record<string, string>>;
  readonly isPaused: boolean;
  readonly state: 'active' | 'paused' | 'lost';
  readonly lagSeconds?: number;
}

const FOLLOW_EVERY_MS = 500;
const FEED_PAGE = 100;

export const TRIGGER_VERBS: Readonly<Record<string, TriggerVerb>> = {
  async 'triggers list'(asked, { queue, write }) {
    const triggers = (await queue.ask('GET', '/v2/triggers')) as TriggerView[];
    if (asked.flags.has('json')) for (const trigger of triggers) write(`${JSON.stringify(trigger)}\n`);
    else write(table(['ID', 'NAME', 'STATE', 'LAG', 'PATTERNS', 'DESTINATION'], triggers.map(rowOf)));
  },

  async 'triggers create'(asked, { queue, write }) {
    const [destination = ''] = asked.words;
    const { name, pattern, events = '', filter, from, database, options } = asked.options;
    const body = {
      name,
      patterns: pattern?.split('\n'),
      events: events.split(','),
      filter,
      from,
      database,
      destination,
      ...(options !== undefined && { options: Object.fromEntries(options.split('\n').map(optionOf)) }),
    };
    const made = (await queue.ask('POST', '/v2/triggers', JSON.stringify(body))) as { triggerId: string };
    write(shown(asked, made, () => `${made.triggerId}\n`));
  },

  async 'triggers show'(asked, { queue, write }) {
    const trigger = (await queue.ask('GET', pathOf(asked))) as Readonly<Record<string, unknown>>;
    const lines = Object.entries(trigger).map(
      ([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : value}\n`,
    );
    write(shown(asked, trigger, () => lines.join('')));
  },

  'triggers pause': (asked, deps) => act(asked, deps, 'pause'),
  'triggers resume': (asked, deps) => act(asked, deps, 'resume'),
  'triggers skip': (asked, deps) => act(asked, deps, 'skip', JSON.stringify({ to: asked.options.to ?? 'now' })),

  async 'triggers delete'(asked, { queue, write }) {
    await queue.ask('DELETE', pathOf(asked));
    write(shown(asked, { triggerId: asked.words[0] }, () => `${asked.words[0]} deleted\n`));
  },

  async 'triggers feed'(asked, { queue, signal, write }) {
    const { from, cursor: given } = asked.options;
    let query = new URLSearchParams(given === undefined ? (from === undefined ? {} : { from }) : { cursor: given });
    for (;;) {
      query.set('count', String(FEED_PAGE));
      const page = (await queue.ask('GET', `${pathOf(asked)}/feed?${query}`)) as { records: unknown[]; cursor: string };
      for (const record of page.records) write(`${JSON.stringify(record)}\n`);
      query = new URLSearchParams({ cursor: page.cursor });
      if (page.records.length > 0) continue;
      if (!asked.flags.has('follow')) return;
      await pause(FOLLOW_EVERY_MS, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
    }
  },
};

async function act(
  asked: ParsedArguments,
  { queue, write }: TriggerDeps,
  action: string,
  body?: string,
): Promise<void> {
  const trigger = (await queue.ask('POST', `${pathOf(asked)}/${action}`, body)) as TriggerView;
  write(shown(asked, trigger, () => `${trigger.triggerId} ${trigger.state}\n`));
}

function pathOf({ words: [id = ''] }: ParsedArguments): string {
  return `/v2/triggers/${encodeURIComponent(id)}`;
}

function rowOf({ triggerId, name, state, lagSeconds, patterns, destination }: TriggerView): string[] {
  const lag = lagSeconds === undefined ? '' : `${lagSeconds} s`;
  return [triggerId, name, state, lag, patterns.join(' '), Object.values(destination).join(' ')];
}

/** `Name: value`, as a header. */
function optionOf(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
}
