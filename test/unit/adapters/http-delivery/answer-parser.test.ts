/** Answers as read from a connection. Proves ANS1–ANS4. */
import http from 'node:http';
import { Duplex } from 'node:stream';
import { expect } from 'chai';
import fc from 'fast-check';
import { AnswerParser } from '../../../../src/adapters/http-delivery/answer-parser.js';
import { CallFailure } from '../../../../src/adapters/http-delivery/failure-words.js';

const MAX_HEADER_BYTES = 200;
const BEGUN = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${BEGUN}Transfer-Encoding: chunked\r\n\r\n`;
const OK = `${BEGUN}Content-Length: 2\r\n\r\nok`;

interface Read {
  readonly status: number | undefined;
  /** Names in lower case, and values without white space at their end, which the parser keeps. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/** An answer of the bytes and the end of its connection, and its length; undefined when it is refused. */
function readByParser(bytes: Buffer): { readonly read: Read; readonly length: number } | undefined {
  const parser = new AnswerParser(10 * MAX_HEADER_BYTES);
  let read: Read = { status: undefined, headers: [], body: '' };
  let isComplete = false;
  parser.expect(
    {
      onHeaders: (status, headers) => {
        const shown = headers.map(([name, value]) => [name.toLowerCase(), value.replace(/[ \t]+$/, '')] as const);
        read = { ...read, status, headers: shown };
      },
      onData: (chunk) => {
        read = { ...read, body: read.body + Buffer.from(chunk).toString('latin1') };
      },
      onComplete: () => {
        isComplete = true;
      },
    },
    false,
  );
  try {
    const length = parser.read(bytes, 0, bytes.length);
    if (!isComplete) parser.end();
    return { read, length };
  } catch (failure) {
    if (failure instanceof CallFailure) return undefined;
    throw failure;
  }
}

/** The same as Node's strict parser reads it; a text when it refuses it. */
async function readByNode(bytes: Buffer): Promise<Read | string> {
  const none = () => socket;
  const stream = new Duplex({ read: () => {}, write: (_piece, _encoding, done) => done() });
  const socket: Duplex = Object.assign(stream, { setTimeout: none, setNoDelay: none, setKeepAlive: none, ref: none });
  return await new Promise((resolve) => {
    const request = http.request({ createConnection: () => socket, insecureHTTPParser: false });
    const refuse = (reason: string) => () => resolve(reason);
    request.on('error', refuse('refused')).on('upgrade', refuse('another protocol')).on('close', refuse('closed'));
    request.on('response', (response) => {
      let body = '';
      response.setEncoding('latin1').on('error', refuse('refused in its body'));
      response.on('data', (text) => {
        body += text;
      });
      response.on('end', () => {
        const { statusCode: status, rawHeaders: raw } = response;
        const names = raw.filter((_, at) => at % 2 === 0);
        resolve({ status, headers: names.map((name, at) => [name.toLowerCase(), raw[2 * at + 1] as string]), body });
      });
    });
    request.end();
    setImmediate(() => {
      socket.push(bytes);
      socket.push(null);
    });
  });
}

const CHUNKS = '2\r\nok\r\n0\r\n\r\n';
const answers = fc
  .record({
    start: fc.constantFrom('', '', '', '\r\n', '\n', 'HTTP/1.1 103 Early\r\nX: y\r\n\r\n', 'HTTP/1.1 102 P\r\n\r\n'),
    status: fc.constantFrom(
      ...['HTTP/1.1 200 OK', 'HTTP/1.1 200 OK', 'HTTP/1.1 200 OK', 'HTTP/1.1 200', 'HTTP/1.1 200 ', 'HTTP/1.0 200 OK'],
      ...['HTTP/1.1 204 No', 'HTTP/1.1 304 No', 'HTTP/1.1 404 \xff\t!', 'HTTP/1.1  200 OK', 'HTTP/1.1 2000 OK'],
      ...['HTTP/1.1 20 OK', 'http/1.1 200 OK', 'HTTP/2.0 200 OK', 'HTTP/1.1 999 x', 'HTTP/1.1 099 x', 'HTTP/1.1 200OK'],
    ),
    headers: fc.array(
      fc.oneof(
        fc.constantFrom(
          ...[
            'Content-Length: 2',
            'Content-Length: 2',
            'content-length:02 ',
            'Content-Length: 2, 2',
            'Content-Length:',
          ],
          ...['Content-Length: +2', 'Content-Length: 0', 'Transfer-Encoding: chunked', 'Transfer-Encoding:Chunked '],
          ...['Transfer-Encoding: gzip, chunked', 'Transfer-Encoding: chunked, gzip', 'Transfer-Encoding: xchunked'],
          ...['Connection: close', 'Connection: Upgrade', 'Upgrade: x', 'Trailer: X', 'X-Empty:', 'X-Wide:   a b  '],
          ...['\tX: folded', ' folded', 'no colon', ': no name', 'X : y', '__proto__: a'],
        ),
        fc
          .tuple(fc.string({ unit: 'binary-ascii', maxLength: 4 }), fc.uint8Array({ maxLength: 6 }))
          .map(([name, value]) => `X${name}: ${Buffer.from(value).toString('latin1')}`),
      ),
      { maxLength: 3 },
    ),
    end: fc.constantFrom('\r\n', '\r\n', '\r\n', '\r\n', '\n', '\r'),
    body: fc.oneof(
      fc.constantFrom(
        ...[
          '',
          'ok',
          'ok',
          'okmore',
          CHUNKS,
          CHUNKS,
          `1\r\no\r\n01\r\nk\r\n0\r\n\r\n`,
          `${CHUNKS}${OK}`,
          `2 ${CHUNKS}`,
        ],
        ...[
          '2;a=b\r\nok\r\n0\r\nX: y\r\n\r\n',
          '2;\r\nok\r\n0\r\n\r\n',
          '2\nok\n0\n\n',
          '2\r\nok0\r\n\r\n',
          `-${CHUNKS}`,
        ],
      ),
      fc.string({ unit: 'binary-ascii', maxLength: 8 }),
    ),
  })
  .map(({ start, status, headers, end, body }) => `${start}${[status, ...headers].join('\r\n')}${end}\r\n${body}`);

describe('an answer on a connection', () => {
  it('is read as by Node’s strict parser, for any bytes', async () => {
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(answers, async (text) => {
        const bytes = Buffer.from(text, 'latin1');
        const found = readByParser(bytes);
        if (found === undefined) return;
        accepted += 1;
        expect(found.read).to.deep.equal(await readByNode(bytes.subarray(0, found.length)));
      }),
      { numRuns: 2_000 },
    );
    expect(accepted).to.be.above(50);
  });

  /** The parsed parts, and then the number of bytes of the answer, or the reason for its refusal. */
  function toldOf(pieces: readonly string[], { isBodyless = false, hasEnd = false } = {}): readonly string[] {
    const parser = new AnswerParser(MAX_HEADER_BYTES);
    const told: string[] = [];
    let body = '';
    parser.expect(
      {
        onHeaders: (status, headers) => told.push(`${status} ${JSON.stringify(headers)}`),
        onData: (chunk) => {
          body += Buffer.from(chunk).toString('latin1');
        },
        onComplete: () => told.push(`body ${body}`, parser.mayGoOn ? 'goes on' : 'ends'),
      },
      isBodyless,
    );
    try {
      let belongs = 0;
      for (const piece of pieces) belongs += parser.read(Buffer.from(piece, 'latin1'), 0, piece.length);
      if (hasEnd) parser.end();
      return [...told, parser.isIdle ? `${belongs} bytes` : 'more is awaited'];
    } catch (failure) {
      if (!(failure instanceof CallFailure)) throw failure;
      return [failure.message];
    }
  }

  const whole: [string, string, string[]][] = [
    ['has a length', OK, ['200 [["Content-Length","2"]]', 'body ok', 'goes on', '40 bytes']],
    ['is empty', `${BEGUN}Content-Length: 0\r\n\r\n`, ['200 [["Content-Length","0"]]', 'body ', 'goes on', '38 bytes']],
    ['has a status that never has a body', 'HTTP/1.1 204 No\r\n\r\n', ['204 []', 'body ', 'goes on', '19 bytes']],
    [
      'has chunks, extensions and trailers',
      `${CHUNKED}1;a="b"\r\no\r\n01\r\nk\r\n0\r\nX: y\r\n\r\n`,
      ['200 [["Transfer-Encoding","chunked"]]', 'body ok', 'goes on', '77 bytes'],
    ],
    ['follows empty lines', `\r\n\n${OK}`, ['200 [["Content-Length","2"]]', 'body ok', 'goes on', '43 bytes']],
    [
      'follows an interim answer',
      `HTTP/1.1 103 Early\r\nX: y\r\n\r\n${OK}`,
      ['103 [["X","y"]]', '200 [["Content-Length","2"]]', 'body ok', 'goes on', '68 bytes'],
    ],
    [
      'has Connection: close',
      `${BEGUN}Connection: x, Close\r\nContent-Length: 0\r\n\r\n`,
      ['200 [["Connection","x, Close"],["Content-Length","0"]]', 'body ', 'ends', '60 bytes'],
    ],
    [
      'is of HTTP/1.0',
      'HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n',
      ['200 [["Content-Length","0"]]', 'body ', 'ends', '38 bytes'],
    ],
    [
      'has header values with any byte except control characters',
      `${BEGUN}x-a:\t \xff b \r\nB:\r\nContent-Length: 0\r\n\r\n`,
      ['200 [["X-A","\xff b "],["B",""],["Content-Length","0"]]', 'body ', 'goes on', '54 bytes'],
    ],
    ['is followed by other bytes', `${OK}more`, ['200 [["Content-Length","2"]]', 'body ok', 'goes on', '40 bytes']],
  ];
  for (const [trait, text, told] of whole) {
    it(`that ${trait} is parsed alike in any two pieces`, () => {
      for (let at = 0; at <= text.length; at += 1) {
        expect(toldOf([text.slice(0, at), text.slice(at)]), `${at}`).to.deep.equal(told);
      }
      expect(toldOf([...text])).to.deep.equal(told);
    });
  }

  it('without a length ends with its connection', () => {
    const text = `${BEGUN}\r\nall of it`;
    expect(toldOf([text])).to.deep.equal(['200 []', 'more is awaited']);
    expect(toldOf([text], { hasEnd: true })).to.deep.equal(['200 []', 'body all of it', 'ends', '28 bytes']);
  });

  it('to HEAD has no body, for any headers', () => {
    const text = `${BEGUN}Content-Length: 9\r\n\r\n`;
    expect(toldOf([text], { isBodyless: true })).to.deep.equal([
      '200 [["Content-Length","9"]]',
      'body ',
      'goes on',
      '38 bytes',
    ]);
  });

  const INVALID = 'response is not valid HTTP/1.1';
  const OTHER_LENGTH = 'response body does not match its declared length';
  const LOST = 'connection closed before the response was complete';
  const TOO_LARGE = 'response headers too large';
  const refused: [string, string, string][] = [
    ['no status line', 'hello there\r\n', INVALID],
    ['another protocol', 'RTSP/1.0 200 OK\r\n', INVALID],
    ['a status of two digits', 'HTTP/1.1 20 OK\r\n', INVALID],
    ['a line that ends without a carriage return', `${BEGUN}X: y\n\r\n`, INVALID],
    ['a carriage return within a line', `${BEGUN}X: a\rb\r\n\r\n`, INVALID],
    ['a folded header', `${BEGUN}X: a\r\n b\r\n\r\n`, INVALID],
    ['a header without a colon', `${BEGUN}X\r\n\r\n`, INVALID],
    ['a header without a name', `${BEGUN}: y\r\n\r\n`, INVALID],
    ['space after a name', `${BEGUN}X : y\r\n\r\n`, INVALID],
    ['a control character in a value', `${BEGUN}X: \x01\r\n\r\n`, INVALID],
    ['a length that is no number', `${BEGUN}Content-Length: x\r\n\r\n`, INVALID],
    ['a length below zero', `${BEGUN}Content-Length: -1\r\n\r\n`, INVALID],
    ['two lengths', `${BEGUN}Content-Length: 2\r\nContent-Length: 2\r\n\r\nok`, OTHER_LENGTH],
    ['a length after chunked encoding', `${BEGUN}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n`, INVALID],
    [
      'chunked encoding after a length',
      `${BEGUN}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n`,
      OTHER_LENGTH,
    ],
    ['an empty encoding before a length', `${BEGUN}Transfer-Encoding:\r\nContent-Length: 5\r\n\r\nhello`, INVALID],
    ['a length where there is no body', 'HTTP/1.1 204 No\r\nContent-Length: 2\r\n\r\nok', OTHER_LENGTH],
    ['a chunk without a size', `${CHUNKED}\r\nok\r\n`, INVALID],
    ['a size that is no number', `${CHUNKED}0x2\r\nok\r\n`, INVALID],
    ['a size beyond the largest number', `${CHUNKED}${'f'.repeat(20)}\r\n`, INVALID],
    ['a chunk that is longer than its size', `${CHUNKED}1\r\nok\r\n`, INVALID],
    ['a length in its trailers', `${CHUNKED}0\r\nContent-Length: 2\r\n\r\n`, INVALID],
    ['100 Continue without a request for it', 'HTTP/1.1 100 Continue\r\n\r\n', LOST],
    ['a switch to another protocol', 'HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n', LOST],
    ['as many bytes of headers as the bound', `${BEGUN}X: ${'y'.repeat(MAX_HEADER_BYTES - 1)}\r\n`, TOO_LARGE],
    ['as many bytes of trailers', `${CHUNKED}0\r\nX: ${'y'.repeat(MAX_HEADER_BYTES - 1)}\r\n`, TOO_LARGE],
  ];
  for (const [trait, text, words] of refused) {
    it(`is refused for ${trait}, whole and byte by byte: "${words}"`, () => {
      expect(toldOf([text]).at(-1)).to.equal(words);
      expect(toldOf([...text]).at(-1)).to.equal(words);
    });
  }

  it('may have one byte of headers less than the bound; space before a value does not count', () => {
    const text = `${BEGUN}X:${' '.repeat(MAX_HEADER_BYTES)}${'y'.repeat(MAX_HEADER_BYTES - 2)}\r\n`;
    expect(toldOf([text])).to.deep.equal(['more is awaited']);
    expect(toldOf([...text])).to.deep.equal(['more is awaited']);
  });

  const broken: [string, string, string][] = [
    ['before it', '', LOST],
    ['within its headers', `${BEGUN}X: y`, LOST],
    ['within its body', `${BEGUN}Content-Length: 9\r\n\r\nhalf`, LOST],
    ['within a chunk', `${CHUNKED}9\r\nhalf`, LOST],
    [
      'within a body that was to be the last',
      `${BEGUN}Connection: close\r\nContent-Length: 9\r\n\r\nhalf`,
      OTHER_LENGTH,
    ],
  ];
  for (const [where, text, words] of broken) {
    it(`is refused when its connection ends ${where}`, () => {
      expect(toldOf([text], { hasEnd: true })).to.deep.equal([words]);
    });
  }

  // The situations in the published cases of Node's parser, llhttp: test/response of its repository.
  const readSituations = [
    ['the status of an error', 'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n'],
    ['a status line without a reason', 'HTTP/1.1 301\r\nContent-Length: 0\r\n\r\n'],
    ['two spaces before its reason', 'HTTP/1.1 200  OK\r\nContent-Length: 0\r\n\r\n'],
    ['bytes above ASCII in its reason', 'HTTP/1.1 500 Oriëntatieprobleem\r\nContent-Length: 0\r\n\r\n'],
    ['an underscore in a name', `${BEGUN}Content_Type: text/html\r\nContent-Length: 2\r\n\r\nok`],
    ['spaces around a value', `${BEGUN}Server:  httpd  \r\nContent-Length: 2\r\n\r\nok`],
    ['a body until the end of the connection', `${BEGUN}Content-Type: text/plain\r\n\r\nhello world`],
    ['another encoding after chunks', `${BEGUN}Transfer-Encoding: chunked, deflate\r\n\r\nWorld`],
    [
      'a second encoding that is no chunks',
      `${BEGUN}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\nWorld`,
    ],
    ['the word chunked twice without a comma', `${BEGUN}Transfer-Encoding: chunkedchunked\r\n\r\n2\r\nOK\r\n0\r\n\r\n`],
    ['chunk extensions with values', `${CHUNKED}2;first;second=some;third=value\r\nok\r\n0\r\n\r\n`],
    ['chunk extensions with quotation marks', `${CHUNKED}2;first="a; b";second\r\nok\r\n0\r\n\r\n`],
    ['sizes in small and capital letters', `${CHUNKED}a\r\n0123456789\r\nA\r\n0123456789\r\n000\r\n\r\n`],
    ['a length of zeros', `${BEGUN}Content-Length: 00\r\n\r\n`],
    ['no body after 304, with a length', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 0\r\n\r\n'],
  ] as const;
  for (const [situation, text] of readSituations) {
    it(`is read as by Node’s parser with ${situation}`, async () => {
      const bytes = Buffer.from(text, 'latin1');
      const found = readByParser(bytes);
      expect(found?.length).to.equal(bytes.length);
      expect(found?.read).to.deep.equal(await readByNode(bytes));
    });
  }

  const refusedSituations = [
    ['an incomplete protocol', 'HTP/1.1 200 OK\r\n\r\n'],
    ['a second digit in the first part of its version', 'HTTP/01.1 200 OK\r\n\r\n'],
    ['a second digit in the second part of its version', 'HTTP/1.01 200 OK\r\n\r\n'],
    ['an unknown version', 'HTTP/5.6 200 OK\r\n\r\n'],
    ['a tab after its version', 'HTTP/1.1\t200 OK\r\n\r\n'],
    ['two spaces before its status', 'HTTP/1.1  200 OK\r\n\r\n'],
    ['a status of one digit', 'HTTP/1.1 2 OK\r\n\r\n'],
    ['a space before its first header', 'HTTP/1.1 200 OK\r\n Host: foo\r\n\r\n'],
    ['headers separated by a carriage return', `${BEGUN}Foo: 1\rBar: 2\r\n\r\n`],
    ['line feeds only', 'HTTP/1.1 200 OK\nContent-Length: 0\n\n'],
    ['a length beyond the largest number', `${BEGUN}Content-Length: 1000000000000000000000\r\n\r\n`],
    ['a folded line after chunks', `${BEGUN}Transfer-Encoding: chunked\r\n  abc\r\n\r\n`],
    ['a space after a chunk size', `${CHUNKED}2  \r\nok\r\n0\r\n\r\n`],
    ['words after a chunk size', `${CHUNKED}2 erfrferferf\r\nok\r\n0 rrrr\r\n\r\n`],
    ['no extension after a semicolon', `${CHUNKED}2;\r\nok\r\n0\r\n\r\n`],
  ] as const;
  for (const [situation, text] of refusedSituations) {
    it(`is refused with ${situation}, as by Node’s parser`, async () => {
      const bytes = Buffer.from(text, 'latin1');
      expect(readByParser(bytes)).to.equal(undefined);
      expect(await readByNode(bytes)).to.be.a('string');
    });
  }
});
