/** Refused sign-ins of people in the audit log. Proves RSI1, RSI2. */
import { expect } from 'chai';
import { auditActionText, type ControlCommand, type ControlReply } from '../../../src/domain/control/index.js';
import { MAX_LINES, RefusedSignIns } from '../../../src/edge/sessions/refused-sign-ins.js';
import { SignInGuard } from '../../../src/edge/sign-in-guard.js';
import type { AccountId } from '../../../src/kernel/index.js';
import { UNWATCHED } from '../../../src/ports/index.js';
import { MemoryLog } from '../../support/kv-endpoint.js';
import { ManualTime } from '../../support/memory/index.js';

const FIRST = 'ac-first' as AccountId;
const HOUR_MS = 3_600_000;

function stand(reply: ControlReply = { type: 'Accounts', accounts: [] }) {
  const time = new ManualTime();
  const log = new MemoryLog();
  const sent: ControlCommand[] = [];
  const control = {
    send: async (command: ControlCommand) => {
      sent.push(command);
      return reply;
    },
  };
  const refused = new RefusedSignIns({ control, timers: time, log, firstAccount: () => FIRST });
  const guard = new SignInGuard({ clock: time, timers: time, log, metrics: UNWATCHED, refused }, 30);
  const notes = () => sent.map((command) => (command as Extract<ControlCommand, { type: 'Audited' }>).note);
  return { time, log, guard, notes, sent };
}

describe('refused sign-ins in the audit log', () => {
  it('have a line for the first refusal of an address, with name, endpoint and reason', () => {
    const { guard, notes, sent } = stand();
    const console = guard.of('console');
    console.failed('::ffff:192.0.2.1', 'eve@example.com');
    console.failed('192.0.2.1', 'eve@example.com');
    expect(sent[0]).to.include({ type: 'Audited', account: FIRST, always: true });
    expect(notes()).to.have.length(1);
    expect(notes()[0]).to.include({ actor: 'eve@example.com', source: 'ENDPOINT - console', ip: '192.0.2.1' });
    expect(notes()[0]?.reason).to.equal('no such e-mail and key');
    expect(auditActionText(notes()[0]?.action ?? 0)).to.equal('Refuse Sign-In');
  });

  it('are bounded in an hour; at its end one line has the number of the others', async () => {
    const { guard, notes, time } = stand();
    const management = guard.of('management');
    for (let at = 0; at < 200; at += 1) management.failed(`192.0.2.${at}`, 'x'.repeat(500));
    expect(notes()).to.have.length(MAX_LINES);
    expect(notes()[0]?.actor).to.have.length(64);
    await time.advance(HOUR_MS);
    expect(notes()).to.have.length(MAX_LINES + 1);
    expect(notes().at(-1)?.reason).to.equal('188 more refused sign-ins within an hour, 200 addresses in total');
    management.failed('192.0.2.1');
    expect(notes()).to.have.length(MAX_LINES + 2);
  });

  it('have a line for each reason of a provider', () => {
    const { guard, notes } = stand();
    const console = guard.of('console');
    for (const reason of ['no group', 'no group', 'no address']) {
      console.failed('192.0.2.1', undefined, { source: 'PROVIDER - sso', reason });
    }
    expect(notes().map(({ source, reason }) => `${source}: ${reason}`)).to.deep.equal([
      'PROVIDER - sso: no group',
      'PROVIDER - sso: no address',
    ]);
  });

  it('leave out refused tokens of data, which are not people', () => {
    const { guard, notes } = stand();
    guard.of('rest').failed('192.0.2.1');
    guard.of('queue').failed('192.0.2.1');
    expect(notes()).to.deep.equal([]);
  });

  it('are in the log of the process if the line cannot be stored', async () => {
    const { guard, log, time } = stand({ type: 'Rejected', reason: 'UNKNOWN_ACCOUNT', message: 'gone' });
    guard.of('admin').failed('192.0.2.1');
    await time.advance(1);
    expect(log.lines.map(({ event }) => event)).to.include('sign-in.not-recorded');
  });
});
