/** Formats numbers for people, in the language of the browser. */
const WHOLE = new Intl.NumberFormat();
const SHORT = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });
const TENTHS = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1, useGrouping: false });
const HUNDREDTHS = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export function whole(value: number): string {
  return WHOLE.format(value);
}

/** 1 database, 2 databases. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${whole(value)} ${value === 1 ? one : many}`;
}

/** 12.3K for large numbers. */
export function short(value: number): string {
  return Math.abs(value) < 10_000 ? HUNDREDTHS.format(value) : SHORT.format(value);
}

export function bytes(value: number): string {
  let unit = 0;
  let left = value;
  while (Math.abs(left) >= 1024 && unit < UNITS.length - 1) {
    left /= 1024;
    unit += 1;
  }
  return `${TENTHS.format(unit === 0 || left >= 100 ? Math.round(left) : left)} ${UNITS[unit]}`;
}

export function perSecond(value: number): string {
  return `${HUNDREDTHS.format(value)}/s`;
}

/** 340 ms, 4.2 s, 3 min 20 s, 5 h 2 min, 12 d 4 h. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${TENTHS.format(ms)} ms`;
  if (ms < 60_000) return `${TENTHS.format(ms / 1_000)} s`;
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
