/** Problems that need attention, the worst first, with links. */
import type { Schemas } from '#api';
import { whole } from '../../parts/format.js';
import { Icon } from '../../parts/icon.js';
import type { Overview } from './overview-data.js';

export interface Matter {
  readonly isBad: boolean;
  readonly text: string;
  readonly href: string;
}

/** The page with details for each subject. */
const PAGES: Readonly<Record<string, string>> = {
  queue: '/console/dead-letters',
  proof: '/console/cluster?tab=verify',
};

const NEARLY_FULL = 0.85;

/** @param everything all data that the page has loaded */
export function mattersIn({ databases, uses, queueStats, installation }: Overview): Matter[] {
  const ofInstallation = (installation?.attention ?? []).map(({ about, level, text }) => ({
    isBad: level === 'error',
    text,
    href: PAGES[about] ?? '/console/cluster',
  }));
  const suspended = databases
    .filter(({ state }) => state === 'suspended')
    .map((database) => aboutDatabase(database, true, 'is suspended'));
  const full = databases.flatMap((database) => {
    const used = uses.get(database.database_id)?.current_storage ?? 0;
    const share = used / database.db_disk_threshold;
    if (share < NEARLY_FULL) return [];
    return [aboutDatabase(database, share >= 1, `is ${Math.floor(share * 100)} % full`)];
  });
  const letters = queueStats?.dlq_message_count ?? 0;
  const dead =
    letters === 0
      ? []
      : [{ isBad: false, text: `${whole(letters)} messages could not be delivered`, href: '/console/dead-letters' }];
  return [...ofInstallation, ...suspended, ...full, ...dead].sort((a, b) => Number(b.isBad) - Number(a.isBad));
}

function aboutDatabase(
  { database_id, database_name }: Schemas['DatabaseAnswer'],
  isBad: boolean,
  what: string,
): Matter {
  return { isBad, text: `${database_name} ${what}`, href: `/console/databases/${database_id}` };
}

export function Attention({ matters }: { readonly matters: readonly Matter[] }) {
  if (matters.length === 0) {
    return (
      <p class="note good">
        <Icon name="check" /> No problems.
      </p>
    );
  }
  return (
    <ul class="stack tight plain-list" aria-label="Needs attention">
      {matters.map(({ isBad, text, href }) => (
        <li key={text} class={`note ${isBad ? 'bad' : 'warn'}`}>
          <Icon name="warning" />
          <a href={href}>{text}</a>
        </li>
      ))}
    </ul>
  );
}
