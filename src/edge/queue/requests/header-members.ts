/**
 * Headers inside a JSON body: each name has a text or a list of texts. They become UTF-8 bytes, as if sent as
 * headers.
 *
 * An endpoint in the middle of a run passes on headers of its own request, which its client has read as Latin-1: each
 * character is a byte. The same applies to headers of the workflow protocol, which clients send to themselves.
 */
import type { HeaderList } from '../../../domain/queue/index.js';
import { type ByteString, bytesOfText, isByteString } from '../../../kernel/index.js';
import { objectIn } from '../../http/checked.js';
import { type HeaderWords, invalid, worded } from '../../http/refused.js';
import type { HeaderAliases } from '../../wire-alias.js';
import { isSentByRun } from '../run-headers.js';

/** Prefix of a protocol header that is sent to a workflow's endpoint. */
const PROTOCOL_FORWARDED = 'forward-svc-';

export interface HeaderMembers extends HeaderWords {
  /** Neutral names in lower case. If a header came in both spellings, the neutral one counts. */
  readonly headers: HeaderList;
}

/**
 * @param memberName for the refusal
 * @param isOfRun sent by an endpoint in the middle of a run; otherwise the headers decide
 * @throws Refused 400
 */
export function headersOf(
  spellings: HeaderAliases,
  member: unknown,
  memberName: string,
  isOfRun = false,
): HeaderMembers {
  const members = objectIn(member, memberName);
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
      // The refusal repeats the name as it was given.
      else throw worded(invalid(`${memberName}.${name} must be a string or a list of strings`), wordsOf(fromAlias));
    }
  }
  const isByRun = isOfRun || isSentByRun(headers);
  return { headers: headers.map(([name, text]) => [name, bytesOf(name, text, isByRun)]), isAlias, isNeutral };
}

function bytesOf(name: string, text: string, isByRun: boolean): ByteString {
  const isBytes = (isByRun || name.includes(PROTOCOL_FORWARDED)) && isByteString(text);
  return isBytes ? text : bytesOfText(text);
}

function wordsOf(isAlias: boolean): HeaderWords {
  return { isAlias, isNeutral: !isAlias };
}
