/**
 * Reads `/search/<id of the search database>/<command>/<index name>` from the raw request target. All that follows the
 * command is the name, slashes included, because clients put names into the path as they are.
 */
import { MAX_INDEX_NAME_CHARACTERS } from '../../domain/search/index.js';

const ROOT = '/search/';
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what names may not have
const CONTROL = /[\u0000-\u001f\u007f]|\p{Surrogate}/u;

export interface SearchTarget {
  /** It is what stands there; it may be no id at all. */
  readonly id: string;
  readonly command: string;
  /** Decoded; undefined when nothing stands there, or its percent-encoding is malformed. */
  readonly name: string | undefined;
  readonly isMalformed: boolean;
  /** There is `?all`, with whatever value. */
  readonly isAll: boolean;
}

/** @returns undefined for any other path */
export function parseSearchTarget(target: string): SearchTarget | undefined {
  if (!target.startsWith(ROOT)) return undefined;
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  const [id = '', command = '', ...rest] = path.slice(ROOT.length).split('/');
  const encoded = rest.join('/');
  const name = encoded === '' ? undefined : decoded(encoded);
  return {
    id,
    command,
    name,
    isMalformed: encoded !== '' && name === undefined,
    isAll: mark >= 0 && new URLSearchParams(target.slice(mark + 1)).has('all'),
  };
}

/** Why something is no name of an index; undefined when it is one. @param what how a client knows the name */
export function nameProblem(what: string, name: unknown): string | undefined {
  if (typeof name !== 'string') return `${what} must be a string`;
  if (name === '') return `${what} must not be empty`;
  if (name.length > MAX_INDEX_NAME_CHARACTERS) return `${what} has more than ${MAX_INDEX_NAME_CHARACTERS} characters`;
  return CONTROL.test(name) ? `${what} must not have control characters` : undefined;
}

function decoded(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}
