/** Events in order. */
import type { ComponentChildren } from 'preact';
import type { Tone } from './badge.js';
import { duration } from './format.js';
import { Time } from './time.js';

export interface Moment {
  readonly id: string;
  readonly atMs: number;
  readonly tone: Tone;
  readonly title: ComponentChildren;
  readonly details?: ComponentChildren;
}

/** The earliest first; each with the time since the one before. */
export function Timeline({ moments }: { readonly moments: readonly Moment[] }) {
  return (
    <ol class="timeline">
      {moments.map(({ id, atMs, tone, title, details }, at) => {
        const before = moments[at - 1]?.atMs;
        return (
          <li key={id} class={tone}>
            <div class="row between">
              <span class="row">{title}</span>
              <span class="small">
                <Time at={atMs} />
                {before !== undefined && <span class="muted"> +{duration(atMs - before)}</span>}
              </span>
            </div>
            {details}
          </li>
        );
      })}
    </ol>
  );
}
