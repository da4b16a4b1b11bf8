/** The owner of the control shard evaluates rules, and sends the notices of their alerts. Proves ALT3. */
import { expect } from 'chai';
import { AlertTeller } from '../../../../src/actors/alerts/index.js';
import { type AlertRule, evolve, type FiringSubject } from '../../../../src/domain/control/index.js';
import { type AlertRuleId, FORMAT_LEVEL } from '../../../../src/kernel/index.js';
import { INSTALLED, NOW_MS } from '../../../spec/control/given.js';
import { alertRule } from '../../../spec/control/management-given.js';
import { MemoryLog } from '../../../support/kv-endpoint.js';
import { ManualTime } from '../../../support/memory/index.js';
import { MemoryControl } from '../../../support/memory-control.js';

const LOOK_MS = 10_000;
const RULE = alertRule('al-pay' as AlertRuleId);

function stand(rules: readonly AlertRule[] = [RULE], level = FORMAT_LEVEL) {
  const timers = new ManualTime();
  const log = new MemoryLog();
  const control = new MemoryControl();
  for (const event of INSTALLED) evolve(control.state, event);
  evolve(control.state, { type: 'FormatRaised', level, by: 'test', atMs: NOW_MS });
  for (const rule of rules) evolve(control.state, { type: 'AlertRuleSet', rule, atMs: NOW_MS });
  const said = {
    isOwner: true,
    isConnected: true,
    /** The firing alerts by rule; undefined: the reading fails. */
    firing: new Map<string, readonly string[] | undefined>(),
    /** Reasons of the next failures. */
    failures: [] as string[],
    sent: [] as string[],
  };
  const teller = () =>
    new AlertTeller(
      {
        bus: { isConnected: () => said.isConnected },
        clock: timers,
        timers,
        log,
        control,
        state: () => control.state,
        isOwner: () => said.isOwner,
        firing: async ({ id }): Promise<FiringSubject[]> => {
          const subjects = said.firing.has(id) ? said.firing.get(id) : [];
          if (subjects === undefined) throw new Error('no read model answers');
          return subjects.map((subject) => ({ subject, text: `${subject} fails` }));
        },
        notices: {
          send: async ({ number }, phase, { type }) => {
            const failure = said.failures.shift();
            if (failure !== undefined) throw new Error(failure);
            said.sent.push(`${type} ${number} ${phase}`);
            return 'msg_1';
          },
        },
      },
      LOOK_MS,
    );
  const looks = async (count = 1) => {
    for (let look = 0; look < count; look += 1) await timers.advance(LOOK_MS);
  };
  const logged = () =>
    log.lines.splice(0).map(({ level: of, event, fields }) => `${of} ${event} ${(fields as { alarm?: string }).alarm}`);
  return { timers, control, said, teller, looks, logged, alerts: () => [...control.state.alerts.byNumber.values()] };
}

describe('the evaluation of alert rules', () => {
  it('raises an alert that two successive looks show, and sends one notice for its raise and one for its end', async () => {
    const { said, teller, looks, alerts } = stand();
    const one = teller();
    one.start();
    said.firing.set(RULE.id, ['pay.example']);
    await looks(1);
    said.firing.set(RULE.id, []);
    await looks(2);
    expect(alerts(), 'a state that passes').to.deep.equal([]);
    said.firing.set(RULE.id, ['pay.example']);
    await looks(5);
    expect(said.sent).to.deep.equal(['webhook 1 raised']);
    said.firing.set(RULE.id, []);
    await looks(3);
    expect(said.sent).to.deep.equal(['webhook 1 raised', 'webhook 1 resolved']);
    expect(alerts()).to.have.lengthOf(1);
    expect(alerts()[0]).to.deep.include({ subject: 'pay.example', text: 'pay.example fails' });
    expect(alerts()[0]?.notices.map(({ state, answer }) => `${state} ${answer}`)).to.deep.equal([
      'sent msg_1',
      'sent msg_1',
    ]);
    one.stop();
  });

  it('sends no notice again after a takeover', async () => {
    const { said, teller, looks } = stand();
    const one = teller();
    one.start();
    said.firing.set(RULE.id, ['pay.example']);
    await looks(3);
    one.stop();
    const two = teller();
    two.start();
    await looks(3);
    expect(said.sent).to.deep.equal(['webhook 1 raised']);
    two.stop();
  });

  it('tries a notice again, with growing pauses, and notes the reason when it gives up', async () => {
    const { said, teller, looks, alerts } = stand();
    const one = teller();
    one.start();
    said.firing.set(RULE.id, ['pay.example']);
    said.failures = ['421 busy', '421 busy'];
    await looks(8);
    expect(said.sent).to.deep.equal(['webhook 1 raised']);
    said.firing.set(RULE.id, []);
    said.failures = Array.from({ length: 6 }, () => '550 no such mailbox');
    await looks(40);
    expect(said.sent).to.deep.equal(['webhook 1 raised']);
    expect(alerts()[0]?.notices[1]).to.include({ state: 'failed', answer: '550 no such mailbox' });
    one.stop();
  });

  it('keeps the alerts of a rule whose reading fails, and evaluates the others', async () => {
    const other = alertRule('al-other' as AlertRuleId, { name: 'Others' });
    const { said, teller, looks, alerts } = stand([RULE, other]);
    const one = teller();
    one.start();
    said.firing.set(RULE.id, ['pay.example']);
    await looks(3);
    said.firing.set(RULE.id, undefined);
    said.firing.set(other.id, ['mail.example']);
    await looks(3);
    expect(alerts().map(({ subject, resolvedAtMs }) => [subject, resolvedAtMs])).to.deep.equal([
      ['pay.example', 0],
      ['mail.example', 0],
    ]);
    one.stop();
  });

  it('raises nothing for a disabled rule, and sends nothing for a silenced one', async () => {
    const silenced = alertRule('al-quiet' as AlertRuleId, { silentUntilMs: 2 ** 45 });
    const { said, teller, looks, alerts } = stand([{ ...RULE, isEnabled: false }, silenced]);
    const one = teller();
    one.start();
    said.firing.set(RULE.id, ['pay.example']);
    said.firing.set(silenced.id, ['mail.example']);
    await looks(4);
    expect(alerts().map(({ subject }) => subject)).to.deep.equal(['mail.example']);
    expect(said.sent).to.deep.equal([]);
    one.stop();
  });

  it('logs alarms of the cluster once, and once when they are over, at any format level; only the owner does', async () => {
    const { said, teller, looks, logged, alerts } = stand([], 1);
    const one = teller();
    one.start();
    said.firing.set('al-cluster', ['moving']);
    await looks(1);
    said.firing.set('al-cluster', ['full']);
    await looks(4);
    expect(logged()).to.deep.equal(['error cluster.alarm full fails']);
    said.firing.set('al-cluster', []);
    await looks(2);
    expect(logged()).to.deep.equal(['info cluster.alarm-over full fails']);
    said.isConnected = false;
    said.firing.set('al-cluster', ['nobody answers']);
    await looks(3);
    said.isConnected = true;
    said.isOwner = false;
    await looks(3);
    expect(logged()).to.deep.equal([]);
    expect(alerts(), 'the level has no alerts').to.deep.equal([]);
    one.stop();
  });

  it('logs alerts of all other kinds as warnings', async () => {
    const { said, teller, looks, logged } = stand();
    const one = teller();
    one.start();
    said.firing.set(RULE.id, ['pay.example']);
    await looks(3);
    said.firing.set(RULE.id, []);
    await looks(1);
    expect(logged()).to.deep.equal(['warn alert.raised pay.example fails', 'info alert.over pay.example fails']);
    one.stop();
  });
});
