/**
 * Results of the palette: actions and pages by name, databases and indexes by name, keys by the beginning of their name,
 * schedules by id and destination, messages and runs by id and label. Without a text: the results opened last.
 */
import { useAsk } from '../api/ask.js';
import { manage, ofQueue, queryText } from '../api/call.js';
import { pipeline, textOf } from '../api/kv.js';
import { type QueueView, useQueue } from '../api/queues.js';
import { mayUseData } from '../api/session.js';
import { PAGES } from '../routes.js';
import type { Found } from './found-item.js';
import { recentFound } from './recent.js';
import { verbs } from './verbs.js';

const MAX_FOUND = 30;
/** Time after the last letter until objects are looked up. */
const TYPING_MS = 150;
/** Shorter texts are the beginning of too many keys. */
const LEAST_LETTERS = 2;
const MAX_KEYS_OF_DATABASE = 5;
/** Keys that one look-up visits in a database. */
const VISITED_KEYS = 1_000;
const MAX_SCHEDULES = 5;
const MESSAGE = /^msg_\w+$/;
const RUN = /^wfr_[\w.-]+$/;

/** Parts of pages that users search by name. */
const PARTS: readonly Found[] = [
  { href: '/console/queue?tab=schedules', label: 'Schedules', kind: 'queue' },
  { href: '/console/queue?tab=groups', label: 'URL groups', kind: 'queue' },
  { href: '/console/queue?tab=flow', label: 'Flow control', kind: 'queue' },
  { href: '/console/past?tab=difference', label: 'Difference of two moments', kind: 'time machine' },
  { href: '/console/past?tab=audit', label: 'Audit log', kind: 'time machine' },
];

/**
 * @param showKeys  opens the list of keyboard shortcuts
 * @returns matches for the text; lists of objects are loaded once, when the palette opens
 */
export function useFound(text: string, showKeys: () => void): readonly Found[] {
  const view = useQueue().data;
  const account = mayUseData.value ? view?.shown.id : undefined;
  const things = useAsk('palette', loadThings).data ?? [];
  const queues = useAsk(account && `palette queues ${account}`, () => ofQueue(account as string, 'GET /v2/queues'));
  const letters = text.trim();
  const lookedUp = useLookUp(letters, things, mayUseData.value ? view : undefined);
  const pages = PAGES.filter((page) => page.isShown()).map(({ href, label }) => ({ href, label, kind: 'page' }));
  const parts = mayUseData.value ? PARTS : [];
  const named = [...pages, ...verbs(view, queues.data ?? [], showKeys), ...things, ...parts];
  if (letters === '') return [...recentFound(), ...named].slice(0, MAX_FOUND);
  const fitting = named.filter(({ label }) => fits(label, letters));
  const docs = {
    href: `/docs/?q=${encodeURIComponent(letters)}`,
    label: `Search the documentation for “${letters}”`,
    kind: 'docs',
  };
  return [...byId(letters), ...fitting, ...lookedUp].slice(0, MAX_FOUND - 1).concat(docs);
}

async function loadThings(): Promise<Found[]> {
  const [databases, indexes, vectors] = await Promise.all([
    manage('GET /v2/kv/databases', { query: { credentials: 'hide' } }),
    manage('GET /v2/search'),
    manage('GET /v2/vector/index'),
  ]);
  return [
    ...databases.map(({ database_id, database_name, state }) => ({
      href: `/console/databases/${database_id}`,
      label: database_name,
      kind: 'database',
      ...(state === 'active' && { database: database_id }),
    })),
    ...indexes.map(({ id, name }) => ({ href: `/console/search/${id}`, label: name, kind: 'search index' })),
    ...vectors.map(({ id, name }) => ({ href: `/console/vectors/${id}`, label: name, kind: 'vector index' })),
  ];
}

/** Objects that the server finds by the text. */
function useLookUp(text: string, things: readonly Found[], view: QueueView | undefined): readonly Found[] {
  const isAsked = text.length >= LEAST_LETTERS && view !== undefined;
  const asked = useAsk(isAsked ? `palette ${things.length} ${text}` : undefined, async (signal) => {
    await new Promise((resolve) => setTimeout(resolve, TYPING_MS));
    if (signal.aborted || view === undefined) return [];
    const { id } = view.shown;
    const lists = [
      ...things.map((thing) => keysIn(thing, text, signal)),
      schedulesOf(id, text, signal),
      labelled(id, text, signal),
    ];
    // A database that does not answer has no results; those of the others are shown.
    return (await Promise.all(lists.map((list) => list.catch(() => [])))).flat();
  });
  return asked.data ?? [];
}

/** The key with exactly this name, and some whose names begin so. */
async function keysIn({ database, href, label }: Found, text: string, signal: AbortSignal): Promise<Found[]> {
  if (database === undefined || href === undefined) return [];
  const pattern = `${text.replaceAll(/[\\*?[\]]/g, '\\$&')}*`;
  const [type, scan] = await pipeline(
    database,
    [
      ['TYPE', text],
      ['SCAN', '0', 'MATCH', pattern, 'COUNT', VISITED_KEYS],
    ],
    signal,
  );
  const isThere = type !== undefined && 'result' in type && type.result !== 'none';
  const [, names = []] = (scan !== undefined && 'result' in scan ? scan.result : []) as [string, string[]];
  const utf8 = names.map(textOf).filter((name) => name !== undefined && name !== text) as string[];
  const keys = [...(isThere ? [text] : []), ...utf8.sort()].slice(0, MAX_KEYS_OF_DATABASE);
  return keys.map((key) => ({
    href: href + queryText({ tab: 'data', key }),
    label: `Key ${key}`,
    kind: `in ${label}`,
  }));
}

async function schedulesOf(account: string, text: string, signal: AbortSignal): Promise<Found[]> {
  const schedules = await ofQueue(account, 'GET /v2/schedules', { signal });
  return schedules
    .filter(({ scheduleId, destination }) => fits(`${scheduleId} ${destination}`, text))
    .slice(0, MAX_SCHEDULES)
    .map(({ scheduleId, destination }) => ({
      href: `/console/queue${queryText({ queue: account, tab: 'schedules', ticks: scheduleId })}`,
      label: destination,
      kind: `schedule ${scheduleId}`,
    }));
}

/** Links to the messages and the runs that have the text as a label. */
async function labelled(account: string, text: string, signal: AbortSignal): Promise<Found[]> {
  const query = { label: text, count: 1 };
  const [messages, runs] = await Promise.all([
    ofQueue(account, 'GET /v2/logs', { query, signal }),
    ofQueue(account, 'GET /v2/workflows/logs', { query, signal }),
  ]);
  const words = { queue: account, label: text };
  const label = `Label ${text}`;
  return [
    ...('events' in messages && messages.events.length > 0
      ? [{ href: `/console/queue${queryText({ tab: 'messages', ...words })}`, label, kind: 'messages' }]
      : []),
    ...(runs.runs.length > 0 ? [{ href: `/console/workflows${queryText(words)}`, label, kind: 'workflow runs' }] : []),
  ];
}

function byId(text: string): Found[] {
  if (MESSAGE.test(text)) return [{ href: `/console/messages/${text}`, label: text, kind: 'message' }];
  if (RUN.test(text)) return [{ href: `/console/workflows/${text}`, label: text, kind: 'workflow run' }];
  return [];
}

/** Each word is contained in the name. */
function fits(label: string, text: string): boolean {
  const name = label.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => name.includes(word));
}
