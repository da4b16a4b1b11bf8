/** Names that callers choose for queues, URL groups and schedules: they are part of paths. */
import { MAX_QUEUE_NAME_CHARACTERS } from '../limits.js';

const NAME = /^[A-Za-z0-9_.-]+$/;

/** @param what is named, for the text: `queue name`. @returns what is wrong; undefined: nothing */
export function nameProblem(what: string, name: string): string | undefined {
  if (name === '') return `${what} is empty`;
  if (name.length > MAX_QUEUE_NAME_CHARACTERS) return `${what} is longer than ${MAX_QUEUE_NAME_CHARACTERS} characters`;
  if (!NAME.test(name)) {
    return `${what} may have letters, digits, hyphens, underscores and periods only`;
  }
  return undefined;
}
