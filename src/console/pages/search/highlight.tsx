/** A found document with highlighted matches, by the same word forms that the search uses. */
import type { ComponentChildren } from 'preact';

const WORDS = /[\p{L}\p{M}\p{N}]+/gu;
const MIN_PREFIX_CHARACTERS = 2;
const MIN_LIKE_CHARACTERS = 4;
const TWO_CHANGES_CHARACTERS = 8;
/** Fields of a document that are shown. */
const MAX_FIELDS = 60;
/** Characters of a field that are searched and shown. */
const MAX_FIELD_CHARACTERS = 5_000;

export interface HighlightProps {
  readonly content: unknown;
  readonly query: string;
}

export function Highlighted({ content, query }: HighlightProps) {
  const wanted = (query.match(WORDS) ?? []).map(folded);
  const fields = [...fieldsOf(content, '')];
  return (
    <dl class="facts">
      {fields.slice(0, MAX_FIELDS).map(([path, value]) => [
        <dt key={`${path} name`} class="wrap-anywhere">
          {path}
        </dt>,
        <dd key={path} dir="auto">
          {marked(value.slice(0, MAX_FIELD_CHARACTERS), wanted)}
          {value.length > MAX_FIELD_CHARACTERS && '…'}
        </dd>,
      ])}
      {fields.length > MAX_FIELDS && <dt class="muted">and {fields.length - MAX_FIELDS} more fields</dt>}
    </dl>
  );
}

/** Paths as in filters. */
function* fieldsOf(value: unknown, path: string): Generator<readonly [path: string, text: string]> {
  if (typeof value !== 'object' || value === null) {
    yield [path, String(value)];
    return;
  }
  for (const [name, inner] of Object.entries(value)) {
    const step = Array.isArray(value) ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`;
    yield* fieldsOf(inner, step);
  }
}

function marked(text: string, wanted: readonly string[]): ComponentChildren[] {
  const parts: ComponentChildren[] = [];
  let at = 0;
  for (const { 0: word, index } of text.matchAll(WORDS)) {
    if (!isLike(folded(word), wanted)) continue;
    parts.push(text.slice(at, index), <mark key={index}>{word}</mark>);
    at = index + word.length;
  }
  return [...parts, text.slice(at)];
}

function folded(word: string): string {
  return word
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]+/g, '');
}

function isLike(word: string, wanted: readonly string[]): boolean {
  return wanted.some((one) => {
    if (word === one) return true;
    if (one.length >= MIN_PREFIX_CHARACTERS && word.startsWith(one)) return true;
    if (one.length < MIN_LIKE_CHARACTERS) return false;
    return areNear(word, one, one.length >= TWO_CHANGES_CHARACTERS ? 2 : 1);
  });
}

/** At most `most` letters are added, removed, changed or swapped. */
function areNear(a: string, b: string, most: number): boolean {
  if (Math.abs(a.length - b.length) > most) return false;
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      let least = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (isSame ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, (before[j - 2] ?? 0) + 1);
      next.push(least);
    }
    before = row;
    row = next;
  }
  return (row[b.length] ?? most + 1) <= most;
}
