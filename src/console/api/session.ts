/** The signed-in user; the session itself is in a cookie that scripts cannot read. */
import { computed, signal } from '@preact/signals';

export interface Session {
  readonly email: string;
  /** The account of the session: an id, or the e-mail of a personal account. */
  readonly customer_id: string;
  /** The strongest role, for people; `rights` decides. */
  readonly role: string;
  /** On the whole account, or on a resource of it. */
  readonly rights: readonly string[];
  readonly readonly: boolean;
  /** The name of the key used to sign in. */
  readonly key: string;
  /** A user of the first account, who also sees the installation. */
  readonly operator: boolean;
  readonly until: string;
  readonly csrf: string;
  /** Accounts that the groups of a provider's person give access to; undefined: signed in with a key. */
  readonly accounts?: readonly { readonly customer_id: string; readonly name: string; readonly role: string }[];
}

/** An identity provider of the settings. */
export interface Provider {
  readonly name: string;
  readonly label: string;
}

/** The providers that sign people in; without them the page asks for a key alone. */
export const providers = signal<readonly Provider[]>([]);

/** Undefined: not known yet. Null: not signed in. */
export const session = signal<Session | null | undefined>(undefined);

/** The reason for a new sign-in, shown to a returning user. */
export const sessionNote = signal('');

/** With a read-only key, controls for changes are hidden. */
export const mayChange = computed(() => session.value?.readonly === false);
/** Also without the right to the change. */
const changing = (right: string) => computed(() => mayChange.value && session.value?.rights.includes(right) === true);
export const mayChangeDatabases = changing('databases:change');
export const mayChangeQueues = changing('queues:change');
export const mayChangeIndexes = changing('indexes:change');
export const mayChangeAlerts = changing('alerts:change');
export const mayPay = changing('billing:change');
export const mayGiveRoles = changing('members:change');
export const maySteer = changing('operation:change');
export const maySeeAccount = computed(() => session.value?.rights.includes('account:read') === true);
export const mayUseData = computed(() => session.value?.rights.some((right) => right.endsWith(':use')) === true);
export const isOperator = computed(() => session.value?.operator === true);

const PATH = '/console/api/session';

export async function loadSession(): Promise<void> {
  const answer = await fetch(PATH);
  const shown = (await answer.json()) as { signed_in?: boolean; providers?: readonly Provider[] } & Session;
  providers.value = shown.providers ?? [];
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
  const answer = await fetch(PATH, { method: 'DELETE', headers: { 'Millrace-Csrf': session.value?.csrf ?? '' } });
  const { provider_logout: logout } = (await answer.json().catch(() => ({}))) as { provider_logout?: string };
  if (logout === undefined) await loadSession();
  else location.assign(logout);
}

/** Acts for another account of the person from here on; the page is loaded again with its data. */
export async function switchAccount(customerId: string): Promise<void> {
  await fetch(`${PATH}/account`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Millrace-Csrf': session.value?.csrf ?? '' },
    body: JSON.stringify({ customer_id: customerId }),
  });
  location.assign('/console/');
}

const REFUSALS: Readonly<Record<string, string>> = {
  refused: 'The provider refused the sign-in, or its answer was not valid. Begin again.',
  expired: 'The sign-in took too long, or was begun in another browser. Begin again.',
  unavailable: 'The provider cannot be reached. Keys work without it.',
  'no-role': 'The provider signed you in, but no group of yours has a role here. An operator can add one.',
  'no-email': 'The provider gave no verified e-mail address of yours.',
  'other-subject': 'Your address belongs to another person of the provider, who signed in before.',
};

/** The reason why the provider's answer began no session, from the page's address. */
export function providerRefusal(): string | undefined {
  const kind = new URLSearchParams(location.search).get('refused');
  return kind === null ? undefined : (REFUSALS[kind] ?? REFUSALS.refused);
}

/** The address that leads to the provider and back to this page. */
export function signInUrl({ name }: Provider): string {
  const to = location.search.includes('refused=') ? '/console/' : `${location.pathname}${location.search}`;
  return `/console/api/sign-in/${name}?to=${encodeURIComponent(to)}`;
}

/** Called when the server reports that the session has ended. */
export function endSession(): void {
  if (session.value === null) return;
  sessionNote.value = 'Your session is over: sign in again, and you are back on this page.';
  session.value = null;
}
