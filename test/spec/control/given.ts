/** Given–when–then for the control actor's decider, with builders for values that do not matter to a test. */
import { expect } from 'chai';
import {
  type Account,
  type ControlCommand,
  type ControlEvent,
  type ControlReply,
  ControlState,
  type DatabaseLimits,
  type DatabaseSecrets,
  decide,
  evolve,
  type RejectionReason,
  type SealedSecret,
  type UsageRow,
  utcDayOf,
} from '../../../src/domain/control/index.js';
import type { AccountId, DatabaseId, SessionId } from '../../../src/kernel/index.js';

export const NOW_MS = 1_767_225_600_000;
export const TODAY = utcDayOf(NOW_MS);
export const ACCOUNT = 'ac-first' as AccountId;
export const LIMITS: DatabaseLimits = { maxCommandBytes: 1_000_000, maxRequestsPerDay: 1000 };

export const db = (name: string) => `db-${name}` as DatabaseId;
export const session = (name: string) => `node-${name}` as SessionId;
export const secret = (name: string): SealedSecret => ({ sha256: `hash-${name}`, sealed: `sealed-${name}` });

export const secretsOf = (name: string): DatabaseSecrets => ({
  standardToken: secret(`${name}-token`),
  readOnlyToken: secret(`${name}-ro`),
  password: secret(`${name}-password`),
});

export const ACCOUNT_SECRETS_OF = (name: string): Account['secrets'] => ({
  queueToken: secret(`${name}-queue`),
  mgmtKey: secret(`${name}-key`),
  signingKeyCurrent: secret(`${name}-sig1`),
  signingKeyNext: secret(`${name}-sig2`),
});

export const accountCreated = (id: AccountId = ACCOUNT): ControlEvent => ({
  type: 'AccountCreated',
  id,
  name: 'default',
  email: 'a@b.example',
  secrets: ACCOUNT_SECRETS_OF(id),
  createdAtMs: NOW_MS,
});

export const databaseCreated = (name: string, limits: DatabaseLimits = LIMITS): ControlEvent => ({
  type: 'DatabaseCreated',
  id: db(name),
  name,
  account: ACCOUNT,
  partitions: 1,
  limits,
  secrets: secretsOf(name),
  createdAtMs: NOW_MS,
});

export const firstStarted = (name: string): ControlEvent => ({
  type: 'FirstStarted',
  account: ACCOUNT,
  database: db(name),
  atMs: NOW_MS,
});

/** An installation with its first account and the database `first`. */
export const INSTALLED: readonly ControlEvent[] = [accountCreated(), databaseCreated('first'), firstStarted('first')];

export const createDatabase = (name: string, over: Record<string, unknown> = {}): ControlCommand => ({
  type: 'CreateDatabase',
  database: {
    id: db(name),
    name,
    account: undefined,
    partitions: 1,
    limits: LIMITS,
    secrets: secretsOf(name),
    ...over,
  },
});

export const reserved = (who: string, count: number, name = 'first', day = TODAY): ControlEvent => ({
  type: 'QuotaReserved',
  database: db(name),
  day,
  session: session(who),
  reserved: count,
});

export const usedBy = (who: string, commands: number, name = 'first', day = TODAY): UsageRow => ({
  database: db(name),
  day,
  session: session(who),
  commands,
  writes: 0,
  errors: 0,
  bytesIn: 10,
  bytesOut: 20,
});

export const metered = (position: number, ...rows: UsageRow[]): ControlEvent => ({
  type: 'MeterFolded',
  position,
  marks: rows.map(({ session, day }) => ({ session, number: position, day })),
  rows,
});

export const lease = (who: string, wanted: number, known = 0, day = TODAY): ControlCommand => ({
  type: 'LeaseQuota',
  session: session(who),
  database: db('first'),
  day,
  known,
  wanted,
});

export function stateAfter(...events: readonly ControlEvent[]): ControlState {
  const state = new ControlState();
  for (const event of events) evolve(state, event);
  return state;
}

export function given(...events: readonly ControlEvent[]) {
  const state = stateAfter(...events);
  return {
    when(command: ControlCommand, nowMs: number = NOW_MS) {
      const { reply, events: happened } = decide(command, state, { nowMs });
      return {
        reply,
        events: happened,
        // biome-ignore lint/suspicious/noThenProperty: given, when, then; the object is never awaited
        then(...expected: readonly ControlEvent[]) {
          expect(happened).to.deep.equal(expected);
          return this;
        },
        answers(expected: ControlReply) {
          expect(reply).to.deep.equal(expected);
          return this;
        },
        refuses(reason: RejectionReason) {
          expect(reply).to.include({ type: 'Rejected', reason });
          expect(happened).to.deep.equal([]);
        },
      };
    },
  };
}
