/** The lines of two versions: removed ones, added ones, and some unchanged ones around them. */
import { diffArrays } from 'diff';
import { counted, whole } from '../../../../parts/format.js';

/** Unchanged lines shown around a change. */
const CONTEXT = 3;
const MAX_SHOWN = 1_000;
/** A comparison beyond this takes too long for a page. */
const LIMITS = { maxEditLength: 4_000, timeout: 300 } as const;

interface Line {
  readonly mark: ' ' | '+' | '-' | '…';
  readonly text: string;
}

export interface LineDiffProps {
  readonly before: readonly string[];
  readonly after: readonly string[];
}

export function LineDiff({ before, after }: LineDiffProps) {
  const lines = comparedLines(before, after);
  const added = lines.filter(({ mark }) => mark === '+').length;
  const removed = lines.filter(({ mark }) => mark === '-').length;
  if (added + removed === 0) return <p class="muted">Both versions have the same value.</p>;
  return (
    <div class="stack tight">
      <p class="small">
        <span class="is-good">{counted(added, 'line')} added</span>,{' '}
        <span class="is-bad">{counted(removed, 'line')} removed</span>
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard */}
      <section class="line-diff mono" tabIndex={0} aria-label="Differences of the versions">
        {lines.slice(0, MAX_SHOWN).map(({ mark, text }, at) => (
          <div key={at} class={CLASSES[mark]}>
            <span class="mark">{mark}</span>
            <span dir="auto">{text}</span>
          </div>
        ))}
      </section>
      {lines.length > MAX_SHOWN && (
        <p class="small muted">{`The first ${whole(MAX_SHOWN)} of ${whole(lines.length)} lines.`}</p>
      )}
    </div>
  );
}

const CLASSES: Readonly<Record<Line['mark'], string>> = { ' ': '', '+': 'added', '-': 'removed', '…': 'gap' };

/** Without a common part if the comparison would take too long. */
function comparedLines(before: readonly string[], after: readonly string[]): Line[] {
  const changes = diffArrays([...before], [...after], LIMITS);
  if (changes === undefined) return [...marked('-', before), ...marked('+', after)];
  return changes.flatMap(({ value, added, removed }, at) => {
    if (added) return marked('+', value);
    if (removed) return marked('-', value);
    return contextOf(value, at > 0, at < changes.length - 1);
  });
}

function contextOf(lines: readonly string[], isAfterChange: boolean, isBeforeChange: boolean): Line[] {
  const head = isAfterChange ? CONTEXT : 0;
  const tail = isBeforeChange ? CONTEXT : 0;
  const left = lines.length - head - tail;
  if (left <= 1) return marked(' ', lines);
  const gap: Line = { mark: '…', text: `${counted(left, 'unchanged line')}` };
  return [...marked(' ', lines.slice(0, head)), gap, ...marked(' ', tail === 0 ? [] : lines.slice(-tail))];
}

function marked(mark: Line['mark'], lines: readonly string[]): Line[] {
  return lines.map((text) => ({ mark, text }));
}
