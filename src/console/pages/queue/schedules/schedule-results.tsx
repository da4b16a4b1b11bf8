/** The last results of a schedule as coloured cells, the newest at the right, each a link to its message. */
import { useAsk } from '../../../api/ask.js';
import { toneOf } from '../../../parts/badge.js';
import { relativeText } from '../../../parts/time.js';
import { useLinks } from '../links.js';
import { type MessageRow, messagePage } from '../messages/message-rows.js';

const CELLS = 20;
const EVERY_MS = 30_000;

export interface ResultsProps {
  readonly account: string;
  readonly scheduleId: string;
  /** Rows that are not in view ask for no results. */
  readonly isSeen: boolean;
}

export function ScheduleResults({ account, scheduleId, isSeen }: ResultsProps) {
  const links = useLinks();
  const asked = useAsk(
    isSeen ? `results ${account} ${scheduleId}` : undefined,
    (signal) => messagePage(account, 'all', { scheduleId }, undefined, signal),
    EVERY_MS,
  );
  const rows = asked.data?.rows.slice(0, CELLS).reverse() ?? [];
  if (asked.data !== undefined && rows.length === 0) return <span class="muted">none yet</span>;
  return (
    <span class="result-strip">
      <span class="visually-hidden">{spoken(rows)}</span>
      {Array.from({ length: CELLS - rows.length }, (_, at) => (
        <i key={`none ${at}`} class="result-cell" />
      ))}
      {rows.map(({ id, state, atMs, status }) => {
        const text = `${state.toLowerCase()}${status === undefined || status === 0 ? '' : ` ${status}`}, ${relativeText(atMs)}`;
        return (
          <a key={id} class={`result-cell ${toneOf(state)}`} href={links.message(id)} title={text}>
            <span class="visually-hidden">{text}</span>
          </a>
        );
      })}
    </span>
  );
}

/** "18 delivered, 2 failed" */
function spoken(rows: readonly MessageRow[]): string {
  const counts = new Map<string, number>();
  for (const { state } of rows) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts].map(([state, count]) => `${count} ${state.toLowerCase()}`).join(', ');
}
