/**
 * Decides about sessions of people.
 *
 *  SID1 before format level SIGN_IN_FORMAT_LEVEL a session of a key leaves no record, and one of a provider is refused,
 *       because earlier programs could not read the events
 *  SID2 an address belongs to the first subject that signed in with it, until that person has no roles
 *  SID3 a role that a provider takes away ends the sessions that act with it, in the same entry
 */
import { FIRST_FORMAT_LEVEL, SIGN_IN_FORMAT_LEVEL } from '../../kernel/index.js';
import type { ControlCommandOf } from './commands.js';
import { type Decision, decided, rejected } from './decision.js';
import type { ControlEvent } from './events.js';
import { MAX_PROVIDER_PEOPLE, MAX_SESSION_NAME, MAX_SESSION_TEXT, MAX_SESSION_TOKENS } from './limits.js';
import { isEmail } from './names.js';
import type { ProviderPerson } from './provider-people.js';
import type { ControlState } from './state.js';

export function decideBeginSession(
  { session, person }: ControlCommandOf<'BeginSession'>,
  state: ControlState,
  atMs: number,
): Decision {
  const { format, sessions } = state;
  const begun = { type: 'SessionIs', name: session.name } as const;
  if ((format?.level ?? FIRST_FORMAT_LEVEL) < SIGN_IN_FORMAT_LEVEL) {
    if (person === undefined) return decided(begun);
    const advice = `needs format level ${SIGN_IN_FORMAT_LEVEL}: run millrace cluster upgrade`;
    return rejected('CONFLICTS', `signing in with a provider ${advice}`);
  }
  if (sessions.byName.has(session.name)) return decided(begun);
  const email = session.email.toLowerCase();
  if (session.name === '' || session.name.length > MAX_SESSION_NAME || session.tokens.length > MAX_SESSION_TOKENS) {
    return rejected('BAD_VALUE', 'the name or the tokens of the session are too long');
  }
  const settled = person === undefined ? [] : personEvents({ ...person, email }, state, atMs);
  if (!Array.isArray(settled)) return settled;
  if (person !== undefined && !person.roles.some(({ account }) => account === session.account)) {
    return rejected('BAD_VALUE', 'the person has no role in the account of the session');
  }
  const [ip, agent] = [session.ip, session.agent].map((text) => text.slice(0, MAX_SESSION_TEXT)) as [string, string];
  return decided(begun, ...settled, { type: 'SessionBegan', ...session, email, ip, agent, beganAtMs: atMs });
}

/** The events that give a person the roles; a rejection if the address belongs to another subject. */
function personEvents(
  person: Omit<ProviderPerson, 'sinceMs'>,
  state: ControlState,
  atMs: number,
): ControlEvent[] | Decision {
  const { providerPeople: people } = state;
  const known = people.byEmail.get(person.email);
  if (known !== undefined && (known.provider !== person.provider || known.subject !== person.subject)) {
    return rejected('CONFLICTS', `${person.email} has signed in as another subject of the provider ${known.provider}`);
  }
  if (!isEmail(person.email)) return rejected('BAD_VALUE', 'the provider gave no e-mail address');
  if (known === undefined && people.byEmail.size >= MAX_PROVIDER_PEOPLE) {
    return rejected('TOO_MANY', `at most ${MAX_PROVIDER_PEOPLE} people sign in with providers`);
  }
  const renamed = people.withSubject(person);
  const former = renamed === undefined || renamed.email === person.email ? [] : rolesEvents(renamed, [], state, atMs);
  return [...former, ...rolesEvents({ ...person, sinceMs: atMs }, person.roles, state, atMs)];
}

/** SID3: with the ends of the sessions that lost their role. */
function rolesEvents(
  person: ProviderPerson,
  roles: ProviderPerson['roles'],
  { providerPeople, sessions }: ControlState,
  atMs: number,
): ControlEvent[] {
  const before = providerPeople.byEmail.get(person.email)?.roles ?? [];
  if (JSON.stringify(before) === JSON.stringify(roles)) return [];
  const { email, provider, subject } = person;
  const over = sessions
    .of(email, atMs)
    .filter((session) => session.provider !== '' && !roles.some(({ account }) => account === session.account));
  return [
    { type: 'ProviderPersonSet', email, provider, subject, roles, atMs },
    ...over.map(({ name, untilMs }) => ({ type: 'SignedOut', session: name, untilMs, atMs }) as const),
  ];
}

/** The roles that the provider gives a person now. No change, or an unknown person, gives no event. */
export function decideSetPersonRoles(
  { email, roles }: ControlCommandOf<'SetPersonRoles'>,
  state: ControlState,
  atMs: number,
): Decision {
  const person = state.providerPeople.byEmail.get(email.toLowerCase());
  return decided({ type: 'SignedOut' }, ...(person === undefined ? [] : rolesEvents(person, roles, state, atMs)));
}

export function decideSessionTokens(
  { session: name, tokens }: ControlCommandOf<'SetSessionTokens'>,
  { sessions }: ControlState,
  atMs: number,
): Decision {
  if (tokens.length > MAX_SESSION_TOKENS) return rejected('BAD_VALUE', 'the tokens of the session are too long');
  const session = sessions.byName.get(name);
  const isChange = session !== undefined && session.provider !== '' && session.tokens !== tokens;
  return decided(
    { type: 'SessionIs', name },
    ...(isChange ? [{ type: 'SessionTokensSet', name, tokens, atMs } as const] : []),
  );
}

export function decideListSessions(
  { account, email }: ControlCommandOf<'ListSessions'>,
  { sessions }: ControlState,
  nowMs: number,
): Decision {
  const found = email === '' ? sessions.inAccount(account, nowMs) : sessions.of(email.toLowerCase(), nowMs);
  const shown = found.slice(0, MAX_LISTED_SESSIONS).map((session) => ({ ...session, tokens: '' }));
  return decided({ type: 'SessionsAre', sessions: shown });
}

/** A person reads all of them on one page. */
const MAX_LISTED_SESSIONS = 500;
