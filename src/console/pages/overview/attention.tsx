/** Problems that need attention, the worst first, with links. */
import type { Schemas } from '#api';
import { counted } from '../../parts/format.js';
import { Icon } from '../../parts/icon.js';
import type { Overview } from './overview-data.js';

export interface Matter {
  readonly level: Level;
  readonly text: string;
  readonly href: string;
}

/** The page with details for each subject. */
const PAGES: Readonly<Record<string, string>> = {
  queue: '/console/queue',
  proof: '/console/cluster?tab=verify',
};

/** The worst first. */
const RANKS = ['error', 'warning', 'notice'] as const;
type Level = (typeof RANKS)[number];

const NEARLY_FULL = 0.85;
export const DEAD_LETTERS = '/console/dead-letters';
export const FAILED_RUNS = '/console/workflows?tab=failed';

/** Alarms of the installation about dead letters are left out: the whole numbers of both lists are shown. */
export function mattersIn({ databases, uses, dead, installation }: Overview): Matter[] {
  const ofInstallation = (installation?.attention ?? [])
    .filter(({ since }) => since === undefined)
    .map(({ about, level, text }) => ({ level, text, href: PAGES[about] ?? '/console/cluster' }));
  const suspended = databases
    .filter(({ state }) => state === 'suspended')
    .map((database) => aboutDatabase(database, 'error', 'is suspended'));
  const full = databases.flatMap((database) => {
    const used = uses.get(database.database_id)?.current_storage ?? 0;
    const share = used / database.db_disk_threshold;
    if (share < NEARLY_FULL) return [];
    return [aboutDatabase(database, share >= 1 ? 'error' : 'warning', `is ${Math.floor(share * 100)} % full`)];
  });
  const matters = [...ofInstallation, ...suspended, ...full, ...deadMatters(dead)];
  return matters.sort((a, b) => RANKS.indexOf(a.level) - RANKS.indexOf(b.level));
}

/** Each links to the list that has exactly these. */
function deadMatters(dead: Overview['dead']): Matter[] {
  if (dead === undefined) return [];
  const { letters, runs } = dead;
  const level = 'warning';
  const atLeast = letters.isWhole ? '' : 'at least ';
  return [
    ...(letters.total === 0
      ? []
      : [
          {
            level,
            text: `${atLeast}${counted(letters.total, 'message')} could not be delivered`,
            href: DEAD_LETTERS,
          } as const,
        ]),
    ...(runs.total === 0 ? [] : [{ level, text: `${counted(runs.total, 'run')} failed`, href: FAILED_RUNS } as const]),
  ];
}

function aboutDatabase({ database_id, database_name }: Schemas['DatabaseAnswer'], level: Level, what: string): Matter {
  return { level, text: `${database_name} ${what}`, href: `/console/databases/${database_id}` };
}

export function Attention({ matters }: { readonly matters: readonly Matter[] }) {
  const alarms = matters.filter(({ level }) => level !== 'notice');
  const notes = matters.filter(({ level }) => level === 'notice');
  return (
    <>
      {alarms.length === 0 && (
        <p class="note good">
          <Icon name="check" /> No problems.
        </p>
      )}
      {alarms.length > 0 && (
        <ul class="stack tight plain-list" aria-label="Needs attention">
          {alarms.map(({ level, text, href }) => (
            <li key={text} class={`note ${level === 'error' ? 'bad' : 'warn'}`}>
              <Icon name="warning" />
              <a href={href}>{text}</a>
            </li>
          ))}
        </ul>
      )}
      {notes.length > 0 && (
        <ul class="plain-list small" aria-label="Notes">
          {notes.map(({ text, href }) => (
            <li key={text}>
              <a class="muted" href={href}>
                {text}
              </a>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
