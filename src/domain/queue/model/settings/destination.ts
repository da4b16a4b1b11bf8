/**
 * Validates the URL of a destination. A setting (of a schedule, group or callback) keeps the URL as it was sent; a
 * message has the URL that is called (`calledUrl`). Whether its host may be called is judged when the host is
 * resolved.
 * Texts that two parsers could read differently are refused: white space, control characters, backslashes before the
 * query, a wrong number of slashes.
 */
import { BoundedCache, readUrl } from '../../../../kernel/index.js';
import { MAX_URL_BYTES } from '../limits.js';
import { nameProblem } from './names.js';

export type DestinationOutcome =
  | { readonly isOk: true; readonly url: string }
  | { readonly isOk: false; readonly message: string };

/** The destination of a message: a URL, or the name of a URL group. */
export type NamedDestination =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'group'; readonly name: string };

const ABSOLUTE = /^https?:\/\//i;
const LANGUAGE_MODEL = 'api/llm';

/** Reads a destination as callers write it. */
export function parseDestination(
  text: string,
):
  | { readonly isOk: true; readonly destination: NamedDestination }
  | { readonly isOk: false; readonly message: string } {
  if (text === LANGUAGE_MODEL) {
    return { isOk: false, message: 'destination api/llm is not available on this server' };
  }
  if (!ABSOLUTE.test(text) && nameProblem('name', text) === undefined) {
    return { isOk: true, destination: { kind: 'group', name: text } };
  }
  const outcome = parseDestinationUrl(text);
  return outcome.isOk ? { isOk: true, destination: { kind: 'url', url: outcome.url } } : outcome;
}

/** A cache of valid URLs; long ones are not cached, to bound its memory. */
const MAX_KNOWN = 2000;
const MAX_KNOWN_CHARACTERS = 512;
const known = new BoundedCache<string, DestinationOutcome>(MAX_KNOWN);

const SCHEME = /^https?:\/\//i;
const BLANK_OR_CONTROL = /[\p{Cc}\s]/u;

/**
 * @param role of the URL, for the error text: `destination`, `callback`
 * @returns the URL without its fragment, which is not part of a request
 */
export function parseDestinationUrl(text: string, role = 'destination'): DestinationOutcome {
  const before = known.get(text);
  if (before !== undefined) return before;
  const outcome = readDestination(text, role);
  if (outcome.isOk && text.length <= MAX_KNOWN_CHARACTERS) known.set(text, outcome);
  return outcome;
}

function readDestination(text: string, role: string): DestinationOutcome {
  const problem = (reason: string): DestinationOutcome => ({ isOk: false, message: `invalid ${role} url: ${reason}` });
  const scheme = SCHEME.exec(text)?.[0];
  if (scheme === undefined) return problem('endpoint has invalid scheme, add http:// or https://');
  if (Buffer.byteLength(text) > MAX_URL_BYTES) return problem(`endpoint is longer than ${MAX_URL_BYTES} bytes`);
  if (BLANK_OR_CONTROL.test(text)) return problem('endpoint has white space or control characters');
  const fragment = text.indexOf('#');
  const url = fragment < 0 ? text : text.slice(0, fragment);
  const query = url.indexOf('?');
  const backslash = url.indexOf('\\');
  if (backslash >= 0 && (query < 0 || backslash < query)) return problem('endpoint has a backslash');
  if (url[scheme.length] === '/' || readUrl(url) === undefined) return problem('endpoint is not a URL');
  return { isOk: true, url };
}
