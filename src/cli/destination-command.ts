/** `millrace destinations`: failing destinations, and the rules of their circuit breakers. */

import { RefusedCommand } from './command-line.js';
import type { Api } from './dev/api.js';
import { type ParsedArguments, shown } from './parser.js';
import { table } from './table.js';

interface DestinationDeps {
  readonly queue: Api;
  write(text: string): void;
}

type DestinationVerb = (asked: ParsedArguments, deps: DestinationDeps) => Promise<void>;

interface Listed {
  readonly destinations: readonly {
    readonly url: string;
    readonly state: string;
    readonly failures: number;
    readonly failingSince?: number;
    readonly nextProbe?: number;
    readonly waiting: number;
    readonly error?: string;
  }[];
  readonly rules?: Readonly<Record<string, number | string>>;
}

const PATH = '/v2/destinations';
/** Options of `rules` by the members that they set. */
const WHOLE_RULES = {
  failures: 'failures',
  seconds: 'seconds',
  probeSeconds: 'probe-seconds',
  disableAfterSeconds: 'disable-after-seconds',
} as const;

export const DESTINATION_VERBS: Readonly<Record<string, DestinationVerb>> = {
  async 'destinations list'(asked, { queue, write }) {
    const { state } = asked.options;
    const query = state === undefined ? '' : `?${new URLSearchParams({ state })}`;
    const { destinations } = (await queue.ask('GET', PATH + query)) as Listed;
    if (asked.flags.has('json')) {
      for (const destination of destinations) write(`${JSON.stringify(destination)}\n`);
      return;
    }
    const rows = destinations.map(({ url, state: is, failures, failingSince, nextProbe, waiting, error = '' }) => {
      return [is, String(failures), timeOf(failingSince), timeOf(nextProbe), String(waiting), error, url];
    });
    write(table(['STATE', 'FAILURES', 'SINCE', 'NEXT PROBE', 'WAITING', 'ERROR', 'URL'], rows));
  },

  async 'destinations enable'(asked, { queue, write }) {
    const body = { url: asked.words[0], retry: asked.flags.has('retry') };
    const done = (await queue.ask('POST', `${PATH}/enable`, body)) as { retried: number };
    write(
      shown(asked, done, () => `${asked.words[0]} is enabled. Messages sent again from the DLQ: ${done.retried}.\n`),
    );
  },

  async 'destinations disable'(asked, { queue, write }) {
    await queue.ask('POST', `${PATH}/disable`, { url: asked.words[0] });
    write(shown(asked, { url: asked.words[0] }, () => `${asked.words[0]} disabled\n`));
  },

  async 'destinations rules'(asked, { queue, write }) {
    const { flags, options } = asked;
    const whole = Object.entries(WHOLE_RULES).flatMap(([member, option]) =>
      options[option] === undefined ? [] : [[member, Number(options[option])] as const],
    );
    const texts = {
      ...(options.messages && { messages: options.messages }),
      ...(options['notify-url'] && { notifyUrl: options['notify-url'] }),
    };
    const given = { ...Object.fromEntries(whole), ...texts };
    const isGiven = Object.keys(given).length > 0;
    if (flags.has('on') && flags.has('off')) throw new RefusedCommand('give --on or --off, not both');
    if (isGiven && !flags.has('on')) throw new RefusedCommand('rules are set with --on');
    if (flags.has('on')) await queue.ask('POST', `${PATH}/rules`, given);
    if (flags.has('off')) await queue.ask('DELETE', `${PATH}/rules`);
    const { rules = {} } = (await queue.ask('GET', PATH)) as Listed;
    const lines = Object.entries(rules).map(([name, value]) => `${name}=${value}\n`);
    write(shown(asked, rules, () => (lines.length === 0 ? 'circuit breakers are off\n' : lines.join(''))));
  },
};

function timeOf(atMs: number | undefined): string {
  return atMs === undefined ? '' : new Date(atMs).toISOString();
}
