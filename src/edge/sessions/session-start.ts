/**
 * Beginnings of sessions, with their record and their line in the audit log.
 *
 *  SST1 a session of a key begins also if its record cannot be stored: a full disk must not lock operators out
 *  SST2 a session of a provider begins with its record, because it is valid only with one
 */
import { auditActionNumber, type PersonRole, type SignInSession } from '../../domain/control/index.js';
import { describeError } from '../../kernel/index.js';
import type { Log, ManagementControl, ManagementGrant } from '../../ports/index.js';
import { askControl } from '../control-asking.js';
import type { SealedSession } from './sealed-sessions.js';

interface SessionStartPorts {
  readonly control: ManagementControl;
  readonly log: Log;
}

/** The client of a sign-in. */
export interface SignInClient {
  readonly ip: string;
  readonly agent: string;
}

/** SST1. @param source  the way of the sign-in, for the audit log */
export async function recordKeySession(
  { control, log }: SessionStartPorts,
  grant: ManagementGrant,
  { name, untilMs }: SealedSession,
  { ip, agent }: SignInClient,
): Promise<void> {
  const { email, account, keyName } = grant;
  const session = { name, email, account, provider: '', keyName, ip, agent, untilMs, tokens: '' };
  try {
    await begin(control, session, `API_KEY - ${keyName}`);
  } catch (error) {
    log.warn('sign-in.not-recorded', { cause: describeError(error) });
  }
}

/** SST2. @throws Refused; errors of the connection to the control actor */
export async function recordProviderSession(
  control: ManagementControl,
  session: Omit<SignInSession, 'beganAtMs' | 'keyName'>,
  person: {
    readonly subject: string;
    readonly roles: readonly PersonRole[];
  },
): Promise<void> {
  const { email, provider } = session;
  await begin(control, { ...session, keyName: '' }, `PROVIDER - ${provider}`, { ...person, email, provider });
}

type Begin = Extract<Parameters<ManagementControl['send']>[0], { readonly type: 'BeginSession' }>;

async function begin(
  control: ManagementControl,
  session: Begin['session'],
  source: string,
  person?: Begin['person'],
): Promise<void> {
  const { account, email, ip } = session;
  const command = { type: 'BeginSession', session, ...(person !== undefined && { person }) } as const;
  const note = noteOf({ action: 'signIn', actor: email, source, ip, reason: '' });
  await askControl(control, { type: 'Audited', account, note, command }, 'SessionIs');
}

interface SignInNote {
  readonly action: 'signIn' | 'refuseSignIn' | 'signOut' | 'endSession';
  readonly actor: string;
  readonly source: string;
  readonly ip: string;
  readonly reason: string;
  readonly entity?: string;
}

export function noteOf({ action, actor, source, ip, reason, entity = '' }: SignInNote) {
  const texts = { actor, source, ip, reason, entity, secondaryEntity: '', thirdEntity: '' };
  return { ...texts, action: auditActionNumber(action) };
}
