/** Proves REN1, REN2. */
import { expect } from 'chai';
import { AGAIN, failedAfter, resume, started } from '../../support/failed-runs.js';
import { SETTINGS } from '../../support/queue-spec.js';
import { ENDPOINT, entryItem } from '../../support/workflow-spec.js';

describe('workflow: the settings of a resumed run', () => {
  it('sends later deliveries with the user headers and the headers of every step', () => {
    const header: [string, string][] = [
      ['Content-Type', 'text/plain'],
      ['X-User', 'u'],
      ['Svc-Workflow-Sdk-Version', '1'],
      ['Svc-Workflow-Invoke-Count', '2'],
      ['Svc-Workflow-Unknown', 'of the first'],
    ];
    const spec = failedAfter(1, { header });
    started(resume(spec));
    expect(spec.headersOf(AGAIN)).to.deep.equal({
      'Content-Type': 'application/json',
      'X-User': 'u',
      'Svc-Workflow-Sdk-Version': '1',
      'Svc-Workflow-Invoke-Count': '2',
    });
    expect(spec.attempt(AGAIN).envelope).to.deep.include({ url: ENDPOINT });
  });

  it('does not check again whether the endpoint is recent enough', () => {
    const mark = { detectsTrigger: true, needsRecentClient: true, canFetch: true, isConfiguredByTrigger: true };
    const later = failedAfter(1, { mark });
    started(resume(later));
    expect(later.attempt(AGAIN).envelope.workflow).to.include({ needsRecentClient: false, canFetch: true });
    const first = failedAfter(0, { mark });
    started(resume(first));
    expect(first.attempt(AGAIN).envelope.workflow).to.include({ needsRecentClient: true });
  });

  it('gives user headers also to runs of clients that repeat them with each message', () => {
    const mark = { detectsTrigger: true, needsRecentClient: false, canFetch: true, isConfiguredByTrigger: false };
    const header: [string, string][] = [
      ['X-User', 'u'],
      ['Svc-Workflow-Sdk-Version', '1'],
    ];
    const spec = failedAfter(1, { mark, header });
    started(resume(spec));
    expect(spec.headersOf(AGAIN)).to.deep.equal({
      'Content-Type': 'application/json',
      'X-User': 'u',
      'Svc-Workflow-Sdk-Version': '1',
    });
  });

  it('applies overrides of the call to the whole new run', () => {
    const old = { key: 'old', parallelism: 1, rate: undefined, periodSeconds: 1 };
    const plain = { ...SETTINGS, maxRetries: 0, flowControl: old };
    const header: [string, string][] = [
      ['Svc-Label', 'old'],
      ['X-User', 'u'],
    ];
    const failureCallback = { url: 'https://app.example/failed', settings: { ...plain, header } };
    const spec = failedAfter(1, { labels: ['old'], header, flowControl: old, failureCallback });
    const overrides = [
      ['svc-retries', '2'],
      ['svc-retry-delay', '1000'],
      ['svc-flow-control-key', 'new'],
      ['svc-flow-control-value', 'rate=5,period=60'],
      ['svc-label', 'new,other'],
      ['svc-failure-callback', 'https://app.example/other'],
    ] as const;
    started(resume(spec, { overrides }));
    const changed = {
      maxRetries: 2,
      retryDelay: '1000',
      flowControl: { key: 'new', parallelism: undefined, rate: 5, periodSeconds: 60 },
    };
    const [event] = spec.all('RunStarted').slice(-1);
    const settings = event?.envelope.settings;
    expect(settings).to.deep.include({ ...changed, labels: ['new', 'other'] });
    expect(settings?.header).to.deep.include.members([
      ['X-User', 'u'],
      ['Svc-Label', 'new,other'],
    ]);
    expect(settings?.failureCallback?.url).to.equal('https://app.example/other');
    expect(settings?.failureCallback?.settings).to.deep.include(changed);
    expect(settings?.failureCallback?.settings.header).to.deep.equal([
      ['X-User', 'u'],
      ['Svc-Label', 'new,other'],
    ]);
    expect(spec.attempt(AGAIN).envelope.settings).to.deep.include(changed);
    expect(spec.headersOf(AGAIN)['Svc-Label']).to.equal('new,other');
    spec.deliver(AGAIN);
    spec.submit(entryItem('again', 2));
    expect(spec.attempt('again#2').envelope.settings).to.deep.include(changed);
  });

  it('ignores overrides without a value', () => {
    const spec = failedAfter(1);
    started(resume(spec, { overrides: [['svc-label', ' ']] }));
    const [before, after] = spec.all('RunStarted');
    expect(after?.envelope).to.deep.equal(before?.envelope);
  });

  it("keeps the failure function's own settings", () => {
    const settings = { ...SETTINGS, maxRetries: 7 };
    const spec = failedAfter(0, { failureCallback: { url: ENDPOINT, settings } });
    started(resume(spec, { overrides: [['svc-retries', '1']] }));
    const [event] = spec.all('RunStarted').slice(-1);
    expect(event?.envelope.settings.failureCallback?.settings.maxRetries).to.equal(7);
  });

  it('gives a run without a failure function one that its endpoint understands', () => {
    const spec = failedAfter(0, {
      header: [
        ['Content-Type', 'text/plain'],
        ['X-User', 'u'],
      ],
    });
    started(resume(spec, { overrides: [['svc-failure-callback', 'https://app.example/failed']] }));
    spec.answer(AGAIN, 500);
    expect(spec.attempt('again failure').envelope.url).to.equal('https://app.example/failed');
    expect(spec.headersOf('again failure')).to.deep.equal({
      'Content-Type': 'application/json',
      'X-User': 'u',
      'Svc-Workflow-Is-Failure': 'true',
      'Svc-Workflow-Failure-Callback': 'true',
    });
  });

  it('applies a delay only before the first deliveries', () => {
    const spec = failedAfter(1);
    started(resume(spec, { overrides: [['svc-delay', '10s']] }));
    expect(spec.queue.work()).to.equal(0);
    spec.pass(10_000);
    spec.deliver(AGAIN);
    spec.submit(entryItem('again', 2));
    expect(spec.queue.work()).to.equal(1);
  });

  it('refuses settings that the account may not have', () => {
    const spec = failedAfter(1);
    expect(resume(spec, { overrides: [['svc-retries', '11']] })).to.include({ reason: 'INVALID' });
    expect(resume(spec, { overrides: [['svc-flow-control-key', 'k']] })).to.include({ reason: 'INVALID' });
    expect(spec.news()).to.deep.equal([]);
  });
});
