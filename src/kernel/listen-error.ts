/** A port that cannot be listened on, as its setting and the cause, each once. */
import { MillraceError } from './errors.js';

const CAUSES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there',
  EACCES: 'it takes a right that this user has not (ports below 1024)',
  EADDRNOTAVAIL: 'this machine has not that address (MILLRACE_HOST)',
};

/**
 * @param variable the setting that the port is from
 * @param at host and port
 */
export function listenError(variable: string, at: string, cause: unknown): MillraceError {
  const why = CAUSES[(cause as NodeJS.ErrnoException).code ?? ''];
  const text = `${variable}: cannot listen on ${at}`;
  return why === undefined
    ? new MillraceError('BAD_CONFIG', text, { variable }, cause)
    : new MillraceError('BAD_CONFIG', `${text}: ${why}`, { variable });
}
