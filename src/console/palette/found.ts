/** Results of the palette: pages, databases and indexes by name, keys that exist, messages and runs by id. */
import { useAsk } from '../api/ask.js';
import { manage, queryText } from '../api/call.js';
import { command } from '../api/kv.js';
import { mayUseData } from '../api/session.js';
import { PAGES } from '../routes.js';

export interface Found {
  readonly href: string;
  readonly label: string;
  readonly kind: string;
  /** The id of a database whose keys can be looked up. */
  readonly database?: string;
}

const MAX_FOUND = 30;
/** Time after the last letter until keys are looked up. */
const TYPING_MS = 150;
const MESSAGE = /^msg_\w+$/;
const RUN = /^wfr_[\w.-]+$/;

/** Parts of pages that users search by name. */
const PARTS: readonly Found[] = [
  { href: '/console/queue?tab=publish', label: 'Publish a message', kind: 'queue' },
  { href: '/console/queue?tab=schedules', label: 'Schedules', kind: 'queue' },
  { href: '/console/queue?tab=groups', label: 'URL groups', kind: 'queue' },
  { href: '/console/queue?tab=flow', label: 'Flow control', kind: 'queue' },
  { href: '/console/past?tab=difference', label: 'Difference of two moments', kind: 'time machine' },
  { href: '/console/past?tab=audit', label: 'Audit log', kind: 'time machine' },
];

/** @returns matches for the text, pages first; objects are loaded once, when the palette opens */
export function useFound(text: string): readonly Found[] {
  const things = useAsk('palette', loadThings).data ?? [];
  const letters = text.trim();
  const keys = useKeysNamed(letters, things);
  const pages = PAGES.filter((page) => page.isShown()).map(({ href, label }) => ({ href, label, kind: 'page' }));
  const parts = mayUseData.value ? PARTS : [];
  const named = [...pages, ...things, ...parts].filter(({ label }) => fits(label, letters));
  return [...byId(letters), ...named, ...keys].slice(0, MAX_FOUND);
}

async function loadThings(): Promise<Found[]> {
  const [databases, indexes] = await Promise.all([
    manage('GET /v2/kv/databases', { query: { credentials: 'hide' } }),
    manage('GET /v2/search'),
  ]);
  return [
    ...databases.map(({ database_id, database_name, state }) => ({
      href: `/console/databases/${database_id}`,
      label: database_name,
      kind: 'database',
      ...(state === 'active' && { database: database_id }),
    })),
    ...indexes.map(({ id, name }) => ({ href: `/console/search/${id}`, label: name, kind: 'search index' })),
  ];
}

/** The key with exactly this name, from each database that has it. */
function useKeysNamed(text: string, things: readonly Found[]): readonly Found[] {
  const isAsked = text !== '' && mayUseData.value && things.length > 0;
  const asked = useAsk(isAsked ? `palette key ${text}` : undefined, async (signal) => {
    await new Promise((resolve) => setTimeout(resolve, TYPING_MS));
    if (signal.aborted) return [];
    return (await Promise.all(things.map((thing) => keyIn(thing, text)))).flat();
  });
  return asked.data ?? [];
}

/** None also if the database does not answer: the others are listed all the same. */
async function keyIn({ database, href, label }: Found, text: string): Promise<Found[]> {
  if (database === undefined) return [];
  const type = await command(database, 'TYPE', text).catch(() => 'none');
  if (type === 'none') return [];
  return [{ href: href + queryText({ tab: 'data', key: text }), label: `Key ${text}`, kind: `in ${label}` }];
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
