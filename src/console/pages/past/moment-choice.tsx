/** Selects a moment with a slider, from the database's creation to now, or by typing it to the second. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { SmallButton } from '../../parts/button.js';
import { Field } from '../../parts/field.js';
import { Time } from '../../parts/time.js';
import { type Activity, Histogram } from './activity.js';
import { toLocal } from './moments.js';

export interface MomentChoiceProps {
  readonly label: string;
  readonly fromMs: number;
  readonly atMs: number;
  /** Changes over time, once they are known. */
  readonly activity: Activity | undefined;
  onChoose(atMs: number): void;
}

const STEPS = [
  ['−1 day', -86_400_000],
  ['−1 h', -3_600_000],
  ['−1 min', -60_000],
  ['+1 min', 60_000],
  ['+1 h', 3_600_000],
] as const;

export function MomentChoice({ label, fromMs, atMs, activity, onChoose }: MomentChoiceProps) {
  const dragged = useSignal(atMs);
  useEffect(() => {
    dragged.value = atMs;
  }, [atMs]);
  const nowMs = Date.now();
  const choose = (ms: number) => onChoose(Math.max(fromMs, Math.min(ms, nowMs)));
  return (
    <div class="card stack tight">
      <div class="row between">
        <h2>{label}</h2>
        <Time at={dragged.value} />
      </div>
      <input
        type="range"
        aria-label={label}
        min={fromMs}
        max={nowMs}
        step={1_000}
        value={dragged.value}
        onInput={({ currentTarget }) => {
          dragged.value = Number(currentTarget.value);
        }}
        onChange={({ currentTarget }) => choose(Number(currentTarget.value))}
      />
      {activity !== undefined && <Histogram {...activity} fromMs={fromMs} toMs={nowMs} />}
      <div class="row">
        {STEPS.map(([text, ms]) => (
          <SmallButton key={text} onClick={() => choose(atMs + ms)}>
            {text}
          </SmallButton>
        ))}
        <SmallButton onClick={() => choose(nowMs)}>Now</SmallButton>
        <Field label="To the second">
          <input
            type="datetime-local"
            step={1}
            value={toLocal(atMs)}
            onChange={({ currentTarget }) => choose(new Date(currentTarget.value).getTime() || atMs)}
          />
        </Field>
      </div>
    </div>
  );
}
