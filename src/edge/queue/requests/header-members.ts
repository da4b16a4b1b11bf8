/** Headers inside a JSON body: name → a text, or a list of texts. */
import type { HeaderList } from '../../../domain/queue/index.js';
import { objectIn } from '../../http/checked.js';
import { type HeaderWords, invalid, worded } from '../../http/refused.js';
import type { WireSpellings } from '../../wire-alias.js';

export interface HeaderMembers extends HeaderWords {
  /** Lower-case neutral names. Where a header came in both spellings, the neutral one counts. */
  readonly headers: HeaderList;
}

/** @param what the member is called, for the text. @throws Refused 400 */
export function headersOf(spellings: WireSpellings, member: unknown, what: string): HeaderMembers {
  const members = objectIn(member, what);
  const names = Object.keys(members);
  let named: ReadonlySet<string> | undefined;
  const headers: (readonly [string, string])[] = [];
  let isAlias = false;
  let isNeutral = false;
  for (const name of names) {
    const lower = name.toLowerCase();
    const neutral = spellings.neutralName(lower);
    const fromAlias = neutral !== lower;
    isAlias ||= fromAlias;
    isNeutral ||= spellings.spellingOfName(lower) === 'neutral';
    if (fromAlias) {
      named ??= new Set(names.map((other) => other.toLowerCase()));
      if (named.has(neutral)) continue;
    }
    const given = members[name];
    for (const value of Array.isArray(given) ? given : [given]) {
      if (typeof value === 'string') {
        headers.push([neutral, fromAlias ? spellings.neutralValue(neutral, value) : value]);
      } else if (typeof value === 'number' || typeof value === 'boolean') headers.push([neutral, String(value)]);
      // The name is repeated as it was given.
      else throw worded(invalid(`${what}.${name} must be a string or a list of strings`), wordsOf(fromAlias));
    }
  }
  return { headers, isAlias, isNeutral };
}

function wordsOf(isAlias: boolean): HeaderWords {
  return { isAlias, isNeutral: !isAlias };
}
