/**
 * HTTP requests as bytes, composed at random from words that have a meaning for an endpoint, then sometimes damaged or
 * framed wrongly; and the responses of an endpoint to them.
 */
import net from 'node:net';
import type { FuzzRandom } from './fuzz-run.js';

/** The parts of the requests to an endpoint. */
export interface Grammar {
  readonly methods: readonly string[];
  /** With its query. */
  readonly target: (random: FuzzRandom) => string;
  /** Besides Host, framing and credentials. */
  readonly headers: (random: FuzzRandom) => readonly (readonly [name: string, value: string])[];
  readonly body: (random: FuzzRandom) => string;
  /** Good ones: nothing else is worth looking at behind them. */
  readonly authorization: string;
}

export interface OddRequest {
  readonly bytes: string;
  /** It can be read in one way only: it is answered, and its connection ends. */
  readonly isWhole: boolean;
}

export interface HeardResponse {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** In latin1: a character a byte. */
export function oddRequest(random: FuzzRandom, grammar: Grammar): OddRequest {
  const method = random.pick(grammar.methods);
  const body = method === 'GET' && random.chance(0.9) ? '' : grammar.body(random);
  const framing = random.chance(0.92) ? rightFraming(random, body) : wrongFraming(random, body);
  const lines = [
    `${method} ${grammar.target(random)} HTTP/1.1`,
    'Host: one',
    'Connection: close',
    `Authorization: ${random.chance(0.97) ? grammar.authorization : random.pick(['', 'Bearer', 'Basic Og==', 'x'])}`,
    ...grammar.headers(random).map(([name, value]) => `${name}: ${value}`),
    ...framing.headers,
  ];
  const bytes = `${lines.join('\r\n')}\r\n\r\n${framing.body}`;
  const isDamaged = random.chance(0.15);
  return { bytes: isDamaged ? random.damaged(bytes) : bytes, isWhole: framing.isRight && !isDamaged };
}

interface Framing {
  readonly headers: readonly string[];
  readonly body: string;
  readonly isRight: boolean;
}

function rightFraming(random: FuzzRandom, body: string): Framing {
  if (random.chance(0.8)) return { headers: [`Content-Length: ${body.length}`], body, isRight: true };
  const chunks = random
    .pieces(body)
    .filter((piece) => piece !== '')
    .map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`);
  return { headers: ['Transfer-Encoding: chunked'], body: `${chunks.join('')}0\r\n\r\n`, isRight: true };
}

function wrongFraming(random: FuzzRandom, body: string): Framing {
  const headers = random.pick([
    [`Content-Length: ${body.length + 1 + random.below(1000)}`],
    [`Content-Length: ${10 ** random.below(20)}`],
    ['Content-Length: -1'],
    ['Content-Length: 3', 'Content-Length: 4'],
    ['Transfer-Encoding: chunked', 'Content-Length: 3'],
    ['Transfer-Encoding: gzip, chunked'],
    ['Expect: 100-continue', `Content-Length: ${body.length}`],
    ['Expect: much', `Content-Length: ${body.length}`],
    ['Upgrade: websocket', 'Content-Length: 0'],
    [],
  ]);
  return { headers, body, isRight: false };
}

/** JSON of fields and values that mean something, seldom of a shape that is none. */
export function oddJson(random: FuzzRandom, fields: readonly string[], values: readonly unknown[], depth = 2): string {
  const value = (left: number): unknown => {
    const dice = random.below(10);
    if (dice < 6 || left === 0) return random.pick(values);
    if (dice < 8) return random.list(3, () => value(left - 1));
    return object(left - 1);
  };
  const object = (left: number): unknown =>
    Object.fromEntries(random.list(5, () => [random.pick(fields), value(left)] as const));
  const text = JSON.stringify(random.chance(0.8) ? object(depth) : random.list(3, () => object(depth - 1)));
  return random.chance(0.9) ? text : random.damaged(text);
}

/**
 * All that comes back until the connection is closed.
 * @param isProcessed resolves when the endpoint has read the bytes; an incomplete request is then left half-sent
 */
export function said(port: number, { bytes, isWhole }: OddRequest, isProcessed: () => Promise<void>): Promise<string> {
  return new Promise((resolve, reject) => {
    let heard = '';
    const socket = net.connect(port, '127.0.0.1', () =>
      socket.write(bytes, 'latin1', () => {
        if (!isWhole) isProcessed().then(() => socket.end(), reject);
      }),
    );
    socket.setEncoding('latin1').on('data', (piece: string) => {
      heard += piece;
      // Who is refused with a long body on its way is left to close.
      if (isLast(heard, isHead(bytes))) socket.end();
    });
    // An endpoint that has answered may end a connection with bytes on their way.
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(heard));
  });
}

/** Has all of the answer come behind which the connection ends? */
function isLast(heard: string, isHeadOnly: boolean): boolean {
  const [, length] = isHeadOnly ? ['', '0'] : (/\r\nContent-Length: (\d+)\r\n/i.exec(heard) ?? []);
  const end = heard.indexOf('\r\n\r\n');
  return (
    length !== undefined &&
    end > 0 &&
    /\r\nConnection: close\r\n/i.test(heard) &&
    heard.length >= end + 4 + Number(length)
  );
}

/** Then its answer is a head alone. */
function isHead(bytes: string): boolean {
  return bytes.startsWith('HEAD ');
}

/** @param request what they answer. @throws for bytes that are no responses */
export function responsesIn(text: string, request: OddRequest): HeardResponse[] {
  const responses: HeardResponse[] = [];
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\r\n\r\n', at);
    const status = /^HTTP\/1\.1 (\d{3}) /.exec(text.slice(at, at + 20))?.[1];
    if (end < 0 || status === undefined) throw new Error(`no response: ${JSON.stringify(text.slice(at, at + 300))}`);
    const head = text.slice(at, end);
    at = end + 4;
    if (status === '100') continue;
    // Of bytes that were not understood as HEAD there is a body.
    const isHeadOnly = isHead(request.bytes) && (at >= text.length || text.startsWith('HTTP/1.1 ', at));
    const length = isHeadOnly ? 0 : Number(/^Content-Length: (\d+)$/im.exec(head)?.[1] ?? text.length - at);
    const body = Buffer.from(text.slice(at, at + length), 'latin1').toString('utf8');
    responses.push({ status: Number(status), head, body });
    at += length;
  }
  return responses;
}
