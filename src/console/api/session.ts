/** The signed-in user; the session itself is in a cookie that scripts cannot read. */
import { computed, signal } from '@preact/signals';

export interface Session {
  readonly email: string;
  /** The account of the session: an id, or the e-mail of a personal account. */
  readonly customer_id: string;
  readonly role: 'owner' | 'admin' | 'dev' | 'finance';
  readonly readonly: boolean;
  /** The name of the key used to sign in. */
  readonly key: string;
  /** A user of the first account, who also sees the installation. */
  readonly operator: boolean;
  readonly until: string;
  readonly csrf: string;
}

/** Undefined: not known yet. Null: not signed in. */
export const session = signal<Session | null | undefined>(undefined);

/** The reason for a new sign-in, shown to a returning user. */
export const sessionNote = signal('');

/** With a read-only key, controls for changes are hidden. */
export const mayChange = computed(() => session.value?.readonly === false);
export const mayUseData = computed(() => session.value != null && session.value.role !== 'finance');
export const isOperator = computed(() => session.value?.operator === true);

const PATH = '/console/api/session';

export async function loadSession(): Promise<void> {
  const answer = await fetch(PATH);
  const shown = (await answer.json()) as { signed_in?: boolean } & Session;
  session.value = answer.ok && shown.signed_in === true ? shown : null;
}

/** @returns the error, or undefined */
export async function signIn(email: string, key: string): Promise<string | undefined> {
  const answer = await fetch(PATH, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email, key }),
  });
  const shown = (await answer.json().catch(() => ({}))) as Session & { error?: string };
  if (answer.ok) {
    session.value = shown;
    sessionNote.value = '';
    return undefined;
  }
  if (answer.status === 401) return 'No key of this e-mail is known by that text.';
  if (answer.status === 429) {
    return `Too many wrong sign-ins from here; try again in ${answer.headers.get('Retry-After') ?? 'some'} seconds.`;
  }
  return shown.error ?? `The server answered ${answer.status}.`;
}

export async function signOut(): Promise<void> {
  await fetch(PATH, { method: 'DELETE', headers: { 'Millrace-Csrf': session.value?.csrf ?? '' } });
  session.value = null;
}

/** Called when the server reports that the session has ended. */
export function endSession(): void {
  if (session.value === null) return;
  sessionNote.value = 'Your session is over: sign in again, and you are back on this page.';
  session.value = null;
}
