/** Exports of the audit log in the control state. Proves AEX1, AEX2. */
import { type ControlCommand, type ControlEvent, MAX_AUDIT_EXPORTS } from '../../../src/domain/control/index.js';
import { type AccountId, AUDIT_EXPORT_FORMAT_LEVEL } from '../../../src/kernel/index.js';
import { ACCOUNT, given, NOW_MS } from './given.js';
import { PEOPLE } from './management-given.js';

const raised = (level: number): ControlEvent => ({ type: 'FormatRaised', level, by: 'test', atMs: NOW_MS });
const INSTALLATION = [...PEOPLE, raised(AUDIT_EXPORT_FORMAT_LEVEL)];
const EXPORT = { account: ACCOUNT, url: 'https://a.example/audit', position: 7 };
const set = (over: object = {}): ControlCommand => ({ type: 'SetAuditExport', ...EXPORT, ...over });
const isSet = (over: object = {}): ControlEvent => ({ type: 'AuditExportSet', ...EXPORT, atMs: NOW_MS, ...over });

describe('exports of the audit log', () => {
  it('are refused before format level 7, for an unknown account, a long address, and above their number', () => {
    given(...PEOPLE, raised(AUDIT_EXPORT_FORMAT_LEVEL - 1))
      .when(set())
      .refuses('CONFLICTS');
    given(...INSTALLATION)
      .when(set({ account: 'ac-unknown' }))
      .refuses('UNKNOWN_ACCOUNT');
    given(...INSTALLATION)
      .when(set({ url: 'x'.repeat(513) }))
      .refuses('BAD_VALUE');
    const others = Array.from({ length: MAX_AUDIT_EXPORTS }, (_, at) => isSet({ account: `ac-${at}` as AccountId }));
    given(...INSTALLATION, ...others)
      .when(set())
      .refuses('TOO_MANY');
  });

  it('begin at the position of the command, keep it with another address, and have a new one after their end', () => {
    given(...INSTALLATION)
      .when(set())
      .then(isSet());
    given(...INSTALLATION, isSet())
      .when(set({ position: 9 }))
      .then();
    given(...INSTALLATION, isSet())
      .when(set({ url: 'https://b.example/audit', position: 9 }))
      .then(isSet({ url: 'https://b.example/audit' }));
    given(...INSTALLATION, isSet(), isSet({ url: '' }))
      .when(set({ position: 9 }))
      .then(isSet({ position: 9 }));
  });
});
