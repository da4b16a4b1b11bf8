/** The settings of callbacks: they are publishes, configured by nested names. Proves SOP3, SR1–SR3. */
import { expect } from 'chai';
import { parse, refusal } from '../../support/queue-settings.js';

const URL_A = 'https://a.example/done';
const URL_B = 'https://b.example/failed';

describe('Svc-Callback-* and Svc-Failure-Callback-*', () => {
  it('default to a JSON message with the retries of the message', () => {
    const { callback, failureCallback } = parse({
      'svc-retries': '7',
      'svc-method': 'GET',
      'svc-label': 'a',
      'svc-callback': URL_A,
      'svc-failure-callback': URL_B,
    }).settings;
    const plain = { ...parse({}).settings, maxRetries: 7, header: [['Content-Type', 'application/json']] };
    expect(callback).to.deep.equal({ url: URL_A, settings: plain });
    expect(failureCallback).to.deep.equal({ url: URL_B, settings: plain });
  });

  it('accept every option of a publish, in headers and in the query', () => {
    const { callback, failureCallback } = parse(
      {
        'svc-callback': URL_A,
        'svc-callback-method': 'PUT',
        'svc-callback-retries': '1',
        'svc-callback-delay': '1m',
        'svc-callback-timeout': '10',
        'svc-callback-retry-delay': '1000',
        'svc-callback-label': 'done',
        'svc-callback-flow-control-key': 'k',
        'svc-callback-flow-control-value': 'parallelism=1',
        'svc-callback-forward-authorization': 'Bearer x',
      },
      { 'svc-failure-callback': URL_B, 'svc-failure-callback-retries': '0', 'svc-failure-callback-forward-x-y': 'z' },
    ).settings;
    expect(callback?.settings).to.deep.include({
      method: 'PUT',
      maxRetries: 1,
      delaySeconds: 60,
      timeoutSeconds: 10,
      retryDelay: '1000',
      labels: ['done'],
      flowControl: { key: 'k', parallelism: 1, rate: undefined, periodSeconds: 1 },
      header: [
        ['Content-Type', 'application/json'],
        ['Authorization', 'Bearer x'],
      ],
    });
    expect(failureCallback?.settings).to.deep.include({
      maxRetries: 0,
      header: [
        ['Content-Type', 'application/json'],
        ['X-Y', 'z'],
      ],
    });
  });

  it('accept callbacks of callbacks', () => {
    const { callback } = parse({
      'svc-callback': URL_A,
      'svc-callback-retries': '2',
      'svc-callback-failure-callback': URL_B,
      'svc-callback-failure-callback-forward-x': '1',
      'svc-callback-failure-callback-method': 'PATCH',
    }).settings;
    const inner = callback?.settings.failureCallback;
    expect(inner?.url).to.equal(URL_B);
    expect(inner?.settings).to.deep.include({ method: 'PATCH', maxRetries: 2 });
    expect(inner?.settings.header).to.deep.include(['X', '1']);
  });

  it('have no effect without a callback', () => {
    expect(parse({ 'svc-callback-retries': '1', 'svc-failure-callback-delay': '?' })).to.deep.equal(parse({}));
  });

  it("redact the callback's body if any part of the message is redacted", () => {
    const { callback, failureCallback } = parse({
      'svc-redact-fields': 'header[x-secret]',
      'svc-callback': URL_A,
      'svc-failure-callback': URL_B,
      'svc-failure-callback-redact-fields': 'header',
    }).settings;
    expect(callback?.settings.redact).to.deep.equal({ body: true, allHeaders: false, headers: [] });
    expect(failureCallback?.settings.redact).to.deep.equal({ body: true, allHeaders: true, headers: [] });
  });

  it('respect the limits of the account', () => {
    const call = { 'svc-callback': URL_A };
    expect(refusal({ ...call, 'svc-callback-retries': '21' })).to.equal('quota maxRetries exceeded, current limit: 20');
    expect(refusal({ ...call, 'svc-callback-delay': '8d' })).to.match(/^quota maxDelay exceeded/);
  });

  it('are refused by their full names', () => {
    expect(refusal({ 'svc-callback': 'nowhere' })).to.equal(
      'svc-callback: invalid callback url: endpoint has invalid scheme, add http:// or https://',
    );
    const call = { 'svc-failure-callback': URL_B };
    expect(refusal({ ...call, 'svc-failure-callback-method': 'X' })).to.match(/^svc-failure-callback-method must be/);
    expect(refusal({ ...call, 'svc-failure-callback-forward-host': 'X' })).to.match(
      /^svc-failure-callback-forward-host: header host cannot be set$/,
    );
  });

  it('nest three levels deep and not four', () => {
    const nested = (depth: number) =>
      Object.fromEntries(Array.from({ length: depth }, (_, at) => [`svc${'-callback'.repeat(at + 1)}`, URL_A]));
    expect(parse(nested(3)).settings.callback?.settings.callback?.settings.callback?.url).to.equal(URL_A);
    expect(refusal(nested(4))).to.match(/^svc-callback-callback-callback-callback is nested deeper than 3 callbacks$/);
    expect(refusal({ 'svc-callback-callback-callback-callback-retries': '1' })).to.match(/nested deeper than 3$/);
  });

  it('refuse endlessly nested names quickly', () => {
    expect(refusal({ [`svc-${'callback-'.repeat(10_000)}url`]: 'x' })).to.match(/nested deeper than 3$/);
  });
});
