/** Formats numbers for people. */
const WHOLE = new Intl.NumberFormat('en');
const SHORT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export function whole(value: number): string {
  return WHOLE.format(value);
}

/** 12.3K for large numbers. */
export function short(value: number): string {
  return Math.abs(value) < 10_000 ? WHOLE.format(Math.round(value * 100) / 100) : SHORT.format(value);
}

export function bytes(value: number): string {
  let unit = 0;
  let left = value;
  while (Math.abs(left) >= 1024 && unit < UNITS.length - 1) {
    left /= 1024;
    unit += 1;
  }
  return `${unit === 0 || left >= 100 ? Math.round(left) : Math.round(left * 10) / 10} ${UNITS[unit]}`;
}

/** 340 ms, 4.2 s, 3 min 20 s, 5 h 2 min, 12 d 4 h. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms * 10) / 10} ms`;
  if (ms < 60_000) return `${Math.round(ms / 100) / 10} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return two(Math.floor(seconds / 60), 'min', seconds % 60, 's');
  if (seconds < 86_400) return two(Math.floor(seconds / 3_600), 'h', Math.floor((seconds % 3_600) / 60), 'min');
  return two(Math.floor(seconds / 86_400), 'd', Math.floor((seconds % 86_400) / 3_600), 'h');
}

function two(large: number, unit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${unit}` : `${large} ${unit} ${small} ${smallUnit}`;
}

/** Very large numbers mean "no limit"; the API uses them because every client represents them exactly. */
export function limit(value: number | undefined, shown: (value: number) => string = whole): string {
  return value === undefined || value >= 1e12 ? 'no limit' : shown(value);
}
