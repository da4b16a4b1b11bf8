/** The five fields of a cron expression: conversion of steps for the library, and texts of refusals. */

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** Forms that only this field has. */
  readonly extra?: RegExp;
  readonly names?: readonly string[];
  readonly forms: string;
}

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const DAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];
const FIELDS: readonly Field[] = [
  { name: 'minute', min: 0, max: 59, forms: '30, 0,30, 10-20, */15 or 5/15' },
  { name: 'hour', min: 0, max: 23, forms: '8, 8,20, 9-17, */6 or 2/6' },
  { name: 'day of month', min: 1, max: 31, extra: /^(L|LW|\d+W)$/i, forms: '1, 1,15, 10-20, */5, L, LW or 15W' },
  { name: 'month', min: 1, max: 12, names: MONTHS, forms: '3, JAN,JUL, 4-9 or */3' },
  { name: 'day of week', min: 0, max: 7, extra: /^(L|\w+L|\w+#\w+)$/i, names: DAYS, forms: '1, MON-FRI, 0,6 or FRI#2' },
];
const STEPS = /^([^/]*)\/([^/]*)$/;
const RANGE = /^(\w+)-(\w+)$/;

/** `5/15` means from 5 to the end in steps of 15. Other forms are left unchanged. */
export function withWholeRanges(pattern: string): string {
  const fields = pattern.split(/\s+/);
  if (fields.length !== FIELDS.length) return pattern;
  return fields
    .map((text, at) =>
      text
        .split(',')
        .map((item) => withWholeRange(item, FIELDS[at]))
        .join(','),
    )
    .join(' ');
}

function withWholeRange(item: string, field: Field | undefined): string {
  const steps = /^(\d+|[a-z]{3})\/(\d+)$/i.exec(item);
  if (steps === null || field === undefined) return item;
  const [, from = '', step = ''] = steps;
  const start = numberOf(from, field);
  // Sunday is 0 and 7: a range in steps ends with Saturday.
  const last = field.names === DAYS && start !== 7 ? 6 : field.max;
  return start === undefined || start > last ? item : `${start}-${last}/${step}`;
}

/** @returns the reason why the fields are refused, with a correct form; undefined: each field is valid */
export function problemOfFields(pattern: string): string | undefined {
  const texts = pattern.split(/\s+/);
  if (texts.length !== FIELDS.length) {
    const names = FIELDS.map(({ name }) => name).join(', ');
    const hint = texts.length === 6 ? '; there is no field for seconds' : '';
    return `five fields are expected (${names}), and "${pattern}" has ${texts.length}${hint}`;
  }
  for (const [at, field] of FIELDS.entries()) {
    for (const item of (texts[at] ?? '').split(',')) {
      const problem = problemOfItem(item, field);
      if (problem !== undefined) return `${field.name} "${texts[at]}": ${problem}`;
    }
  }
  return undefined;
}

function problemOfItem(item: string, field: Field): string | undefined {
  if (item === '*' || item === '?' || field.extra?.test(item) === true) return undefined;
  const [, base, step] = STEPS.exec(item) ?? [undefined, item, undefined];
  if (step !== undefined) {
    const most = field.max - field.min + 1;
    if (!/^\d+$/.test(step) || Number(step) < 1 || Number(step) > most) {
      return `the step "${step}" is no number from 1 to ${most}; write for example */${Math.min(most, 5)}`;
    }
    if (base === '*') return undefined;
  }
  const [, from = base, to] = RANGE.exec(base ?? '') ?? [];
  for (const value of to === undefined ? [from] : [from, to]) {
    if (value === undefined || numberOf(value, field) === undefined) return problemOfValue(value ?? '', field);
  }
  const first = numberOf(from ?? '', field) ?? field.min;
  const last = to === undefined ? first : (numberOf(to, field) ?? field.max);
  if (first > last && !(field.names === DAYS && last === 0)) {
    return `the range ${base} ends before it begins; write ${first}-${field.max},${field.min}-${last}`;
  }
  return undefined;
}

function problemOfValue(value: string, { min, max, names, forms }: Field): string {
  const named = names === undefined ? '' : ` or ${names[0]} to ${names.at(-1)}`;
  if (/^\d+$/.test(value)) return `${value} is not from ${min} to ${max}`;
  return `"${value}" is no number from ${min} to ${max}${named}; write for example ${forms}`;
}

/** @returns undefined: neither a number within the field's bounds nor one of its names */
function numberOf(text: string, { min, max, names }: Field): number | undefined {
  const named = names?.indexOf(text.toUpperCase()) ?? -1;
  if (named !== -1) return named + min;
  const number = /^\d+$/.test(text) ? Number(text) : -1;
  return number >= min && number <= max ? number : undefined;
}
