/**
 * Rules for the names that callers choose for queues, URL groups and schedules, which become segments of paths, and for
 * deduplication ids.
 */
import { MAX_DEDUPLICATION_ID_BYTES, MAX_QUEUE_NAME_CHARACTERS } from '../limits.js';

const NAME = /^[A-Za-z0-9_.-]+$/;

/**
 * @param subject kind of name, for the text: `queue name`
 * @returns the problem; undefined for a valid name
 */
export function nameProblem(subject: string, name: string): string | undefined {
  if (name === '') return `${subject} is empty`;
  if (name.length > MAX_QUEUE_NAME_CHARACTERS)
    return `${subject} is longer than ${MAX_QUEUE_NAME_CHARACTERS} characters`;
  if (!NAME.test(name)) {
    return `${subject} may have letters, digits, hyphens, underscores and periods only`;
  }
  if (isDotSegment(name)) return `${subject} is ${JSON.stringify(name)}, which HTTP clients remove from a path`;
  return undefined;
}

/**
 * Characters with a meaning in a path, or in a list of values in a query parameter. A slash is allowed: keys are
 * often URLs.
 */
const HARD_TO_NAME = /[,\\?#%]/;

/** @returns the reason why later calls could not name a flow-control key; undefined for a valid one */
export function flowKeyProblem(key: string): string | undefined {
  const [character] = HARD_TO_NAME.exec(key) ?? [];
  if (character !== undefined) return `key has ${JSON.stringify(character)}; it must not have any of , \\ ? # %`;
  return isDotSegment(key) ? `key is ${JSON.stringify(key)}, which HTTP clients remove from a path` : undefined;
}

/** HTTP clients resolve these segments before they send a request, percent-encoded or not (RFC 3986, 5.2.4). */
export function isDotSegment(text: string): boolean {
  return text === '.' || text === '..';
}

/** @returns the problem of a deduplication id that a caller chose; undefined for a valid one */
export function deduplicationIdProblem(id: string): string | undefined {
  if (id.includes(':')) return "DeduplicationId cannot contain ':'";
  if (Buffer.byteLength(id) > MAX_DEDUPLICATION_ID_BYTES) {
    return `DeduplicationId cannot be longer than ${MAX_DEDUPLICATION_ID_BYTES} bytes`;
  }
  return undefined;
}
