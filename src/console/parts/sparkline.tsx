/** A series as a small line without axes, next to a figure that says its newest value. */
const WIDTH = 120;
const HEIGHT = 28;

export interface SparklineProps {
  readonly values: readonly number[];
  readonly tone?: 'accent' | 'good' | 'bad';
}

export function Sparkline({ values, tone = 'accent' }: SparklineProps) {
  const most = Math.max(...values);
  if (values.length < 2 || most <= 0) return null;
  const x = (at: number) => ((at / (values.length - 1)) * WIDTH).toFixed(1);
  const y = (value: number) => (HEIGHT - 1 - (value / most) * (HEIGHT - 3)).toFixed(1);
  const line = values.map((value, at) => `${x(at)},${y(value)}`).join(' ');
  return (
    <svg class={`sparkline ${tone}`} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <polygon points={`0,${HEIGHT} ${line} ${WIDTH},${HEIGHT}`} />
      <polyline points={line} />
    </svg>
  );
}
