/** The grammars of single values: durations, flow control, labels, redaction, names, destinations, deduplication. */
import { expect } from 'chai';
import {
  canonicalHeaderName,
  deduplicationKeyOf,
  type HeaderList,
  nameProblem,
  parseDestinationUrl,
  parseDurationSeconds,
  parseFlowControl,
  parseLabels,
  parseRedaction,
  redactedBody,
  redactedHeader,
  redactedText,
} from '../../../../src/domain/queue/index.js';

const SHA256_OF_HELLO = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824';

describe('a duration', () => {
  const read: [text: string, seconds: number][] = [
    ['50s', 50],
    ['10h', 36_000],
    ['1h30m3s', 5403],
    ['1d10h30m', 124_200],
    ['3s1m', 63],
    ['0', 0],
    ['45', 45],
  ];
  for (const [text, seconds] of read) {
    it(`${text} is ${seconds} seconds`, () => expect(parseDurationSeconds(text)).to.equal(seconds));
  }

  it('is refused in any other form', () => {
    for (const text of ['', 's', '5x', '1.5s', '-5s', '1 m', '1m5', '1s1s', '5S', '9'.repeat(16), '99999999999999d']) {
      expect(parseDurationSeconds(text), text).to.equal(undefined);
    }
  });
});

describe('a flow-control value', () => {
  const limitsOf = (value: string) => {
    const outcome = parseFlowControl('k', value);
    return outcome.isOk
      ? [outcome.setting.parallelism, outcome.setting.rate, outcome.setting.periodSeconds]
      : outcome.message;
  };

  it('has a key that every call can name: without , \\ ? # % and not a dot segment', () => {
    const problemOf = (key: string) => {
      const outcome = parseFlowControl(key, 'parallelism=1');
      return outcome.isOk ? undefined : outcome.message;
    };
    for (const key of ['https://a.example/b', 'ü€', 'a b', 'user:1@x', '...'])
      expect(problemOf(key), key).to.equal(undefined);
    for (const key of ['a,b', 'a\\b', 'a?b', 'a#b', '50%', '.', '..'])
      expect(problemOf(key), key).to.match(/^key (has|is) /);
  });

  it('names parallelism, rate and period in any order and case', () => {
    expect(limitsOf('parallelism=5')).to.deep.equal([5, undefined, 1]);
    expect(limitsOf('RATE=10,period=1m30s')).to.deep.equal([undefined, 10, 90]);
    expect(limitsOf(' period = 60 , Rate = 1 , parallelism = 2 ,')).to.deep.equal([2, 1, 60]);
  });

  it('has a period of at most a week', () => {
    expect(limitsOf('rate=1,period=7d')).to.deep.equal([undefined, 1, 604_800]);
    expect(limitsOf('rate=1,period=604801')).to.equal('period is longer than a week');
  });

  const refused: [value: string, reason: string][] = [
    ['', 'parallelism or rate is required'],
    ['period=5', 'parallelism or rate is required'],
    ['rate=0', 'rate must be a positive whole number'],
    ['parallelism=-1', 'parallelism must be a positive whole number'],
    ['rate=1.5', 'rate must be a positive whole number'],
    ['rate=1,period=0', 'period must be a duration of at least 1s'],
    ['rate=1,rate=2', 'rate is given twice'],
    ['rate', 'unknown limit "rate"'],
    ['speed=1', 'unknown limit "speed"'],
    [`${'x'.repeat(50)}=1`, `unknown limit "${'x'.repeat(40)}…"`],
  ];
  for (const [value, reason] of refused) {
    it(`${value || 'an empty value'} is refused: ${reason}`, () => expect(limitsOf(value)).to.equal(reason));
  }

  it('requires a key of at most 256 bytes', () => {
    expect(parseFlowControl('é'.repeat(128), 'rate=1').isOk).to.equal(true);
    expect(parseFlowControl('é'.repeat(129), 'rate=1')).to.deep.equal({
      isOk: false,
      message: 'key is longer than 256 bytes',
    });
    expect(parseFlowControl(' ', 'rate=1')).to.deep.equal({ isOk: false, message: 'key is empty' });
  });
});

describe('labels', () => {
  it('are separated by commas, without repetitions', () => {
    expect(parseLabels(' b ,a,,b, a b ')).to.deep.equal({ isOk: true, labels: ['b', 'a', 'a b'] });
  });

  it('are at most 32 of 128 bytes', () => {
    const many = (count: number) => Array.from({ length: count }, (_, at) => `l${at}`).join(',');
    expect(parseLabels(many(32)).isOk).to.equal(true);
    expect(parseLabels(many(33)).isOk).to.equal(false);
    expect(parseLabels('x'.repeat(128)).isOk).to.equal(true);
    expect(parseLabels('x'.repeat(129)).isOk).to.equal(false);
  });
});

describe('redaction', () => {
  const header: HeaderList = [
    ['Authorization', 'hello'],
    ['X-A', 'b'],
  ];
  const redactionOf = (text: string) => {
    const outcome = parseRedaction(text);
    return outcome.isOk ? outcome.redaction : undefined;
  };

  it('names the body, all headers, or single ones in either spelling', () => {
    expect(redactionOf('body')).to.deep.equal({ body: true, allHeaders: false, headers: [] });
    expect(redactionOf('header')).to.deep.equal({ body: false, allHeaders: true, headers: [] });
    expect(redactionOf('headers')).to.deep.equal({ body: false, allHeaders: true, headers: [] });
    expect(redactionOf(' Body , header[x-a] ,headers[authorization]')).to.deep.equal({
      body: true,
      allHeaders: false,
      headers: ['X-A', 'Authorization'],
    });
    expect(redactionOf(' , ')).to.equal(undefined);
  });

  it('refuses other fields', () => {
    for (const text of ['url', 'header[', 'header[]', 'body,x', 'header[a']) {
      expect(parseRedaction(text).isOk, text).to.equal(false);
    }
  });

  it('shows the SHA-256 of the original', () => {
    expect(redactedText('hello')).to.equal(`REDACTED:${SHA256_OF_HELLO}`);
    const only = redactionOf('header[authorization],body');
    expect(redactedHeader(header, only)).to.deep.equal([
      ['Authorization', `REDACTED:${SHA256_OF_HELLO}`],
      ['X-A', 'b'],
    ]);
    expect(redactedBody(Buffer.from('hello'), only)).to.equal(`REDACTED:${SHA256_OF_HELLO}`);
  });

  it('hides every header where all are named', () => {
    for (const [, value] of redactedHeader(header, redactionOf('header')))
      expect(value).to.match(/^REDACTED:[0-9a-f]{64}$/);
  });

  it('leaves unnamed headers and an empty body unchanged', () => {
    expect(redactedHeader(header, redactionOf('body'))).to.equal(header);
    expect(redactedHeader(header, undefined)).to.equal(header);
    expect(redactedBody(Buffer.from('hello'), redactionOf('header'))).to.equal(undefined);
    expect(redactedBody(new Uint8Array(0), redactionOf('body'))).to.equal(undefined);
  });
});

describe('a name of a queue, group or schedule', () => {
  it('has letters, digits, hyphens, underscores and periods', () => {
    expect(nameProblem('queue name', 'a.B-3_c')).to.equal(undefined);
    for (const name of ['a b', 'a/b', 'é', 'a:b', 'a\n']) {
      expect(nameProblem('queue name', name)).to.match(/^queue name may have letters/);
    }
    expect(nameProblem('queue name', '')).to.equal('queue name is empty');
  });

  it('has at most 128 characters', () => {
    expect(nameProblem('group name', 'x'.repeat(128))).to.equal(undefined);
    expect(nameProblem('group name', 'x'.repeat(129))).to.equal('group name is longer than 128 characters');
  });
});

describe('the name of a header', () => {
  it('is shown in canonical case', () => {
    const names = ['content-type', 'BYPASS-TUNNEL-REMINDER', 'x--a', 'etag', '-'];
    const shown = ['Content-Type', 'Bypass-Tunnel-Reminder', 'X--A', 'Etag', '-'];
    expect(names.map(canonicalHeaderName)).to.deep.equal(shown);
  });
});

describe('a destination', () => {
  it('is kept as it was sent, without its fragment', () => {
    for (const url of ['https://a.example', 'HTTP://A.example:81//b/../c?x=%20&y=http://z\\', 'http://[::1]:1/?#']) {
      expect(parseDestinationUrl(url)).to.deep.equal({ isOk: true, url: url.replace('#', '') });
    }
  });

  it('is an absolute http or https URL', () => {
    const text = 'invalid destination url: endpoint has invalid scheme, add http:// or https://';
    for (const url of [
      '',
      'a.example/b',
      'ftp://a.example',
      'http:/a.example',
      'https:a.example',
      '//a',
      'javascript:0',
    ]) {
      expect(parseDestinationUrl(url)).to.deep.equal({ isOk: false, message: text });
    }
  });

  it('is refused when parsers could read it in two ways', () => {
    for (const url of [
      'http://',
      'http:///a',
      'http://a b/',
      'http://a\\@b/',
      'http://a/\n',
      'http://a:99999/',
      'http://[::',
    ]) {
      expect(parseDestinationUrl(url).isOk, url).to.equal(false);
    }
  });

  it('has at most 8192 bytes', () => {
    const url = 'http://a.example/';
    expect(parseDestinationUrl(url.padEnd(8192, 'x')).isOk).to.equal(true);
    expect(parseDestinationUrl(url.padEnd(8193, 'x'), 'callback')).to.deep.equal({
      isOk: false,
      message: 'invalid callback url: endpoint is longer than 8192 bytes',
    });
  });
});

describe('the deduplication key', () => {
  const content = {
    destination: 'https://a.example',
    endpointUrl: undefined,
    body: Buffer.from('b'),
    header: [
      ['Content-Type', 'text/plain'],
      ['X', '1'],
    ] as HeaderList,
  };
  const key = deduplicationKeyOf('content', content);

  it('of an explicit id does not depend on the content', () => {
    const other = { ...content, destination: 'https://b.example', body: Buffer.from('c') };
    expect(deduplicationKeyOf({ id: 'a' }, content)).to.equal(deduplicationKeyOf({ id: 'a' }, other));
    expect(deduplicationKeyOf({ id: 'a' }, content)).not.to.equal(deduplicationKeyOf({ id: 'b' }, content));
  });

  it('of the content depends on destination, body and headers', () => {
    const others = [
      { ...content, destination: 'https://b.example' },
      { ...content, body: Buffer.from('c') },
      { ...content, header: [] },
      {
        ...content,
        header: [
          ['Content-Type', 'text/plain'],
          ['X', '2'],
        ] as HeaderList,
      },
      { ...content, destination: 'https://a.exampl', body: Buffer.from('eb') },
    ];
    const keys = new Set([key, ...others.map((other) => deduplicationKeyOf('content', other))]);
    expect(keys.size).to.equal(others.length + 1);
  });

  it('of the content does not depend on the order of headers', () => {
    const turned = { ...content, header: [...content.header].reverse() };
    expect(deduplicationKeyOf('content', turned)).to.equal(key);
  });

  it('differs for each endpoint of a group', () => {
    const at = (endpointUrl: string) => deduplicationKeyOf({ id: 'a' }, { ...content, endpointUrl });
    expect(new Set([at('https://a.example'), at('https://b.example')]).size).to.equal(2);
  });
});
