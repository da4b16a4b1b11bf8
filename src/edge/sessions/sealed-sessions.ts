/**
 * Sessions of the console: a sealed text with the user, the key and the end of the session. The server stores only
 * the sessions that were signed out, so every process with the key file can open a session. It has the current rights
 * of its key, until its fixed end (docs/decisions/console.md).
 */
import { createHash } from 'node:crypto';
import type { AccountId } from '../../kernel/index.js';
import type { Clock, ManagementAccess, ManagementGrant, Random, Sealing } from '../../ports/index.js';
import { newId } from '../../protocol/index.js';
import { type BasicCredentials, bearerToken } from '../http/credentials.js';

export const SESSION_COOKIE_NAME = 'millrace_session';
/** Default duration: a working day; after it users sign in again. */
const DEFAULT_SESSION_MS = 12 * 3_600_000;
/** No valid session is longer. */
const MAX_SESSION_CHARACTERS = 4096;

interface Session {
  /** Identifies the session for sign-out: a sealed text can be encoded in several ways. */
  readonly name: string;
  readonly email: string;
  readonly untilMs: number;
  /** Undefined: begun with a provider, and the record of the session has the rest. */
  readonly key?: string | undefined;
  /** The account of a provider's session. */
  readonly account?: AccountId | undefined;
  /** Whether it may change data; undefined: as its key or role says. */
  readonly isReadOnly?: boolean | undefined;
  /** The program that acts for the person, for the audit log. */
  readonly by?: string | undefined;
}

/** A session that a program uses for its caller. */
export interface ProgramSession {
  readonly by: string;
  readonly isReadOnly: boolean;
  readonly untilMs: number;
  /** Default: a new one. */
  readonly name?: string | undefined;
}

/** Proof of the person: a key, or the account that a provider's groups give access to. */
export type SessionProof = BasicCredentials | { readonly email: string; readonly account: AccountId };

export interface SealedSession {
  readonly text: string;
  readonly name: string;
  readonly untilMs: number;
}

export interface SealedSessionPorts {
  readonly access: ManagementAccess;
  readonly sealing: () => Sealing;
  readonly clock: Clock;
  readonly random: Random;
  /** The longest duration of a session. Default: a working day. */
  readonly sessionMs?: number | undefined;
}

export interface OpenedSession {
  readonly grant: ManagementGrant;
  readonly name: string;
  readonly untilMs: number;
  /** The value of the header `CSRF_HEADER` for changes, unknown to other sites. */
  readonly csrf: string;
}

const SHOWN_ID_CHARACTERS = 22;

/** Names a session in answers: its own name proves it together with the key file, so that is not shown. */
export function shownSessionId(name: string): string {
  return createHash('sha256').update(`id ${name}`, 'utf8').digest('base64url').slice(0, SHOWN_ID_CHARACTERS);
}

export class SealedSessions {
  readonly sessionMs: number;

  constructor(private readonly ports: SealedSessionPorts) {
    this.sessionMs = ports.sessionMs ?? DEFAULT_SESSION_MS;
  }

  /** @returns the session's text; the proof has just been checked */
  begin(proof: SessionProof, program?: ProgramSession): SealedSession {
    const longestMs = Math.trunc(this.ports.clock.nowMs()) + this.sessionMs;
    const untilMs = Math.min(program?.untilMs ?? longestMs, longestMs);
    const name = program?.name ?? newId('ses_', this.ports.random);
    return this.#sealed({ ...program, ...proof, name, untilMs });
  }

  /** The text of a provider's session that acts for another account from here on; undefined for other sessions. */
  switched(text: string, account: AccountId): SealedSession | undefined {
    const session = this.#opened(text);
    return session?.account === undefined ? undefined : this.#sealed({ ...session, account });
  }

  #sealed(session: Session): SealedSession {
    const { name, untilMs } = session;
    return { text: this.ports.sealing().seal(JSON.stringify(session)), name, untilMs };
  }

  /** Undefined for an invalid or expired session; sign-out is not checked. */
  named(text: string): { readonly name: string; readonly untilMs: number } | undefined {
    const session = this.#opened(text);
    return session === undefined || session.untilMs <= this.ports.clock.nowMs() ? undefined : session;
  }

  /** Undefined also after sign-out, or if the key is no longer valid. @throws CONTROL_STALE */
  grantFor(text: string): ManagementGrant | undefined {
    return this.opened(text)?.grant;
  }

  /** The same for the session of a provider; undefined for one of a key, which programs use itself. */
  grantOfProvider(text: string): ManagementGrant | undefined {
    return this.#opened(text)?.key === undefined ? this.grantFor(text) : undefined;
  }

  /** Undefined as in `grantFor`. @throws CONTROL_STALE */
  opened(text: string): OpenedSession | undefined {
    const session = this.#opened(text);
    if (session === undefined || session.untilMs <= this.ports.clock.nowMs()) return undefined;
    const { access } = this.ports;
    if (access.isSignedOut(session.name)) return undefined;
    const { name, email, key, account, untilMs, by, isReadOnly = false } = session;
    const ofProvider = account === undefined ? undefined : access.grantForSession(name, account);
    const found = key === undefined ? ofProvider : access.grantForKey(email, key);
    if (found === undefined) return undefined;
    const keyName = by === undefined ? found.keyName : `${found.keyName}, ${by}`;
    const grant = { ...found, keyName, isReadOnly: found.isReadOnly || isReadOnly };
    return { grant, name, untilMs, csrf: csrfOf(session) };
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

/** Derived from the name, which is only in the sealed text that pages cannot read; the page gets only this value. */
function csrfOf({ name }: Session): string {
  return createHash('sha256').update(`csrf ${name}`, 'utf8').digest('base64url');
}

/** Other data is sealed with the same key file. */
function isSession(opened: unknown): opened is Session {
  const { name, email, key, account, untilMs } = (opened ?? {}) as Partial<Record<keyof Session, unknown>>;
  const texts = [name, email, key ?? account];
  return texts.every((text) => typeof text === 'string') && typeof untilMs === 'number';
}

/** The session in the bearer token or in the cookie. */
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

/** `Set-Cookie` for a session's text; '' deletes the cookie. @param isSecure sent only over TLS */
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
