/**
 * Selects the metrics of a scrape: `match[]`, repeated, each a name, `{__name__="name"}`, or a prefix,
 * `{__name__=~"millrace_kv_.*"}`. Default: all. Label selectors are not supported, because a token shows only one
 * database or account.
 */
import { invalid } from '../http/refused.js';

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const SELECTOR = /^\{\s*__name__\s*(=~?)\s*"([a-zA-Z0-9_:]*)(\.[*+])?"\s*,?\s*\}$/;
/** More are a mistake. */
const MAX_MATCHES = 100;

/** @throws Refused 400 */
export function wantedNames(matches: readonly string[]): (name: string) => boolean {
  if (matches.length === 0) return () => true;
  if (matches.length > MAX_MATCHES) throw invalid(`match[]: may be given at most ${MAX_MATCHES} times`);
  const all = matches.map(wanted);
  return (name) => all.some((isWanted) => isWanted(name));
}

function wanted(match: string): (name: string) => boolean {
  const text = match.trim();
  if (NAME.test(text)) return (name) => name === text;
  const [, operator, stem = '', rest] = SELECTOR.exec(text) ?? [];
  if (operator === undefined || (operator === '=' && rest !== undefined)) {
    throw invalid('match[]: must be the name of a metric, or {__name__="name"}, or {__name__=~"beginning.*"}');
  }
  if (rest === undefined) return (name) => name === stem;
  return (name) => name.startsWith(stem) && (rest === '.*' || name.length > stem.length);
}
