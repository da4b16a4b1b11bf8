/** Proves AL1–AL3. */
import { expect } from 'chai';
import {
  AUDIT_ACTIONS,
  AUDIT_TTL_MS,
  auditActionNumber,
  auditActionText,
  type ControlCommand,
  type ControlEvent,
  ControlState,
  evolve,
  MAX_AUDIT_ENTRIES,
  MAX_AUDIT_PAGE,
  MAX_AUDIT_TEXT,
} from '../../../src/domain/control/index.js';
import { ACCOUNT, db, given, INSTALLED, NOW_MS, secret, secretsOf, stateAfter } from './given.js';
import { atMs, change, NOTE, OTHER, PEOPLE, TEAM } from './management-given.js';

const audited = (command: ControlCommand, over: Partial<typeof NOTE> = {}): ControlCommand => ({
  type: 'Audited',
  account: ACCOUNT,
  note: { ...NOTE, ...over },
  command: command as Exclude<ControlCommand, { type: 'Audited' }>,
});
const noted = (number: number, over: Record<string, unknown> = {}): ControlEvent => ({
  type: 'AuditNoted',
  number,
  account: ACCOUNT,
  atMs,
  ...NOTE,
  ...over,
});
const rename = change({ name: 'new' });
const list = (count: number, account = ACCOUNT): ControlCommand => ({ type: 'ListAudit', account, count });
const numbers = (events: readonly ControlEvent[], count: number, nowMs = NOW_MS) => {
  const { reply } = given(...events).when(list(count), nowMs);
  return reply.type === 'AuditEntries' ? reply.entries.map(({ number }) => number) : reply;
};

describe('control: the audit log', () => {
  it('notes a change in the entry of the change, with the answer of the change', () => {
    const plain = given(...INSTALLED).when(rename);
    given(...INSTALLED)
      .when(audited(rename))
      .then(...plain.events, noted(1))
      .answers(plain.reply);
  });

  it('notes no refusal, no read and no change without effect', () => {
    for (const command of [
      change({ name: '' }),
      change({ name: 'first' }),
      { type: 'GetDatabase', account: ACCOUNT, database: db('first') } as const,
    ]) {
      given(...INSTALLED)
        .when(audited(command))
        .then();
    }
    given(...INSTALLED)
      .when(audited(audited(rename)))
      .refuses('BAD_VALUE');
  });

  it('refuses a command about a resource that now belongs to another account', () => {
    const tokens = { queueToken: secret('q'), readOnlyToken: secret('qr') };
    const commands: ControlCommand[] = [
      { type: 'ResetPassword', database: db('first'), secrets: secretsOf('new') },
      { type: 'UpdateLimits', database: db('first'), maxCommandBytes: 4096, maxRequestsPerDay: undefined },
      { type: 'DeleteDatabase', database: db('first') },
      { type: 'ResetQueueTokens', account: ACCOUNT, tokens },
      { type: 'ChangeAccountPlan', account: ACCOUNT, plan: { hasProdPack: true }, limits: {} },
    ];
    const away: ControlEvent[] = [
      { type: 'DatabaseMoved', database: db('first'), account: TEAM, atMs },
      { type: 'QueueMoved', account: ACCOUNT, owner: TEAM, atMs },
    ];
    for (const command of commands) {
      expect(given(...PEOPLE).when(audited(command)).events).to.have.length(2);
      const { reply, events } = given(...PEOPLE, ...away).when(audited(command));
      expect(reply.type === 'Rejected' && reply.reason).to.match(/^UNKNOWN_(DATABASE|ACCOUNT)$/);
      expect(events).to.deep.equal([]);
    }
  });

  it('cuts a note that is too long', () => {
    const { events } = given(...INSTALLED).when(audited(rename, { reason: 'x'.repeat(5000) }));
    expect(events.at(-1)).to.deep.equal(noted(1, { reason: 'x'.repeat(MAX_AUDIT_TEXT) }));
  });

  it('shows an account its own entries, newest first, in pages', () => {
    const events = [...INSTALLED, noted(1), noted(2, { account: OTHER }), noted(3)];
    expect(numbers(events, 10)).to.deep.equal([3, 1]);
    expect(numbers(events, 1)).to.deep.equal([3]);
    expect(numbers(events, -1)).to.deep.equal([]);
    const many = Array.from({ length: MAX_AUDIT_PAGE + 1 }, (_, i) => noted(i + 1));
    expect(numbers(many, MAX_AUDIT_PAGE + 1)).to.have.length(MAX_AUDIT_PAGE);
  });

  it('continues its numbers after it has forgotten entries', () => {
    const { events } = given(...INSTALLED, noted(41)).when(audited(rename));
    expect(events.at(-1)).to.deep.equal(noted(42));
  });

  it('forgets entries after half a year', () => {
    const events = [noted(1), noted(2, { atMs: NOW_MS + 1 })];
    expect(numbers(events, 9, NOW_MS + AUDIT_TTL_MS - 1)).to.deep.equal([2, 1]);
    expect(numbers(events, 9, NOW_MS + AUDIT_TTL_MS)).to.deep.equal([2]);
    expect(stateAfter(...events, noted(3, { atMs: NOW_MS + AUDIT_TTL_MS })).audit.size).to.equal(2);
  });

  it('holds a bounded number of entries, the newest', () => {
    const state = new ControlState();
    const accounts = MAX_AUDIT_ENTRIES / MAX_AUDIT_PAGE + 1;
    for (let number = 1; number <= MAX_AUDIT_ENTRIES + 1; number += 1) {
      evolve(state, noted(number, { account: `ac-${number % accounts}` }));
    }
    expect(state.audit.size).to.equal(MAX_AUDIT_ENTRIES);
    expect([...state.audit.all()][0]?.number).to.equal(2);
  });

  it('keeps a page of each account, so that a busy account does not displace a quiet one', () => {
    const state = new ControlState();
    evolve(state, noted(1, { account: OTHER }));
    for (let number = 2; number <= 5 * MAX_AUDIT_PAGE; number += 1) evolve(state, noted(number));
    expect(state.audit.size).to.equal(MAX_AUDIT_PAGE + 1);
    expect(state.audit.of(OTHER, 9, NOW_MS).map(({ number }) => number)).to.deep.equal([1]);
    const own = state.audit.of(ACCOUNT, 2 * MAX_AUDIT_PAGE, NOW_MS).map(({ number }) => number);
    expect([own.length, own[0], own.at(-1)]).to.deep.equal([
      MAX_AUDIT_PAGE,
      5 * MAX_AUDIT_PAGE,
      4 * MAX_AUDIT_PAGE + 1,
    ]);
    expect([...state.audit.all()].map(({ number }) => number)).to.deep.equal([1, ...own.reverse()]);
  });

  it('is only counted in copies that do not keep it', () => {
    const copy = new ControlState({ keepsAudit: false });
    evolve(copy, noted(7));
    expect([copy.audit.size, copy.audit.lastNumber]).to.deep.equal([0, 7]);
  });
});

describe('actions of the audit log', () => {
  it('have a unique number and a text each', () => {
    const all = Object.values(AUDIT_ACTIONS).map(([number]) => number);
    expect(new Set(all).size).to.equal(all.length);
    expect(auditActionNumber('deleteTeam')).to.equal(13);
    expect(auditActionText(13)).to.equal('Delete Team');
    expect(auditActionText(9999)).to.equal('Action 9999');
  });
});
