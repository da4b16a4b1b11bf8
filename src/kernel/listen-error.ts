/** The error for a port that cannot be listened on: its setting and the cause. */
import { MillraceError } from './errors.js';

const CAUSES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there',
  EACCES: 'this user may not listen there: ports below 1024 need CAP_NET_BIND_SERVICE',
  EADDRNOTAVAIL: 'this machine does not have that address: correct MILLRACE_HOST',
};

/** @param variable the setting of the port @param at host and port */
export function listenError(variable: string, at: string, cause: unknown): MillraceError {
  const why = CAUSES[(cause as NodeJS.ErrnoException).code ?? ''];
  const text = `${variable}: cannot listen on ${at}`;
  return why === undefined
    ? new MillraceError('BAD_CONFIG', text, { variable }, cause)
    : new MillraceError('BAD_CONFIG', `${text}: ${why}`, { variable });
}
