/**
 * The destination in the raw request target. A URL stays as it was written, including `//`; a percent-encoded URL is
 * accepted, too.
 */
import { type NamedDestination, parseDestination } from '../../domain/queue/index.js';
import { startOfPath } from '../http/percent-encoding.js';
import { invalid } from '../http/refused.js';

export type MessageDestination = NamedDestination;

const ABSOLUTE = /^https?:\/\//i;

export interface SplitTarget {
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
}

/** @param target of the request line: origin form, or absolute form as proxies send it */
export function splitTarget(target: string): SplitTarget {
  const start = target.charCodeAt(0) === 0x2f ? 0 : startOfPath(target);
  const question = target.indexOf('?', start);
  if (question < 0) return { path: start === 0 ? target : target.slice(start), query: '' };
  return { path: target.slice(start, question), query: target.slice(question + 1) };
}

/**
 * @param remainder of the raw path
 * @param query the part that belongs to the destination
 * @throws Refused 400
 */
export function destinationInPath(remainder: string, query: string): MessageDestination {
  const text = ABSOLUTE.test(remainder) || !remainder.includes('%') ? remainder : decoded(remainder);
  return destinationOf(ABSOLUTE.test(text) ? withQuery(text, query) : text);
}

/** @param text as in a batch. @throws Refused 400 */
export function destinationOf(text: string): MessageDestination {
  const outcome = parseDestination(text);
  if (!outcome.isOk) throw invalid(outcome.message);
  return outcome.destination;
}

/** Decodes a path segment. @throws Refused 400 */
export function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw invalid('malformed percent-encoding in the path');
  }
}

/** Decodes a name that clients may not have encoded: invalid percent-encoding is taken literally. */
export function decodedName(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function withQuery(url: string, query: string): string {
  if (query === '') return url;
  return `${url}${url.includes('?') ? '&' : '?'}${query}`;
}
