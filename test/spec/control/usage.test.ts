/** Labels and reports of use in the control state. Proves USD1, USD2. */
import type { ControlCommand, ControlEvent } from '../../../src/domain/control/index.js';
import { USAGE_FORMAT_LEVEL } from '../../../src/kernel/index.js';
import { ACCOUNT, db, given, NOW_MS } from './given.js';
import { OTHER, PEOPLE } from './management-given.js';

const raised = (level: number): ControlEvent => ({ type: 'FormatRaised', level, by: 'test', atMs: NOW_MS });
const INSTALLATION = [...PEOPLE, raised(USAGE_FORMAT_LEVEL)];
const labels = [{ name: 'costCentre', value: '4711' }];
const label = (account = ACCOUNT): ControlCommand => ({ type: 'SetLabels', account, database: db('first'), labels });
const REPORT = { account: ACCOUNT, url: 'https://a.example/usage', month: 681 };
const reportSet = (over: object = {}): ControlEvent => ({ type: 'UsageReportSet', ...REPORT, atMs: NOW_MS, ...over });

describe('labels and reports of use', () => {
  it('are refused before format level 7', () => {
    given(...PEOPLE, raised(USAGE_FORMAT_LEVEL - 1))
      .when(label())
      .refuses('CONFLICTS');
    given(...PEOPLE, raised(USAGE_FORMAT_LEVEL - 1))
      .when({ type: 'SetUsageReport', ...REPORT })
      .refuses('CONFLICTS');
  });

  it('are set by the owner of the database alone; a repetition changes no state', () => {
    const isSet: ControlEvent = { type: 'LabelsSet', id: db('first'), labels, atMs: NOW_MS };
    given(...INSTALLATION)
      .when(label())
      .then(isSet);
    given(...INSTALLATION, isSet)
      .when(label())
      .then();
    given(...INSTALLATION)
      .when(label(OTHER))
      .refuses('UNKNOWN_DATABASE');
  });

  it('note each month once, and keep the last month when the address changes', () => {
    given(...INSTALLATION)
      .when({ type: 'SetUsageReport', ...REPORT })
      .then(reportSet());
    given(...INSTALLATION, reportSet())
      .when({ type: 'EndUsageReport', account: ACCOUNT, month: 682 })
      .then(reportSet({ month: 682 }));
    given(...INSTALLATION, reportSet({ month: 682 }))
      .when({ type: 'EndUsageReport', account: ACCOUNT, month: 682 })
      .then();
    given(...INSTALLATION, reportSet({ month: 682 }))
      .when({ type: 'SetUsageReport', ...REPORT, url: 'https://b.example/usage' })
      .then(reportSet({ month: 682, url: 'https://b.example/usage' }));
  });
});
