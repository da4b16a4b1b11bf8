/**
 * Reads `/search/<id of the search database>/<command>/<index name>` and `/vector/<id>/<command>/<namespace>` from the
 * raw request target. The whole rest after the command is the name, slashes included, because clients do not encode
 * names.
 */
import { MAX_INDEX_NAME_CHARACTERS } from '../../domain/search/index.js';
import type { IndexPlane } from '../../ports/index.js';

const ROOT = /^\/(search|vector)\//;
// biome-ignore lint/suspicious/noControlCharactersInRegex: names must not contain these characters
const CONTROL = /[\u0000-\u001f\u007f]|\p{Surrogate}/u;

export interface SearchTarget {
  readonly plane: IndexPlane;
  /** The text as given; it may be no valid id. */
  readonly id: string;
  readonly command: string;
  /** Decoded; undefined if it is missing or its percent-encoding is malformed. */
  readonly name: string | undefined;
  readonly isMalformed: boolean;
  /** `?all` is present, with any value. */
  readonly isAll: boolean;
}

/** @returns undefined for any other path */
export function parseSearchTarget(target: string): SearchTarget | undefined {
  const [root = '', plane] = ROOT.exec(target) ?? [];
  if (plane === undefined) return undefined;
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  const [id = '', command = '', ...rest] = path.slice(root.length).split('/');
  const encoded = rest.join('/');
  const whole = encoded === '' ? undefined : decoded(encoded);
  // The client of vectors sends a percent sign of a name as it is.
  const name = whole ?? (plane === 'vector' && encoded !== '' ? encoded : undefined);
  return {
    plane: plane as IndexPlane,
    id,
    command,
    name,
    isMalformed: encoded !== '' && name === undefined,
    isAll: mark >= 0 && new URLSearchParams(target.slice(mark + 1)).has('all'),
  };
}

/** The error about an invalid index name; undefined if it is valid. @param subject the client's term for the name */
export function nameProblem(subject: string, name: unknown): string | undefined {
  if (typeof name !== 'string') return `${subject} must be a string`;
  if (name === '') return `${subject} must not be empty`;
  if (name.length > MAX_INDEX_NAME_CHARACTERS)
    return `${subject} has more than ${MAX_INDEX_NAME_CHARACTERS} characters`;
  return CONTROL.test(name) ? `${subject} must not have control characters` : undefined;
}

function decoded(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}
