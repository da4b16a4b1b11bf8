/**
 * Sessions of people at the console: a sealed text that holds who signed in, with which key, and until when. Nothing is
 * kept on the server but which ones were signed out of, so every process that has the key file knows it; it is worth as
 * much as its key is worth at that moment, and no longer than it was begun for (docs/adr/0069-the-console-is-a-program-in-the-page.md).
 */
import { createHash } from 'node:crypto';
import { newId } from '../../messages/index.js';
import type { Clock, ManagementAccess, ManagementGrant, Random, Sealing } from '../../ports/index.js';
import { type BasicCredentials, bearerToken } from '../http/credentials.js';

export const SESSION_COOKIE_NAME = 'millrace_session';
/** A working day, where nobody says otherwise; who stays longer signs in again. */
const DEFAULT_SESSION_MS = 12 * 3_600_000;
/** Longer ones are none of ours. */
const MAX_SESSION_CHARACTERS = 4096;

interface Session extends BasicCredentials {
  /** Names what is signed out of: the sealed text itself can be spelled in several ways. */
  readonly name: string;
  readonly untilMs: number;
}

export interface SealedSessionPorts {
  readonly access: ManagementAccess;
  readonly sealing: () => Sealing;
  readonly clock: Clock;
  readonly random: Random;
  /** How long a session lasts at most. Left out: a working day. */
  readonly sessionMs?: number | undefined;
}

export interface OpenedSession {
  readonly grant: ManagementGrant;
  readonly untilMs: number;
  /** What a page says in the header `CSRF_HEADER` with each change: another site cannot know it. */
  readonly csrf: string;
}

export class SealedSessions {
  readonly sessionMs: number;

  constructor(private readonly ports: SealedSessionPorts) {
    this.sessionMs = ports.sessionMs ?? DEFAULT_SESSION_MS;
  }

  /** @returns the session's text; the credentials are those of a grant that was just looked up */
  begin({ email, key }: BasicCredentials): { readonly text: string; readonly untilMs: number } {
    const untilMs = Math.trunc(this.ports.clock.nowMs()) + this.sessionMs;
    const session: Session = { name: newId('ses_', this.ports.random), email, key, untilMs };
    return { text: this.ports.sealing().seal(JSON.stringify(session)), untilMs };
  }

  /** Undefined for what is no session, or one that is over whatever was signed out of. */
  named(text: string): { readonly name: string; readonly untilMs: number } | undefined {
    const session = this.#opened(text);
    return session === undefined || session.untilMs <= this.ports.clock.nowMs() ? undefined : session;
  }

  /** Undefined also for one that was signed out of, or has a key that opens nothing any more. @throws CONTROL_STALE */
  grantFor(text: string): ManagementGrant | undefined {
    return this.opened(text)?.grant;
  }

  /** Undefined as `grantFor`. @throws CONTROL_STALE */
  opened(text: string): OpenedSession | undefined {
    const session = this.#opened(text);
    if (session === undefined || session.untilMs <= this.ports.clock.nowMs()) return undefined;
    const { access } = this.ports;
    if (access.isSignedOut(session.name)) return undefined;
    const grant = access.grantForKey(session.email, session.key);
    return grant === undefined ? undefined : { grant, untilMs: session.untilMs, csrf: csrfOf(session) };
  }

  #opened(text: string): Session | undefined {
    if (text.length > MAX_SESSION_CHARACTERS) return undefined;
    try {
      const opened: unknown = JSON.parse(this.ports.sealing().open(text));
      return isSession(opened) ? opened : undefined;
    } catch {
      return undefined;
    }
  }
}

/** The name is in the sealed text alone, which no page can read: what follows from it is the page's own. */
function csrfOf({ name }: Session): string {
  return createHash('sha256').update(`csrf ${name}`, 'utf8').digest('base64url');
}

/** Other things are sealed with the same key file. */
function isSession(opened: unknown): opened is Session {
  const { name, email, key, untilMs } = (opened ?? {}) as Partial<Record<keyof Session, unknown>>;
  const texts = [name, email, key];
  return texts.every((text) => typeof text === 'string') && typeof untilMs === 'number';
}

/** A request carries a session as its bearer token, or in its cookie. */
export function sessionIn(authorization: string | undefined, cookie: string | undefined): string | undefined {
  const bearer = bearerToken(authorization);
  return bearer ?? sessionInCookie(cookie);
}

export function sessionInCookie(cookie: string | undefined): string | undefined {
  for (const part of cookie?.split(';') ?? []) {
    const [name = '', value] = part.trim().split('=', 2);
    if (name === SESSION_COOKIE_NAME && value !== undefined && value !== '') return decodeURIComponentSafe(value);
  }
  return undefined;
}

/** `Set-Cookie` for a session's text; '' has the browser forget it. @param isSecure it is sent over TLS only */
export function sessionCookie(text: string, seconds: number, isSecure: boolean): string {
  const value = encodeURIComponent(text);
  const secure = isSecure ? '; Secure' : '';
  return `${SESSION_COOKIE_NAME}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
}

function decodeURIComponentSafe(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
