/** A cron expression in plain words, and its time zone. The library is loaded with the first expression. */
import { useAsk } from '../../../api/ask.js';

interface CronParts {
  /** Of IANA. */
  readonly zone: string;
  /** Without the zone. */
  readonly pattern: string;
}

const ZONE_PREFIX = /^(?:CRON_)?TZ=(\S+)\s+/;
const EVERY = /^@every\s+(.*)$/i;

const DESCRIPTORS: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

function cronParts(cron: string): CronParts {
  const [prefix = '', zone = 'UTC'] = ZONE_PREFIX.exec(cron) ?? [];
  return { zone, pattern: cron.slice(prefix.length) };
}

/** @throws for an invalid expression */
async function wordsOf(pattern: string): Promise<string> {
  const [, every] = EVERY.exec(pattern) ?? [];
  if (every !== undefined) return `Every ${every}`;
  const { default: cronstrue } = await import('cronstrue');
  return cronstrue.toString(DESCRIPTORS[pattern.toLowerCase()] ?? pattern, {
    use24HourTimeFormat: true,
    verbose: false,
  });
}

export function CronWords({ cron }: { readonly cron: string }) {
  const { zone, pattern } = cronParts(cron);
  const asked = useAsk(`words ${pattern}`, () => wordsOf(pattern));
  return (
    <>
      {asked.data ?? <code>{pattern}</code>} <span class="muted nowrap">{zone}</span>
    </>
  );
}
