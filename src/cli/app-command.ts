/** `millrace apps`: applications, which are customers that get webhooks, their endpoints and links to their portals. */
import type { Api } from './dev/api.js';
import { type ParsedArguments, shown } from './parser.js';
import { table } from './table.js';

interface AppDeps {
  readonly queue: Api;
  write(text: string): void;
}

type AppVerb = (asked: ParsedArguments, deps: AppDeps) => Promise<void>;

interface ApplicationView {
  readonly id: string;
  readonly uid?: string;
  readonly name: string;
  readonly endpoints: number;
}

interface EndpointView {
  readonly id: string;
  readonly url: string;
  readonly eventTypes: readonly string[];
  readonly disabled: boolean;
  readonly breaker?: { readonly state: string };
}

interface Replayed {
  readonly replayed: readonly object[];
  readonly cursor?: string;
}

export const APP_VERBS: Readonly<Record<string, AppVerb>> = {
  async 'apps list'(asked, { queue, write }) {
    const query = new URLSearchParams(asked.options.search === undefined ? {} : { search: asked.options.search });
    const applications: ApplicationView[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      if (cursor !== '') query.set('cursor', cursor);
      const page = (await queue.ask('GET', `/v2/apps?${query}`)) as {
        applications: ApplicationView[];
        cursor?: string;
      };
      applications.push(...page.applications);
      cursor = page.cursor;
    }
    if (asked.flags.has('json')) for (const application of applications) write(`${JSON.stringify(application)}\n`);
    else write(table(['ID', 'UID', 'NAME', 'ENDPOINTS'], applications.map(rowOf)));
  },

  async 'apps create'(asked, { queue, write }) {
    const [name] = asked.words;
    const body = JSON.stringify({ name, uid: asked.options.uid });
    const made = (await queue.ask('POST', '/v2/apps', body)) as ApplicationView;
    write(shown(asked, made, () => `${made.id}\n`));
  },

  async 'apps delete'(asked, { queue, write }) {
    await queue.ask('DELETE', pathOf(asked));
    write(shown(asked, { id: asked.words[0] }, () => `${asked.words[0]} deleted\n`));
  },

  async 'apps endpoints'(asked, { queue, write }) {
    const endpoints = (await queue.ask('GET', `${pathOf(asked)}/endpoints`)) as EndpointView[];
    if (asked.flags.has('json')) for (const endpoint of endpoints) write(`${JSON.stringify(endpoint)}\n`);
    else write(table(['ID', 'STATE', 'TYPES', 'URL'], endpoints.map(endpointRow)));
  },

  async 'apps send'(asked, { queue, write }) {
    const [, eventType, payload = '{}'] = asked.words;
    // The payload is JSON already; as a text of another form the server refuses the body.
    const id = asked.options.id === undefined ? '' : `,"eventId":${JSON.stringify(asked.options.id)}`;
    const body = `{"eventType":${JSON.stringify(eventType)},"payload":${payload}${id}}`;
    const sent = (await queue.ask('POST', `${pathOf(asked)}/messages`, body)) as {
      eventId: string;
      messages: readonly object[];
    };
    write(shown(asked, sent, () => `${sent.eventId} to ${sent.messages.length} endpoints\n`));
  },

  async 'apps portal'(asked, { queue, write }) {
    const body = JSON.stringify({ expiresIn: asked.options['expires-in'], readOnly: asked.flags.has('read-only') });
    const link = (await queue.ask('POST', `${pathOf(asked)}/portal`, body)) as { url: string };
    write(shown(asked, link, () => `${link.url}\n`));
  },

  async 'apps revoke'(asked, { queue, write }) {
    const { link } = asked.options;
    await queue.ask('POST', `${pathOf(asked)}/portal/revoke`, link === undefined ? {} : { link });
    write(
      shown(asked, { id: asked.words[0], link }, () => (link === undefined ? 'all links revoked\n' : 'link revoked\n')),
    );
  },

  async 'apps enable'(asked, { queue, write }) {
    const endpoint = asked.words[1] ?? '';
    const path = `${pathOf(asked)}/endpoints/${encodeURIComponent(endpoint)}/enable`;
    const replay = asked.flags.has('replay');
    let page = (await queue.ask('POST', path, { replay })) as Replayed;
    let count = page.replayed.length;
    while (page.cursor !== undefined) {
      const body = { which: 'failed', endpointId: endpoint, cursor: page.cursor };
      page = (await queue.ask('POST', `${pathOf(asked)}/replay`, body)) as Replayed;
      count += page.replayed.length;
    }
    const done = { endpoint, replayed: count };
    write(shown(asked, done, () => `${endpoint} is enabled. Messages sent again: ${count}.\n`));
  },
};

function pathOf({ words: [id = ''] }: ParsedArguments): string {
  return `/v2/apps/${encodeURIComponent(id)}`;
}

function rowOf({ id, uid = '', name, endpoints }: ApplicationView): string[] {
  return [id, uid, name, String(endpoints)];
}

function endpointRow({ id, url, eventTypes, disabled, breaker }: EndpointView): string[] {
  const state = breaker === undefined || breaker.state === 'closed' ? 'active' : `stopped (${breaker.state})`;
  return [id, disabled ? 'disabled' : state, eventTypes.length === 0 ? 'all' : eventTypes.join(' '), url];
}
