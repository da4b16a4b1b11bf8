/** The configuration headers and query keys of a publish. Proves SOP1, SOP2. */
import { expect } from 'chai';
import { overrideSettings, withDefaults } from '../../../src/domain/queue/index.js';
import { accepted, NOW_MS, parse, raw, refusal, settingsContext } from '../../support/queue-settings.js';

const NOW_SECONDS = NOW_MS / 1000;

describe('the settings of a publish', () => {
  it('have defaults for a call without configuration', () => {
    expect(parse({})).to.deep.equal({
      settings: {
        method: 'POST',
        header: [],
        maxRetries: 3,
        retryDelay: undefined,
        timeoutSeconds: undefined,
        delaySeconds: 0,
        callback: undefined,
        failureCallback: undefined,
        flowControl: undefined,
        labels: [],
        redact: undefined,
      },
      notBeforeMs: undefined,
      deduplication: undefined,
      cron: undefined,
      scheduleId: undefined,
      queueName: undefined,
    });
  });

  it('accept every option from a header', () => {
    const { settings, deduplication } = parse({
      'content-type': 'text/plain',
      'svc-method': 'put',
      'svc-retries': '7',
      'svc-retry-delay': 'pow(2, retried) * 1000',
      'svc-timeout': '1m30s',
      'svc-delay': '1d10h30m',
      'svc-flow-control-key': ' orders ',
      'svc-flow-control-value': 'Parallelism=10, rate=5, period=1m',
      'svc-label': 'a, b,a',
      'svc-redact-fields': 'body, header[x-secret]',
      'svc-deduplication-id': 'order-1',
    });
    expect(settings).to.deep.include({
      method: 'PUT',
      header: [['Content-Type', 'text/plain']],
      maxRetries: 7,
      retryDelay: 'pow(2, retried) * 1000',
      timeoutSeconds: 90,
      delaySeconds: 124_200,
      flowControl: { key: 'orders', parallelism: 10, rate: 5, periodSeconds: 60 },
      labels: ['a', 'b'],
      redact: { body: true, allHeaders: false, headers: ['X-Secret'] },
    });
    expect(deduplication).to.deep.equal({ id: 'order-1' });
  });

  it('accept parts of answers to hide, of the message and of its callback', () => {
    const { settings } = parse({
      'svc-callback': 'https://cb.example/',
      'svc-redact-fields': 'response-body, Response-Header[x-secret]',
    });
    const shown = { body: false, allHeaders: false, headers: [] };
    expect(settings.redact).to.deep.equal({
      ...shown,
      response: { body: true, allHeaders: false, headers: ['X-Secret'] },
    });
    expect(settings.callback?.settings.redact).to.deep.equal({ ...shown, body: true });
  });

  it('accept every option from the query, with headers winning', () => {
    const { settings } = parse({ 'svc-retries': '1' }, { 'svc-retries': '2', 'svc-delay': '5s', 'svc-forward-a': 'b' });
    expect(settings).to.deep.include({ maxRetries: 1, delaySeconds: 5, header: [['A', 'b']] });
  });

  it('take a query key if the header of its name is blank', () => {
    expect(parse({ 'svc-retries': ' ' }, { 'svc-retries': '2' }).settings.maxRetries).to.equal(2);
  });

  it('ignore telemetry, workflow headers and unknown names', () => {
    const headers = { 'svc-telemetry-sdk': 'x', 'svc-workflow-runid': 'wfr_1', 'svc-nothing': 'x', accept: '*/*' };
    expect(parse(headers)).to.deep.equal(parse({}));
  });

  it("have at most the account's maxRetries by default", () => {
    const limits = { ...settingsContext().limits, maxRetries: 1 };
    expect(parse({}, {}, { limits }).settings.maxRetries).to.equal(1);
  });

  it('accept True as true', () => {
    expect(parse({ 'svc-content-based-deduplication': 'True' }).deduplication).to.equal('content');
    expect(parse({ 'svc-content-based-deduplication': 'False' }).deduplication).to.equal(undefined);
  });

  it('prefer Svc-Deduplication-Id to content-based deduplication', () => {
    const headers = { 'svc-content-based-deduplication': 'true', 'svc-deduplication-id': 'a' };
    expect(parse(headers).deduplication).to.deep.equal({ id: 'a' });
  });

  it('join lists from several headers', () => {
    const headers: [string, string][] = [
      ['svc-label', 'a'],
      ['svc-label', 'b'],
    ];
    expect(parse(headers).settings.labels).to.deep.equal(['a', 'b']);
  });

  describe('Svc-Delay and Svc-Not-Before', () => {
    it('a plain number is a number of seconds', () => {
      expect(parse({ 'svc-delay': '90' }).settings.delaySeconds).to.equal(90);
    });

    it('Svc-Not-Before wins over Svc-Delay, even an invalid one', () => {
      const { settings, notBeforeMs } = parse({ 'svc-delay': 'soon', 'svc-not-before': String(NOW_SECONDS + 60) });
      expect(notBeforeMs).to.equal(NOW_MS + 60_000);
      expect(settings.delaySeconds).to.equal(0);
    });

    it('are refused above the longest delay', () => {
      const text = 'quota maxDelay exceeded, current limit: 604800';
      expect(refusal({ 'svc-delay': '7d' })).to.equal('');
      expect(refusal({ 'svc-delay': '7d1s' })).to.equal(text);
      expect(refusal({ 'svc-not-before': String(NOW_SECONDS + 604_800) })).to.equal('');
      expect(refusal({ 'svc-not-before': String(NOW_SECONDS + 604_801) })).to.equal(text);
    });

    it('an instant in the past is accepted', () => {
      expect(parse({ 'svc-not-before': '5' }).notBeforeMs).to.equal(5000);
    });
  });

  describe('forwarded headers', () => {
    it('are sent with canonical names, as often as they came', () => {
      const headers: [string, string][] = [
        ['svc-forward-x-trace-id', '1'],
        ['svc-forward-x-trace-id', '2'],
        ['svc-forward-authorization', 'Bearer t'],
        ['svc-forward-svc-workflow-init', 'true'],
      ];
      expect(parse(headers).settings.header).to.deep.equal([
        ['X-Trace-Id', '1'],
        ['X-Trace-Id', '2'],
        ['Authorization', 'Bearer t'],
        ['Svc-Workflow-Init', 'true'],
      ]);
    });

    it('a plain Content-Type wins over a forwarded one', () => {
      const forwarded = { 'svc-forward-content-type': 'text/csv' };
      expect(parse(forwarded).settings.header).to.deep.equal([['Content-Type', 'text/csv']]);
      const both = { ...forwarded, 'content-type': 'text/plain' };
      expect(parse(both).settings.header).to.deep.equal([['Content-Type', 'text/plain']]);
    });

    it("keep names of Object.prototype's properties", () => {
      expect(parse([['svc-forward-__proto__', 'x']]).settings.header).to.deep.equal([['__proto__', 'x']]);
    });

    it('Svc-Header-Forward forwards all headers except those of the call, the connection and the queue', () => {
      const headers = {
        'x-github-event': 'push',
        cookie: 'a=b',
        authorization: 'Bearer theirs',
        host: 'queue.example',
        connection: 'keep-alive, x-hop',
        'x-hop': '1',
        'keep-alive': 'timeout=5',
        te: 'trailers',
        'transfer-encoding': 'chunked',
        'content-length': '3',
        'proxy-authorization': 'x',
        'accept-encoding': 'gzip',
        'user-agent': 'hook/1',
        'svc-signature': 'forged',
        'content-type': 'application/json',
      };
      const expected = [
        ['Content-Type', 'application/json'],
        ['X-Github-Event', 'push'],
        ['Cookie', 'a=b'],
        // The endpoint has removed the Authorization header with the queue's token.
        ['Authorization', 'Bearer theirs'],
      ];
      expect(parse({ ...headers, 'svc-header-forward': 'true' }).settings.header).to.deep.equal(expected);
      expect(parse(headers, { 'svc-header-forward': 'True' }).settings.header).to.deep.equal(expected);
    });

    it('Svc-Forward-* wins over a header of the call', () => {
      const headers = { 'x-a': 'theirs', 'svc-forward-x-a': 'ours', 'svc-header-forward': 'true' };
      expect(parse(headers).settings.header).to.deep.equal([['X-A', 'ours']]);
    });

    for (const name of [
      'host',
      'content-length',
      'transfer-encoding',
      'connection',
      'proxy-anything',
      'svc-signature',
    ]) {
      it(`refuse ${name}`, () => {
        expect(refusal({ [`svc-forward-${name}`]: 'x' })).to.equal(`svc-forward-${name}: header ${name} cannot be set`);
      });
    }

    it('refuse values that would end the header, and characters that are not bytes', () => {
      const text = 'svc-forward-a: value has characters that a header cannot carry';
      for (const value of ['x\r\nHost: b', 'a\nb', 'a\0b', 'a\u007fb', '日本']) {
        expect(refusal({ 'svc-forward-a': value })).to.equal(text);
      }
      expect(refusal({ 'svc-forward-a': 'caf\u00e9\t!' })).to.equal('');
      expect(refusal({ 'content-type': 'a\nb' })).to.match(/^content-type: value has/);
    });

    it('refuse invalid names', () => {
      for (const name of ['', 'a b', 'a:b', 'é', 'x'.repeat(257)]) {
        expect(refusal([[`svc-forward-${name}`, 'x']])).to.match(/: is not a header name$/);
      }
    });

    it('refuse one value, one header and one byte too many', () => {
      const many = (count: number): [string, string][] =>
        Array.from({ length: count }, (_, at) => [`svc-forward-h-${at}`, 'x']);
      expect(refusal(many(128))).to.equal('');
      expect(refusal(many(129))).to.equal('more than 128 headers to forward');
      expect(refusal({ 'svc-forward-a': 'x'.repeat(8192) })).to.equal('');
      expect(refusal({ 'svc-forward-a': 'x'.repeat(8193) })).to.match(/longer than 8192 bytes$/);
      const four = { 'svc-forward-a': 8191, 'svc-forward-b': 8191, 'svc-forward-c': 8191, 'svc-forward-d': 8191 };
      const filled = (sizes: Record<string, number>) =>
        Object.fromEntries(Object.entries(sizes).map(([name, size]) => [name, 'x'.repeat(size)]));
      expect(refusal(filled(four))).to.equal('');
      expect(refusal(filled({ ...four, 'svc-forward-d': 8192 }))).to.equal(
        'headers to forward are longer than 32768 bytes',
      );
    });
  });

  describe('refused settings name their header:', () => {
    const refusals: [what: string, headers: Record<string, string>, text: RegExp][] = [
      [
        'a method that is none',
        { 'svc-method': 'TRACE' },
        /^svc-method must be one of GET, POST, PUT, PATCH, DELETE, HEAD$/,
      ],
      ['retries that are no number', { 'svc-retries': '-1' }, /^svc-retries must be a whole number, 0 or more$/],
      ['too many retries', { 'svc-retries': '21' }, /^quota maxRetries exceeded, current limit: 20$/],
      ['a delay that is none', { 'svc-delay': '5x' }, /^svc-delay must be a duration/],
      ['an instant that is none', { 'svc-not-before': '1.5' }, /^svc-not-before must be a Unix time/],
      ['a time limit of nothing', { 'svc-timeout': '0' }, /^svc-timeout must be a duration of at least 1s/],
      [
        'a broken expression',
        { 'svc-retry-delay': '1000 *' },
        /^svc-retry-delay is invalid: expected a number.* at character 7$/,
      ],
      [
        'a key without limits',
        { 'svc-flow-control-key': 'k' },
        /^svc-flow-control-key can only be given with a flow-control value$/,
      ],
      [
        'limits without a key',
        { 'svc-flow-control-value': 'rate=1' },
        /^svc-flow-control-value can only be given with a flow-control key$/,
      ],
      [
        'flow control without a limit',
        { 'svc-flow-control-key': 'k', 'svc-flow-control-value': 'period=1s' },
        /^svc-flow-control-value: parallelism or rate is required$/,
      ],
      [
        '33 labels',
        { 'svc-label': Array.from({ length: 33 }, (_, at) => at).join() },
        /^svc-label: more than 32 labels$/,
      ],
      ['a long label', { 'svc-label': 'x'.repeat(129) }, /^svc-label: a label is longer than 128 bytes$/],
      ['an unknown field to redact', { 'svc-redact-fields': 'url' }, /^svc-redact-fields names body, header or/],
      ['a colon in a deduplication id', { 'svc-deduplication-id': 'a:b' }, /^DeduplicationId cannot contain ':'$/],
      ['a long deduplication id', { 'svc-deduplication-id': 'x'.repeat(257) }, /^DeduplicationId cannot be longer/],
      ['a flag that is neither', { 'svc-header-forward': 'yes' }, /^svc-header-forward must be true or false$/],
    ];
    for (const [mistake, headers, text] of refusals) {
      it(mistake, () => expect(refusal(headers)).to.match(text));
    }

    it('a value longer than a header may be, also in several parts', () => {
      const text = 'svc-label is longer than 8192 bytes';
      expect(refusal({}, { 'svc-label': ','.repeat(8192) })).to.equal('');
      expect(refusal({}, { 'svc-label': ','.repeat(8193) })).to.equal(text);
      const parts: [string, string][] = [
        ['svc-label', ','.repeat(4096)],
        ['svc-label', ','.repeat(4097)],
      ];
      expect(refusal(parts)).to.equal(text);
    });

    it('one option with two values', () => {
      const twice = (second: string): [string, string][] => [
        ['svc-retries', '1'],
        ['svc-retries', second],
      ];
      expect(refusal(twice('2'))).to.equal('svc-retries is given twice');
      expect(refusal(twice('1'))).to.equal('');
    });
  });

  it('cron expression, schedule id and queue name are accepted for a schedule only', () => {
    const headers = {
      'svc-cron': ' CRON_TZ=Europe/Berlin 0 8 * * 1 ',
      'svc-schedule-id': 'weekly.1',
      'svc-queue-name': 'q_1',
      'svc-not-before': '5',
      'svc-deduplication-id': 'a',
    };
    expect(parse(headers, {}, { of: 'schedule' })).to.deep.include({
      cron: 'CRON_TZ=Europe/Berlin 0 8 * * 1',
      scheduleId: 'weekly.1',
      queueName: 'q_1',
      notBeforeMs: undefined,
      deduplication: undefined,
    });
    expect(parse(headers)).to.deep.include({ cron: undefined, scheduleId: undefined, queueName: undefined });
    const of = 'schedule';
    expect(refusal({ 'svc-cron': 'often' }, {}, { of })).to.match(/^Invalid cron expression/);
    expect(refusal({ 'svc-schedule-id': 'a/b' }, {}, { of })).to.match(
      /^svc-schedule-id: schedule id may have letters/,
    );
    expect(refusal({ 'svc-queue-name': 'x'.repeat(129) }, {}, { of })).to.match(
      /^svc-queue-name: queue name is longer/,
    );
  });
});

describe('the defaults of a group', () => {
  it('apply if the call does not name the option', () => {
    const defaults: [string, string][] = [
      ['svc-retries', '5'],
      ['svc-delay', '10s'],
      ['svc-header-forward', 'true'],
    ];
    const call = raw({ 'x-hook': '1', 'svc-retries': '1' }, { 'svc-delay': '2s' });
    const { headers, query } = withDefaults(defaults, call);
    expect(parse(headers, query).settings).to.deep.include({
      maxRetries: 1,
      delaySeconds: 2,
      header: [['X-Hook', '1']],
    });
  });

  it('apply if the call leaves an option blank', () => {
    const { headers, query } = withDefaults([['svc-retries', '5']], raw({ 'svc-retries': '' }));
    expect(parse(headers, query).settings.maxRetries).to.equal(5);
  });

  it("do not let a default Svc-Not-Before win over the call's Svc-Delay", () => {
    const { headers, query } = withDefaults([['svc-not-before', '5']], raw({ 'svc-delay': '2s' }));
    expect(parse(headers, query)).to.deep.include({ notBeforeMs: undefined });
  });

  it('do not change a call if the group has none', () => {
    const call = raw({ 'svc-retries': '1' });
    expect(withDefaults([], call)).to.equal(call);
  });
});

describe("overrides of a message's settings", () => {
  const settings = parse({
    'content-type': 'text/plain',
    'svc-retries': '5',
    'svc-forward-a': '1',
    'svc-forward-b': '1',
    'svc-callback': 'https://a.example/done',
    'svc-callback-retries': '2',
    'svc-label': 'x',
  }).settings;
  const override = (headers: Record<string, string>) =>
    overrideSettings(settings, raw(headers), settingsContext({ of: 'retry' }));

  it('change only the named settings', () => {
    expect(accepted(override({ 'svc-retries': '0', 'svc-forward-b': '2' })).settings).to.deep.equal({
      ...settings,
      maxRetries: 0,
      header: [
        ['Content-Type', 'text/plain'],
        ['A', '1'],
        ['B', '2'],
      ],
    });
  });

  it("change a callback's options without its URL, and its URL without its options", () => {
    const first = accepted(override({ 'svc-callback-retries': '4' })).settings.callback;
    expect([first?.url, first?.settings.maxRetries]).to.deep.equal(['https://a.example/done', 4]);
    const second = accepted(override({ 'svc-callback': 'https://b.example/' })).settings.callback;
    expect([second?.url, second?.settings.maxRetries]).to.deep.equal(['https://b.example/', 2]);
  });

  it("ignore the request's own Content-Type and Content-Encoding", () => {
    const headers = { 'content-type': 'application/json', accept: '*/*', 'svc-header-forward': 'true' };
    expect(accepted(override(headers)).settings).to.deep.equal(settings);
  });

  it('are refused like the settings of a publish', () => {
    expect(override({ 'svc-retries': '21' })).to.deep.equal({
      isOk: false,
      message: 'quota maxRetries exceeded, current limit: 20',
      isQuota: true,
    });
  });
});
