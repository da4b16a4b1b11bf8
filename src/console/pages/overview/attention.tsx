/** Problems that need attention, the worst first, with links. */
import type { Schemas } from '#api';
import { mayChangeQueues } from '../../api/session.js';
import { SmallButton } from '../../parts/button.js';
import { counted } from '../../parts/format.js';
import { Icon } from '../../parts/icon.js';
import { failed } from '../../parts/toast.js';
import { ofAll } from '../dead-letters/bulk-buttons.js';
import { isMuted, mute, unmuteAll } from './muted.js';
import type { Overview } from './overview-data.js';

export interface Matter {
  readonly level: Level;
  readonly text: string;
  readonly href: string;
  /** A way to solve it from here. */
  readonly action?: 'retry' | 'verify';
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

/** The built-in alert rule about each subject of the installation. */
const RULES: Readonly<Record<string, string>> = {
  cluster: 'al-cluster',
  disk: 'al-disk',
  memory: 'al-memory',
  'read models': 'al-read-models',
};
/** Alerts of these kinds are shown by other matters. */
const SHOWN_ELSEWHERE = ['cluster', 'disk', 'memory', 'read-models', 'dead-letters'];
export const ALERTS = '/console/alerts';

/** Alarms of the installation about dead letters are left out: the whole numbers of both lists are shown. */
export function mattersIn({ databases, uses, dead, installation, alerts }: Overview): Matter[] {
  const quiet = new Set(
    alerts?.rules.filter(({ state }) => state === 'silenced' || state === 'off').map(({ rule_id }) => rule_id),
  );
  const ofInstallation = (installation?.attention ?? [])
    .filter(({ since, about }) => since === undefined && !quiet.has(RULES[about] ?? ''))
    .map(({ about, level, text }): Matter => {
      const matter = { level, text, href: PAGES[about] ?? '/console/cluster' };
      return about === 'proof' ? { ...matter, action: 'verify' } : matter;
    });
  const suspended = databases
    .filter(({ state }) => state === 'suspended')
    .map((database) => aboutDatabase(database, 'error', 'is suspended'));
  const full = databases.flatMap((database) => {
    const used = uses.get(database.database_id)?.current_storage ?? 0;
    const share = used / database.db_disk_threshold;
    if (share < NEARLY_FULL) return [];
    return [aboutDatabase(database, share >= 1 ? 'error' : 'warning', `is ${Math.floor(share * 100)} % full`)];
  });
  const firing = (alerts?.firing ?? [])
    .filter(({ kind, rule_id }) => !SHOWN_ELSEWHERE.includes(kind) && !quiet.has(rule_id))
    .map(({ text }): Matter => ({ level: 'warning', text, href: ALERTS }));
  const matters = [...ofInstallation, ...suspended, ...full, ...firing, ...deadMatters(dead)];
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
            action: 'retry',
          } as const,
        ]),
    ...(runs.total === 0 ? [] : [{ level, text: `${counted(runs.total, 'run')} failed`, href: FAILED_RUNS } as const]),
  ];
}

function aboutDatabase({ database_id, database_name }: Schemas['DatabaseAnswer'], level: Level, state: string): Matter {
  return { level, text: `${database_name} ${state}`, href: `/console/databases/${database_id}` };
}

export interface AttentionProps {
  readonly matters: readonly Matter[];
  /** The queue account. */
  readonly account: string | undefined;
  onDone(): void;
}

export function Attention({ matters, account, onDone }: AttentionProps) {
  const shown = matters.filter(({ text }) => !isMuted(text));
  const alarms = shown.filter(({ level }) => level !== 'notice');
  const notes = shown.filter(({ level }) => level === 'notice');
  const tone = alarms.length === 0 ? 'good' : alarms.some(({ level }) => level === 'error') ? 'bad' : 'warn';
  const hidden = matters.length - shown.length;
  return (
    <section class={`health ${tone}`} aria-label="Health">
      <h2>
        <Icon name={alarms.length === 0 ? 'check' : 'warning'} />
        {alarms.length === 0
          ? 'No problems.'
          : `${counted(alarms.length, 'thing')} ${alarms.length === 1 ? 'needs' : 'need'} you`}
        <a class="small" href={ALERTS}>
          Alert rules
        </a>
      </h2>
      <Matters label="Needs attention" matters={alarms} {...{ account, onDone }} />
      <Matters label="Notes" matters={notes} {...{ account, onDone }} />
      {hidden > 0 && (
        <p class="small muted">
          {counted(hidden, 'muted thing')} for a day.{' '}
          <button type="button" class="link" onClick={unmuteAll}>
            Show again
          </button>
        </p>
      )}
    </section>
  );
}

function Matters({ label, matters, account, onDone }: AttentionProps & { readonly label: string }) {
  if (matters.length === 0) return null;
  return (
    <ul class="plain-list" aria-label={label}>
      {matters.map((matter) => (
        <li key={matter.text} class="matter">
          <a class={matter.level === 'notice' ? 'small muted' : ''} href={matter.href}>
            {matter.text}
          </a>
          {matter.action === 'retry' && account !== undefined && mayChangeQueues.value && (
            <SmallButton onClick={() => void ofAll({ account, filter: {}, onDone }, 'retry').catch(failed)}>
              Retry
            </SmallButton>
          )}
          {matter.action === 'verify' && (
            <a class="button small" href={matter.href}>
              Verify
            </a>
          )}
          <button type="button" class="button small quiet" title="Hides it for a day" onClick={() => mute(matter.text)}>
            Mute
          </button>
        </li>
      ))}
    </ul>
  );
}
